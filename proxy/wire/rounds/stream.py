"""What the writers of all streams share: events in, the client's bytes out, round after round."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from proxy.wire.lenient_json import loads, str_in
from proxy.wire.rounds.events import RawEvents, event_in
from proxy.wire.rounds.turn import RoundTurn
from proxy.wire.sse import ServerEvent


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
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""
        return b"".join([self._through(raw) for raw in self._events.feed(chunk)])

    def end(self) -> bytes:
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""
        raw = self._events.finish()
        shown = self._through(raw) if raw else b""
        # Some servers leave the terminator out; the client gets none of theirs, but our rounds go on.
        self.over = self.over or self.waits()
        return shown

    def again(self) -> None:
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""
        self._read()
        self.number += 1
        self.over = self.hides = False
        self._events = RawEvents()
        self.begin()

    def turn(self) -> RoundTurn:
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""
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
