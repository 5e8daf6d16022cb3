"""Memory is a guest: when it fails or is late, the model call goes on without it, and that is counted.

The only broad ``except`` of the codebase stands here.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from prometheus_client import Counter

log = logging.getLogger(__name__)

T = TypeVar("T")

DEGRADED = Counter("palimpsest_degraded_total", "Times that memory failed or was late", ["doing", "why"])


STORE = "the store failed"
"""What stands before a store's own sentence, where of others the kind of the failure does."""

LATE = "late"
"""What stands before the sentence of what took too long."""

SET_ASIDE = "aside"
"""What stands before the sentence of an exchange that lies safe, in a file beside the journal."""

LOG_SECONDS = 1.0
"""How often the same is logged at most: where memory fails each request, the log must not grow with them."""

_SETTING = re.compile(r"\(([a-z_]+(?:\.[a-z_]+)+)\)$")

MAX_REASON_CHARS = 300
"""Characters that are kept of what a failure says."""


@dataclass(frozen=True, slots=True)
class MemoryFailure:
    """One time that memory did not do its part. ``at`` is in seconds since 1970."""

    at: float
    doing: str
    why: str


@dataclass(slots=True)
class Degradations:
    """The latest failures, for ``/palimpsest/health``, and how many there have been of each kind."""

    latest: deque[MemoryFailure] = field(default_factory=lambda: deque(maxlen=50))
    counts: dict[str, int] = field(default_factory=dict)
    _logged: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    """When each kind was logged, and how many were not since."""

    def add(self, doing: str, why: str) -> None:
        """Count a failure and keep it for those who ask. What is set aside has failed nobody: it lies safe, in another
        place than it will, and is only kept and measured."""
        self.latest.append(MemoryFailure(time.time(), doing, why))
        kind = why.partition(":")[0]
        DEGRADED.labels(doing, kind).inc()
        if kind == SET_ASIDE:
            return
        self.counts[doing] = self.counts.get(doing, 0) + 1
        now = time.monotonic()
        at, unlogged = self._logged.get((doing, kind), (-LOG_SECONDS, 0))
        if now < at + LOG_SECONDS:
            self._logged[doing, kind] = at, unlogged + 1
            return
        self._logged[doing, kind] = now, 0
        log.warning("memory failed while %s: %s%s", doing, why, f" (and {unlogged} times before)" if unlogged else "")

    def since(self, seconds: float) -> list[MemoryFailure]:
        """The failures of the last ``seconds``."""
        limit = time.time() - seconds
        return [failure for failure in self.latest if failure.at >= limit]


async def fail_open(
    awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str, degradations: Degradations
) -> tuple[T, str]:
    """Await a memory operation for ``timeout_seconds`` at most.

    Returns:
        Its result and an empty string, or ``default`` and why it failed. Cancellation of the caller passes
        through: a client that has gone ends the work.
    """
    why: list[str] = []
    with _survived(why, operation, _longer_than(timeout_seconds)):
        async with asyncio.timeout(timeout_seconds):
            return await awaitable, ""
    degradations.add(operation, why[0])
    return default, why[0]


def fail_open_at_once(work: Callable[[], T], *, default: T, operation: str, degradations: Degradations) -> T:
    """Run a memory operation that never waits: its result, or ``default`` if it failed."""
    why: list[str] = []
    with _survived(why, operation, "it gave up"):
        return work()
    degradations.add(operation, why[0])
    return default


def _longer_than(seconds: float) -> str:
    milliseconds = round(seconds * 1000)
    setting = getattr(seconds, "setting", "")  # of BoundedSeconds, which a start need not import
    longer = f"more than {milliseconds} ms" if milliseconds else "no time was left"
    return f"{longer} ({setting})" if setting else longer


def bounding_setting(why: str) -> str:
    """The setting that bounded what was late, out of why it failed; empty where none did."""
    found = _SETTING.search(why) if why.startswith(f"{LATE}:") else None
    return found[1] if found else ""


@contextmanager
def _survived(why: list[str], doing: str, late: str) -> Iterator[None]:
    """Swallow what fails inside, and append a sentence about it to ``why``."""
    try:
        yield
    except TimeoutError:
        why.append(f"{LATE}: {late}")
    except Exception as error:
        # Imported here: a start gets on without all that the stores must do.
        from memory.ports import StoreError

        kind = STORE if isinstance(error, StoreError) else type(error).__name__
        why.append(one_line(f"{kind}: {error}"))
        log.debug("while %s", doing, exc_info=True)


def one_line(text: str) -> str:
    """A fault's text as it may stand in a header: in one line, printable, and not too long. A library's error may
    have many lines, and a header with a line break in it would cost the reply."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:MAX_REASON_CHARS]
