"""A message as it is stored: redacted text by text, packed, compressed."""

from __future__ import annotations

import asyncio
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory.conversation import (
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    pack,
    unpack,
)
from memory.learning.struck import FORGOTTEN
from memory.stores.queries import write_several

Redact = Callable[[str], str]

LIGHT = 8192
"""Characters of new messages that are sealed at once: half a millisecond at most. More are sealed in a thread."""

# Level 1 is three times as fast as 6 and takes a fifth more room; large tool results wait for this.
_LEVEL = 1


@dataclass(frozen=True, slots=True)
class Sealed:
    """A message ready to be stored. ``redacted`` tells that it cannot be given back word for word."""

    digest: bytes
    role: str
    redacted: bool
    body: bytes


def seal(message: Message, redact: Redact) -> Sealed:
    """Redact, pack and compress. The digest is that of the message as it came."""
    parts = tuple(_redacted(part, redact) for part in message.parts)
    spoken = redact(message.spoken) if message.spoken else ""
    return Sealed(message.digest, message.role.value, parts != message.parts, body_of(parts, spoken))


def body_of(parts: tuple[Part, ...], spoken: str) -> bytes:
    """What is stored of a message whose parts hold no secret."""
    return zlib.compress(pack(parts) + b"\n" + spoken.encode("utf-8", "backslashreplace"), _LEVEL)


async def seal_all(messages: Sequence[Message], redact: Redact) -> list[Sealed]:
    """Several messages; in a thread where that takes a while."""
    if sum(map(_weight, messages)) <= LIGHT:
        return [seal(message, redact) for message in messages]
    return await asyncio.to_thread(lambda: [seal(message, redact) for message in messages])


def write_messages(connection: sqlite3.Connection, person: int, sealed: Sequence[Sealed]) -> None:
    """Store messages of a person; those that are there already stay as they are."""
    write_several(connection, "message_write", [(person, m.digest, m.role, m.redacted, m.body) for m in sealed])


def unseal(digest: bytes, role: str, body: bytes) -> Message:
    """The message that was sealed, without its secrets.

    Raises:
        ValueError: when the body is not of that form.
    """
    try:
        packed, _, spoken = zlib.decompress(body).partition(b"\n")
    except zlib.error as error:
        raise ValueError(f"not a sealed message: {error}") from error
    return Message(Role(role), unpack(packed), digest, spoken.decode("utf-8"))


def placeholder() -> bytes:
    """The body of a forgotten message."""
    return body_of((Text(FORGOTTEN),), "")


def _redacted(part: Part, redact: Redact) -> Part:
    match part:
        case Text(text):
            return Text(redact(text))
        case Image(source):
            # A picture's own bytes hold no text; its address may hold a token.
            return part if source.startswith("data:") or ";base64," in source[:100] else Image(redact(source))
        case Reasoning(text, signature):
            # The signature is ciphertext of the provider's: redacting it would only break it.
            return Reasoning(redact(text), signature)
        case ToolCall(id, name, arguments):
            return ToolCall(id, name, redact(arguments))
        case ToolResult(call_id, content, failed):
            inner = tuple(_redacted(each, redact) for each in content)
            return ToolResult(call_id, tuple(p for p in inner if isinstance(p, Text | Image | Opaque)), failed)
        case Opaque(kind, raw):
            return Opaque(kind, redact(raw))


def _weight(message: Message) -> int:
    """How much there is to seal, in characters, or more than can be sealed at once where that is not plain to see."""
    return len(message.spoken) + sum(len(part.text) if isinstance(part, Text) else LIGHT for part in message.parts)
