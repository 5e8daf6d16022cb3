"""What a wire format must offer: read a body into a view, write edits into it, hear a reply, refuse politely.

A dialect never translates: a client that speaks it is forwarded to an endpoint that speaks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

import msgspec

from memory.conversation import Conversation, Reply
from memory.edits import Edit
from memory.unread_files import NO_FILES, UnreadFiles


class Unreadable(Exception):
    """The body is not of this dialect in a way that matters to us; the provider may judge it."""


class BadRequest(Exception):
    """The body is broken in a way that no provider could accept. ``where`` names the place."""

    def __init__(self, message: str, where: str = "body") -> None:
        super().__init__(message)
        self.where = where


Spoken = Callable[[str], str]
"""A user-role text → what the person said in it, without what the runtime added; empty if nothing."""


class Framing(StrEnum):
    """How a streamed reply comes, by its media type."""

    EVENTS = "text/event-stream"
    LINES = "application/x-ndjson"
    ARRAY = "application/json"


STREAMS = frozenset({Framing.EVENTS.value, Framing.LINES.value})
"""Media types of replies of which each piece means something; an array is read when all of it is there."""


@dataclass(frozen=True, slots=True)
class RequestView:
    """A body and how it was understood.

    ``fields`` are the raw JSON slices of the top-level keys; ``items`` the raw slices of the messages in order,
    as long as ``conversation.messages``. ``prompt`` is True where the messages are a bare string. ``cut_from`` is the
    text that the slices are views of: the body, or a copy of equal length in which what JSON readers refuse is masked.
    ``framing`` is how a streamed reply comes. ``unread`` are
    files of which the conversation says nothing, and of which nothing is to be kept of the reply.
    """

    body: bytes
    conversation: Conversation
    fields: Mapping[str, msgspec.Raw]
    items: Sequence[msgspec.Raw]
    prompt: bool = False
    cut_from: bytes = b""
    framing: Framing = Framing.EVENTS
    unread: UnreadFiles = NO_FILES

    def field(self, name: str) -> Any:
        """A top-level field, decoded; None where it is missing, or cannot be decoded (too deep, too large a number)."""
        raw = self.fields.get(name)
        try:
            return None if raw is None else msgspec.json.decode(raw)
        except (msgspec.DecodeError, RecursionError):
            return None


class Listener(Protocol):
    """Hears a reply while it is relayed.

    Bytes go in as they come from upstream, bytes come out as they may pass. Only the terminator is held back
    (``[DONE]``, ``response.completed``, ``message_stop``; of a whole reply the last byte), until the exchange is
    in the journal. However the bytes are cut, the reply is the same and what passes, concatenated, is what came.
    """

    def feed(self, chunk: bytes) -> bytes:
        """Hear a chunk; what may pass on now."""

    def finish(self) -> bytes:
        """All that was held back. Called once, after the upstream ended or the terminator was journaled."""

    @property
    def ended(self) -> bool:
        """Whether the terminator has been heard and is being held."""

    def reply(self) -> Reply:
        """What was heard so far."""


class Dialect(Protocol):
    """One wire format."""

    name: str
    paths: tuple[str, ...]
    """How the paths end at which it is spoken."""
    listed: str
    """What the list of messages is called in its bodies."""

    def read(self, body: bytes, spoken: Spoken, path: str = "") -> RequestView:
        """Understand a body that was sent to ``path``, where some formats name the model.

        What a message was read as is remembered together with ``spoken``: pass the same function every time.

        Raises:
            BadRequest: broken JSON, not an object, nested too deeply.
            Unreadable: JSON that has no list of messages where this dialect has it; forward it as it is.
        """

    def write(self, view: RequestView, edits: Sequence[Edit]) -> bytes:
        """The body with the edits spliced in; every byte that no edit names is as it was.

        The order of edits is all one but for texts appended to one message, which follow one another; of a part
        that is replaced twice the last text holds. What is appended to a message stands behind its replaced content
        as if the client had sent that content. Edits that this dialect cannot make are left out, never half made:
        text for a message that takes none; a text in the place of reasoning, of what is signed, encrypted or of an
        unknown kind, of a bare prompt; an empty text; arguments of a function that are no JSON object; a drop that
        tears reasoning from what it led to. A tool's result keeps its id and its failure, a part its cache mark.

        Raises:
            IndexError: an edit names a message that is not there.
        """

    def check(self, body: bytes) -> list[str]:
        """The rules of this dialect that the body breaks (sentences); empty if it is valid."""

    def listen(self, streamed: bool) -> Listener:
        """A listener for one reply."""

    def refusal(self, status: int, message: str, where: str = "") -> bytes:
        """An error in the shape that this dialect's clients read."""

    def too_long(self, message: str, limit: int = 0, size: int = 0) -> bytes:
        """That a request has more tokens (``size``) than its model reads (``limit``; 0 where that is not known), as
        this dialect's clients know it; its status is 400."""
