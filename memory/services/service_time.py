"""How long something takes on this machine, measured as it is done, and the deadline that follows from it.

A builder's machine is busy as a rule: what takes ten milliseconds on a quiet one takes a hundred beside a compiler, and
a fixed deadline gives up what would have been there a moment later. Such times have a long tail, of which a mean and a
deviation say little, so that the deadline allows for twice the longest of the last ones.
"""

from __future__ import annotations

from collections import deque

LAST = 64
"""Times that are looked back on: after so many without a long one the machine counts as quiet again."""


class ServiceTime:
    """The deadline of something that is done again and again.

    Args:
        least: seconds that it always has.
        most: seconds that it never has more than; it has them until something was measured.
    """

    def __init__(self, least: float, most: float) -> None:
        self._least = least
        self._most = max(least, most)
        self._last: deque[float] = deque(maxlen=LAST)

    @property
    def deadline(self) -> float:
        """Seconds that it may take now."""
        return min(max(2 * max(self._last, default=self._most), self._least), self._most)

    def took(self, seconds: float) -> None:
        """It was done in so many seconds, or given up after them."""
        self._last.append(seconds)
