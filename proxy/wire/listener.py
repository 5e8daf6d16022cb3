"""Hear a reply while it passes: bytes in, the same bytes out, all but the end at once.

What was heard is kept as it came and parsed only when the reply is asked for, so that the relay stays fast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from memory.conversation import Reply
from proxy.wire.sse import ServerEvent, events
from proxy.wire.terminator_gate import Terminator, TerminatorGate

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


class WholeListener:
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
