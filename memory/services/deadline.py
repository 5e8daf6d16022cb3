"""One moment by which all that is done for a request must be done, however many steps it takes."""

from __future__ import annotations

import time


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
