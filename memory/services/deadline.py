"""One moment by which all that is done for a request must be done, however many steps it takes."""

from __future__ import annotations

import time
from collections import deque

from memory.settings import RecallSettings

TOOLS_SHARE = 0.4
"""The part of what a person's message may wait at most that a tool's result may: an agent at work waits often."""


class Deadline:
    """A moment so many seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._at = time.perf_counter() + seconds

    @property
    def left(self) -> float:
        """Seconds until then; 0 when it has passed."""
        return max(self._at - time.perf_counter(), 0.0)

    def within(self, seconds: float) -> float:
        """So many seconds, or what is left where that is less."""
        return min(seconds, self.left)


def longest_recall(settings: RecallSettings, person: bool) -> float:
    """Seconds that recall for a new message may take at most, however slow the machine is; ``person`` says whether a
    person spoke in it."""
    most = settings.longest_ms if person else TOOLS_SHARE * settings.longest_ms
    return max(settings.deadline_ms, most) / 1000


LAST = 64
"""Times that are looked back on: after so many without a long one the machine counts as quiet again."""


class ServiceTime:
    """The deadline of something that is done again and again.

    Args:
        least: seconds that it always has.
        most: seconds that it never has more than; it has them until something was measured.
    """

    def __init__(self, least: float, most: float) -> None:
        self.least = least
        self._most = max(least, most)
        self._last: deque[float] = deque(maxlen=LAST)

    @property
    def deadline(self) -> float:
        """Seconds that it may take now."""
        return min(max(2 * max(self._last, default=self._most), self.least), self._most)

    def took(self, seconds: float) -> None:
        """It was done in so many seconds, or given up after them."""
        self._last.append(seconds)


def recall_time(longest: float, times: ServiceTime, waited: float) -> float:
    """Seconds that recall for a new message has, of the ``longest`` that it may take. What the message has ``waited``
    in a queue counts as taken already, but for the time that every recall has."""
    seen = times.deadline
    left = longest - waited
    if seen <= left:
        return seen
    return left if left > times.least else times.least
