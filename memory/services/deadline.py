"""One moment by which all that is done for a request must be done, however many steps it takes."""

from __future__ import annotations

import time
from collections import deque

from memory.ports import BoundedSeconds, bounded_by
from memory.settings import RecallSettings

LEAST, LONGEST = "memory.recall.deadline_ms", "memory.recall.longest_ms"
"""The settings of what recall always has, and of what it has at most."""

TOOLS_SHARE = 0.4
"""The part of what a person's message may wait at most that a tool's result may: an agent at work waits often."""


class Deadline:
    """A moment so many seconds from now; what is left until then is bounded by what bounded these."""

    def __init__(self, seconds: float) -> None:
        self._at = time.perf_counter() + seconds
        self._setting = seconds.setting if isinstance(seconds, BoundedSeconds) else ""

    @property
    def left(self) -> BoundedSeconds:
        """Seconds until then; 0 when it has passed."""
        # Made here and not by what makes one elsewhere: a request asks this a dozen times.
        left = BoundedSeconds(max(self._at - time.perf_counter(), 0.0))
        left.setting = self._setting
        return left

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
        self.most = max(least, most)
        self._last: deque[float] = deque(maxlen=LAST)

    @property
    def deadline(self) -> float:
        """Seconds that it may take now."""
        return min(max(2 * max(self._last, default=self.most), self.least), self.most)

    def took(self, seconds: float) -> None:
        """It was done in so many seconds, or given up after them."""
        self._last.append(seconds)


def recall_time(longest: float, times: ServiceTime, waited: float) -> BoundedSeconds:
    """Seconds that recall for a new message has, of the ``longest`` that it may take. What the message has ``waited``
    in a queue counts as taken already, but for the time that every recall has. They are bounded by the setting that has
    to be raised for more of them."""
    left, seconds = longest - waited, times.deadline
    if seconds > left:
        seconds = max(left, times.least)
    # Below the most there are as many as recall was seen to take, which the least of them raises too.
    at_most = left <= 0 or times.least < seconds >= min(left, times.most)
    return bounded_by(LONGEST if at_most else LEAST, seconds)
