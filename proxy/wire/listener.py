"""Hear a reply while it passes: bytes in, the same bytes out, all but the end at once.

What was heard is kept as it came and parsed only when the reply is asked for, so that the relay stays fast.

Let a stream pass and hold back its terminator, looking at nothing but the beginnings of its lines.

Hear a stream that has no terminator of its own: the piece that says why the model stopped is its last one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import orjson

from memory.conversation import Reply
from proxy.wire.sse import EventSplitter, ServerEvent, events

_TYPE_FIRST = re.compile(rb'\s*\{\s*"type"\s*:\s*"([^"]*)("?)')
_LINE_END = re.compile(rb"\r\n|\n|\r")

# A beginning longer than this that does not show the type has it behind other keys: only the whole line will tell.
_BEGINNING = 64


@dataclass(frozen=True, slots=True)
class Terminator:
    """How a stream of a dialect ends: with a data line of this ``text``, or with an event of one of these ``types``.

    A type is given by the ``event:`` line and, since some servers leave that out, by the ``type`` in the data.
    """

    text: bytes = b""
    types: frozenset[bytes] = frozenset()

    def is_line(self, line: bytes, named: bool) -> bool:
        """Whether a whole line begins the terminator. ``named``: the event has an event line that is another's."""
        if line.startswith(b"event:"):
            return line[6:].strip() in self.types
        if not line.startswith(b"data:"):
            return False
        data = line[5:]
        if self.text:
            return data.strip() == self.text
        first = _TYPE_FIRST.match(data)
        if first:
            return first[1] in self.types
        return not named and any(type in data for type in self.types) and _type_in(data) in self.types

    def may_be(self, beginning: bytes, named: bool) -> bool:
        """Whether a line that begins like this may still turn out to begin the terminator."""
        if b"data:".startswith(beginning) or (self.types and b"event:".startswith(beginning)):
            return True
        if beginning.startswith(b"event:"):
            name = beginning[6:].strip()
            return any(type.startswith(name) for type in self.types)
        if not beginning.startswith(b"data:"):
            return False
        data = beginning[5:].strip()
        if self.text:
            return self.text.startswith(data)
        first = _TYPE_FIRST.match(data)
        if first and first[2]:
            return first[1] in self.types
        if first:
            return any(type.startswith(first[1]) for type in self.types)
        if b'{"type":"'.startswith(data.translate(None, b" \t")):
            return True
        return not named and data.startswith(b"{")


class TerminatorGate:
    """Passes a stream of server-sent events on, up to its terminator."""

    def __init__(self, terminator: Terminator) -> None:
        self._terminator = terminator
        self._open = False
        self._held: list[bytes] = []  # the beginning of an undecided line, or the terminator and what follows
        self._end: EventSplitter | None = None  # reads on from the terminator's line, once that was seen
        self._ended = False
        self._named = False  # the current event has an event line, and that is not the terminator's
        self._within = False  # we are in the middle of a line that is not the terminator's
        self._after_cr = False

    @property
    def ended(self) -> bool:
        """Whether the terminator is here as a whole, and held."""
        return self._ended and not self._open

    def feed(self, chunk: bytes) -> bytes:
        """Take a chunk; what may pass on now."""
        if self._open or not chunk:
            return chunk
        if self._end is not None:
            self._hold(chunk)
            return b""
        if self._held:
            self._held.append(chunk)
            if len(self._held[0]) > _BEGINNING and not _LINE_END.search(chunk):
                return b""  # joining a long line anew with each of its chunks would cost the square of its length
            chunk = b"".join(self._held)
            self._held.clear()
        at = self._scan(chunk)
        if at < len(chunk):
            self._hold(chunk[at:])
        return chunk[:at]

    def open(self) -> bytes:
        """All that was held back; from now on everything passes."""
        self._open = True
        held = b"".join(self._held)
        self._held.clear()
        return held

    def _hold(self, held: bytes) -> None:
        self._held.append(held)
        if self._end is not None and any(self._end.feed(held)):
            self._ended = True

    def _scan(self, chunk: bytes) -> int:
        """How much of the chunk may pass."""
        at = 0
        if self._after_cr:
            self._after_cr = False
            at = int(chunk.startswith(b"\n"))
        if self._within:
            end = _LINE_END.search(chunk, at)
            if end is None:
                return len(chunk)
            at = end.end()
            self._within = False
        for line in chunk[at:].splitlines(keepends=True):
            content = line.rstrip(b"\r\n")
            if len(content) == len(line):
                if self._terminator.may_be(line, self._named):
                    return at
                self._within = True
                self._named = self._named or line.startswith(b"event:")
                return len(chunk)
            if self._terminator.is_line(content, self._named):
                self._end = EventSplitter()
                return at
            if not content:
                self._named = False
            elif content.startswith(b"event:"):
                self._named = True
            at += len(line)
        self._after_cr = chunk.endswith(b"\r")
        return len(chunk)


def _type_in(data: bytes) -> bytes:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return b""
    kind = value.get("type") if isinstance(value, dict) else None
    return kind.encode() if isinstance(kind, str) else b""


HEARD_LIMIT = 32 * 1024 * 1024
"""Bytes of one reply that are kept to be understood; a longer one passes on, but counts as not heard to its end."""


class BoundedBuffer:
    """The bytes of a reply as they came, up to a limit."""

    def __init__(self, limit: int = HEARD_LIMIT) -> None:
        self.chunks: list[bytes] = []
        self.whole = True
        self._left = limit

    def note(self, chunk: bytes) -> None:
        """Keep a chunk; from the first that does not fit on, nothing more is kept."""
        self._left -= len(chunk)
        if self._left < 0:
            self.whole = False
        elif chunk:
            self.chunks.append(chunk)


class DocumentListener:
    """Hears a reply that is one JSON document: its last byte is its terminator, and only the end shows which it is."""

    ended = False

    def __init__(self, understand: Callable[[bytes], Reply]) -> None:
        self._understand = understand
        self._heard = BoundedBuffer()
        self._held = b""
        self._finished = False

    def feed(self, chunk: bytes) -> bytes:
        """Hear a chunk; all but the newest byte passes."""
        self._heard.note(chunk)
        if self._finished or not chunk:
            return chunk
        passing = self._held + chunk[:-1]
        self._held = chunk[-1:]
        return passing

    def finish(self) -> bytes:
        """The last byte."""
        self._finished = True
        held, self._held = self._held, b""
        return held

    def reply(self) -> Reply:
        """What was heard; nothing, as long as it is no whole document."""
        return self._understand(b"".join(self._heard.chunks)) if self._heard.whole else Reply()


class StreamListener:
    """Hears a stream of server-sent events."""

    def __init__(self, terminator: Terminator, understand: Callable[[Iterable[ServerEvent]], Reply]) -> None:
        self._gate = TerminatorGate(terminator)
        self._understand = understand
        self._heard = BoundedBuffer()

    @property
    def ended(self) -> bool:
        """Whether the terminator has been heard and is being held."""
        return self._gate.ended

    def feed(self, chunk: bytes) -> bytes:
        """Hear a chunk; what may pass on now."""
        self._heard.note(chunk)
        return self._gate.feed(chunk)

    def finish(self) -> bytes:
        """All that was held back."""
        return self._gate.open()

    def reply(self) -> Reply:
        """What was heard so far, as if the stream ended here."""
        reply = self._understand(events(self._heard.chunks))
        return reply if self._heard.whole else replace(reply, complete=False)


BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
"""What stands between two events."""

LINE_END = re.compile(rb"\r\n|\n|\r")
"""What stands between two lines."""

_NEAR = 96
"""Bytes that a sign, or what stands between two pieces, may take: so much of what has passed is looked at again."""


class UnterminatedListener:
    """Hears such a stream. ``sign`` is found in the last piece, ``between`` two pieces."""

    ended = False
    """There is nothing by which the end is known before the upstream ends."""

    def __init__(
        self, sign: re.Pattern[bytes], between: re.Pattern[bytes], understand: Callable[[Sequence[bytes]], Reply]
    ) -> None:
        self._sign = sign
        self._between = between
        self._understand = understand
        self._heard = BoundedBuffer()
        self._near = b""
        self._signed = False
        self._held = b""
        self._finished = False

    def feed(self, chunk: bytes) -> bytes:
        """Hear a chunk; what may pass on now."""
        self._heard.note(chunk)
        if self._finished or not chunk:
            return chunk
        near = self._near + chunk
        written = near.rstrip(b"\r\n")
        begun = 0
        for found in self._between.finditer(written):
            begun = found.end()
        if begun:
            self._signed = False
        self._signed = self._signed or self._sign.search(written, begun) is not None
        self._near = near[-_NEAR:]
        ready = self._held + chunk
        passing = ready.rstrip(b"\r\n") if self._signed else ready
        self._held = ready[len(passing) :]
        return passing

    def finish(self) -> bytes:
        """What was held back."""
        self._finished = True
        held, self._held = self._held, b""
        return held

    def reply(self) -> Reply:
        """What was heard so far, as if the stream ended here."""
        reply = self._understand(self._heard.chunks)
        return reply if self._heard.whole else replace(reply, complete=False)
