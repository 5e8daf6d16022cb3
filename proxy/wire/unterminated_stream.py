"""Hear a stream that has no terminator of its own: the piece that says why the model stopped is its last one.

What is held back is the line end behind that piece, without which no client reads it, until more comes or the upstream
ends. A server may say it with every piece; then each waits for the next, and nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory.conversation import Reply
from proxy.wire.listener import BoundedBuffer

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
