"""What the writers of all streams share: events in, the client's bytes out, round after round.

What the writers of whole replies have in common: a document is kept until all of it is there.

Events of a stream with the very bytes they came in, and fields of them written anew.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import msgspec

from proxy.wire.dialect import BadRequest, Unreadable
from proxy.wire.lenient_json import loads, str_in
from proxy.wire.rounds.turn import RoundTurn
from proxy.wire.slices import cut, fields_of, offset_of
from proxy.wire.splice import Splice, spliced
from proxy.wire.sse import ServerEvent, events


class StreamWriter(ABC):
    """Writes one stream out of several. ``number`` counts the rounds from 0.

    As long as nothing was hidden every event passes as it came; :meth:`take` says what becomes of each. Until one of
    our names is seen in a first round nothing is to be hidden, and events are not read: that costs little then.
    """

    def __init__(self, ours: frozenset[str]) -> None:
        self.ours = ours
        self.number = 0
        self.over = False
        self.hides = False  # whether a call of ours stands in this round
        self._events = RawEvents()
        self._names = re.compile(b"|".join(re.escape(name.encode()) for name in sorted(ours)))
        self._unread: list[bytes] | None = []  # None when events are read as they come

    def feed(self, chunk: bytes) -> bytes:
        return b"".join([self._through(raw) for raw in self._events.feed(chunk)])

    def end(self) -> bytes:
        raw = self._events.finish()
        shown = self._through(raw) if raw else b""
        # Some servers leave the terminator out; the client gets none of theirs, but our rounds go on.
        self.over = self.over or self.waits()
        return shown

    def again(self) -> None:
        self._read()
        self.number += 1
        self.over = self.hides = False
        self._events = RawEvents()
        self.begin()

    def turn(self) -> RoundTurn:
        self._read()
        return self.so_far()

    def _through(self, raw: bytes) -> bytes:
        if self._unread is not None:
            if self._names.search(raw) is None:
                self._unread.append(raw)
                return raw
            self._read()
        return self._seen(raw)

    def _read(self) -> None:
        """Read what has passed unread."""
        unread, self._unread = self._unread, None
        for raw in unread or ():
            self._seen(raw)

    def _seen(self, raw: bytes) -> bytes:
        event = event_in(raw)
        if self.over:
            return b"" if self.waits() else raw
        if event is None:
            return raw
        if self.is_end(event):
            self.over = True
            return b"" if self.waits() else raw
        value = loads(event.data)
        if not isinstance(value, dict):
            return raw
        return self.take(raw, event, str_in(value, "type") or event.name.decode(errors="replace"), value)

    def is_end(self, event: ServerEvent) -> bool:
        """Whether an event that is no JSON ends the stream."""
        return False

    def waits(self) -> bool:
        """Whether the round, of which the stop reason is known, goes on; its terminator may still be to come."""
        if not self.hides:
            return False
        turn = self.so_far()
        return bool(turn.stop) and replace(turn, over=True).goes_on

    @abstractmethod
    def begin(self) -> None:
        """Forget the round before."""

    @abstractmethod
    def take(self, raw: bytes, event: ServerEvent, kind: str, value: dict[str, Any]) -> bytes:
        """Hear an event; what the client sees of it."""

    @abstractmethod
    def so_far(self) -> RoundTurn:
        """What this round said so far, of what was read."""

    @abstractmethod
    def close(self) -> bytes:
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""


class DocumentWriter(ABC):
    """Writes one document out of several (see :class:`~proxy.wire.rounds.turn.ReplyWriter`). Nothing comes out before
    the last one is there. ``ours`` are the names of our own tools."""

    def __init__(self, ours: frozenset[str]) -> None:
        self.ours = ours
        self.over = False
        self._number = 0
        self._id = b""
        self._data = b""
        self._turn = RoundTurn()

    def feed(self, chunk: bytes) -> bytes:
        self._data += chunk
        return b""

    @abstractmethod
    def end(self) -> bytes:
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""

    @property
    def hides(self) -> bool:
        return bool(self._turn.calls)

    def turn(self) -> RoundTurn:
        return self._turn

    def again(self) -> None:
        self._number += 1
        self.over = False
        self._turn = RoundTurn()
        self._data = b""

    @abstractmethod
    def close(self) -> bytes:
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""


_BLANK = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")


class RawEvents:
    """Events out of chunks, each with its bytes up to and with its blank line."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._looked = 0

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The events that this chunk completes."""
        if not self._held and chunk.endswith(b"\n\n") and b"\r" not in chunk:  # as nearly all come
            for event in chunk[:-2].split(b"\n\n"):
                yield event + b"\n\n"
            return
        self._held += chunk
        at = 0
        while (blank := _BLANK.search(self._held, max(at, self._looked))) is not None:
            # A CR at the end may be half of a CR LF.
            if blank.end() == len(self._held) and self._held.endswith(b"\r"):
                break
            raw = bytes(self._held[at : blank.end()])
            at = self._looked = blank.end()
            yield raw
        del self._held[:at]
        self._looked = max(0, len(self._held) - 4)

    def finish(self) -> bytes:
        """The rest, which has no blank line."""
        raw = bytes(self._held)
        self._held.clear()
        self._looked = 0
        return raw


def event_in(raw: bytes) -> ServerEvent | None:
    """The event of these bytes; None for one without data (a comment, a retry time)."""
    return next(iter(events([raw])), None)


def with_data(raw: bytes, event: ServerEvent, data: bytes) -> bytes:
    """An event's bytes with other data."""
    if event.data in raw:
        return raw.replace(event.data, data, 1)
    name = b"event: " + event.name + b"\n" if event.name else b""
    return name + b"data: " + data + b"\n\n"


def with_fields(data: bytes, fields: Mapping[tuple[str, ...], bytes]) -> bytes:
    """JSON in which the fields at these paths, where they are, have other values (JSON); all else stays."""
    try:
        text, top = cut(data)
        splices = []
        for path, new in fields.items():
            within = top
            for step in path[:-1]:
                within = fields_of(within.get(step))
            raw = within.get(path[-1])
            if raw is not None:
                start = offset_of(text, raw)
                splices.append(Splice(start, start + len(memoryview(raw)), new))
        return spliced(data, splices)
    except (BadRequest, Unreadable, msgspec.DecodeError):
        return data


def named(kind: str, data: bytes) -> bytes:
    """An event of ours, in the form of those formats that name their events."""
    return b"event: " + kind.encode() + b"\ndata: " + data + b"\n\n"
