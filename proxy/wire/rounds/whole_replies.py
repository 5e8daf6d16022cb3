"""What the writers of whole replies have in common: a document is kept until all of it is there."""

from __future__ import annotations

from abc import ABC, abstractmethod

from proxy.wire.rounds.turn import RoundTurn


class WholeWriter(ABC):
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
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""
        self._data += chunk
        return b""

    @abstractmethod
    def end(self) -> bytes:
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""

    @property
    def hides(self) -> bool:
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""
        return bool(self._turn.calls)

    def turn(self) -> RoundTurn:
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""
        return self._turn

    def again(self) -> None:
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""
        self._number += 1
        self.over = False
        self._turn = RoundTurn()
        self._data = b""

    @abstractmethod
    def close(self) -> bytes:
        """See :class:`~proxy.wire.rounds.turn.ReplyWriter`."""
