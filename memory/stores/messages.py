"""A message as it is stored: redacted text by text, packed, compressed.

A text that is longer than any model reads is stored twice: with its beginning and its end, as whatever learns, finds
and indexes reads it, and behind that whole, for whoever asks for the message itself.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
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
)
from memory.learning.redact import Names
from memory.learning.research_erasure import FORGOTTEN
from memory.message_codec import pack, unpack
from memory.policy import scope_of_owner
from memory.stores.connection import Connection
from memory.stores.queries import write_several

Redact = Callable[[str], str]
RedactorsByOrg = Callable[[str | None], Redact | None]
"""The redactor of an organisation's texts; None where it has none of its own."""


def no_others(org: str | None) -> Redact | None:
    """No organisation has one of its own."""
    return None


class Redactor:
    """Takes the secrets out of texts, and out of names with the ``key`` of the journal. ``by_org`` knows what else is
    taken out of an organisation's texts."""

    def __init__(self, redact: Redact, by_org: RedactorsByOrg = no_others) -> None:
        self._redact = redact
        self._by_org = by_org
        self._others: dict[Redact, Redactor] = {}
        self._names = Names(self)
        self.key = b""

    def of(self, org: str | None) -> Redactor:
        """The redactor of an organisation's texts, or of those of people of none."""
        own = self._by_org(org)
        if own is None:
            return self
        known = self._others.get(own)
        if known is None:
            known = self._others[own] = Redactor(own)
            known.key = self.key
        return known

    def of_owner(self, owner: str) -> Redactor:
        """The redactor of what belongs to an owner, on whatever shelf it lies."""
        return self.of(scope_of_owner(owner).org)

    def __call__(self, text: str) -> str:
        # Lone surrogates are legal in JSON escapes and nowhere else: they would not go into a column.
        return self._redact(text if text.isascii() else text.encode("utf-8", "backslashreplace").decode())

    def name(self, name: str) -> str:
        """A name that is joined by: itself, or a hash where a secret stands in it."""
        return self._names.kept(name, self.key)


LIGHT = 8192
"""Characters of new messages that are sealed at once: half a millisecond at most. More are sealed in a thread."""

HEAVY = 2**18
"""Characters of new messages from which on they are sealed by themselves: the others do not wait behind them."""

MAX_TEXT_CHARS = 2**21
"""Characters of one text that are read by what learns from it: half a million tokens."""

END = 2**16

# Threads of their own, for the end of a reply may wait for this: nothing else stands before it.
_SEALING = ThreadPoolExecutor(1, thread_name_prefix="sealing")
_HEAVY_SEALING = ThreadPoolExecutor(1, thread_name_prefix="sealing-heavy")

# Level 1 is three times as fast as 6 and takes a fifth more room; large tool results wait for this.
_LEVEL = 1


@dataclass(frozen=True, slots=True)
class PackedMessage:
    """A message ready to be stored. ``redacted`` tells that it cannot be given back word for word."""

    digest: bytes
    role: str
    redacted: bool
    body: bytes


def nobody(message: Message) -> None:
    """Nobody wants to know."""


def seal(message: Message, redact: Redact, opened: Callable[[Message], None] = nobody) -> PackedMessage:
    """Redact, pack and compress. The digest is that of the message as it came. ``opened`` is told what :func:`unseal`
    would make of it, where that is plain."""
    name = redact.name if isinstance(redact, Redactor) else redact
    # What a person said often is the whole of a part: it is looked through once.
    known: dict[str, str] = {}

    def redacted(text: str) -> str:
        if text not in known:
            known[text] = redact(text)
        return known[text]

    parts = tuple(_redacted(part, redacted, name) for part in message.parts)
    spoken = redacted(message.spoken) if message.spoken else ""
    if _reads_back_unchanged(parts, spoken):
        opened(Message(message.role, parts, message.digest, spoken))
    return PackedMessage(message.digest, message.role.value, parts != message.parts, body_of(parts, spoken))


def shortened(text: str) -> str:
    """A text, or its beginning and its end where it is longer than any model reads."""
    if len(text) <= MAX_TEXT_CHARS:
        return text
    left = MAX_TEXT_CHARS - END
    return f"{text[:left]}\n[{len(text) - MAX_TEXT_CHARS} characters are left out here]\n{text[-END:]}"


def body_of(parts: tuple[Part, ...], spoken: str) -> bytes:
    """What is stored of a message whose parts hold no secret."""
    short = tuple(_with_texts_mapped(part, shortened) for part in parts)
    body = _packed(short, shortened(spoken))
    return body if short == parts else body + _packed(parts, spoken)


def _packed(parts: tuple[Part, ...], spoken: str) -> bytes:
    return zlib.compress(pack(parts) + b"\n" + spoken.encode("utf-8", "backslashreplace"), _LEVEL)


async def seal_all(
    messages: Sequence[Message], redact: Redact, opened: Callable[[Message], None] = nobody
) -> list[PackedMessage]:
    """Several messages; in a thread where that takes a while."""
    if sum(map(_chars_to_seal, messages)) <= LIGHT:
        return [seal(message, redact, opened) for message in messages]
    pool = _SEALING if sum(map(size_of, messages)) <= HEAVY else _HEAVY_SEALING
    return await asyncio.get_running_loop().run_in_executor(
        pool, lambda: [seal(message, redact, opened) for message in messages]
    )


def write_messages(connection: Connection, person: int, sealed: Sequence[PackedMessage]) -> None:
    """Store messages of a person; those that are there already stay as they are."""
    write_several(connection, "message_write", [(person, m.digest, m.role, m.redacted, m.body) for m in sealed])


def opened(body: bytes, whole: bool = False) -> bytes:
    """What was packed into a body; with its longest texts ``whole``, or their beginnings and ends.

    Raises:
        zlib.error: when it is damaged.
    """
    first = zlib.decompressobj()
    body_text = first.decompress(body)
    if not first.eof:
        raise zlib.error("incomplete")
    return zlib.decompress(first.unused_data) if whole and first.unused_data else body_text


def unseal(digest: bytes, role: str, body: bytes, whole: bool = False) -> Message:
    """The message that was sealed, without its secrets; with its longest texts ``whole``, or their beginnings and ends.

    Raises:
        ValueError: when the body is not of that form.
    """
    try:
        packed, _, spoken = opened(body, whole).partition(b"\n")
    except zlib.error as error:
        raise ValueError(f"not a sealed message: {error}") from error
    return Message(Role(role), unpack(packed), digest, spoken.decode("utf-8"))


def placeholder() -> bytes:
    """The body of a forgotten message."""
    return body_of((Text(FORGOTTEN),), "")


def _reads_back_unchanged(parts: Sequence[Part], spoken: str) -> bool:
    """Whether parts are read again as they are: short texts without the half of a surrogate pair, as most are."""
    return all(map(_part_comes_back, parts)) and _text_comes_back(spoken)


def _part_comes_back(part: Part) -> bool:
    match part:
        case Text(text):
            return _text_comes_back(text)
        case ToolCall(id, name, arguments):
            return _text_comes_back(id) and _text_comes_back(name) and _text_comes_back(arguments)
        case ToolResult(call_id, content, _):
            return _text_comes_back(call_id) and all(map(_part_comes_back, content))
        case _:
            return False


def _text_comes_back(text: str) -> bool:
    if len(text) > MAX_TEXT_CHARS:
        return False
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False


def _with_texts_mapped(part: Part, change: Callable[[str], str]) -> Part:
    return _redacted(part, change, lambda name: name)


def _redacted(part: Part, redact: Redact, name: Redact) -> Part:
    match part:
        case Text(text):
            return Text(redact(text))
        case Image(source):
            # A picture's own bytes hold no text; its address may hold a token.
            return part if source.startswith("data:") or ";base64," in source[:100] else Image(redact(source))
        case Reasoning(text, signature):
            return Reasoning(redact(text), name(signature))
        case ToolCall(id, tool, arguments):
            return ToolCall(name(id), name(tool), redact(arguments))
        case ToolResult(call_id, content, failed):
            inner = tuple(_redacted(each, redact, name) for each in content)
            return ToolResult(name(call_id), tuple(p for p in inner if isinstance(p, Text | Image | Opaque)), failed)
        case Opaque(kind, raw):
            return Opaque(name(kind), redact(raw))


def _chars_to_seal(message: Message) -> int:
    """How much there is to seal, in characters, or more than can be sealed at once where that is not plain to see."""
    return len(message.spoken) + sum(len(part.text) if isinstance(part, Text) else LIGHT for part in message.parts)


def size_of(message: Message) -> int:
    """How much there is to seal, in characters."""
    return len(message.spoken) + sum(map(_size_of, message.parts))


def _size_of(part: Part) -> int:
    match part:
        case Text(text) | Reasoning(text, _):
            return len(text)
        case Image(source):
            return len(source)
        case ToolCall(_, _, arguments):
            return len(arguments)
        case ToolResult(_, content, _):
            return sum(map(_size_of, content))
        case Opaque(_, raw):
            return len(raw)
