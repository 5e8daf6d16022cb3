"""A worker beside the requests: it sleeps until it is woken, and looks by itself now and then."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable

from memory.ports import StoreError

IDLE_SECONDS = 5.0
"""How often a worker looks whether something was left over, when nothing wakes it."""

TRIES = 3
"""How often an exchange that makes a work fail is tried before it is passed over. It stays in the journal."""

GIVE_WAY_SECONDS = 0.2
"""How long a worker gives way to requests before it does a little all the same."""

PATIENCE_SECONDS = 60.0
"""How long a burst of requests is spared: what has piled up until then is worked off though more come."""

OWED = 150
"""Exchanges that may pile up while requests are spared: half a second's work. With more, what was just said would not
be known when it is asked for."""

LOOK_SECONDS = 0.02
"""How often a worker looks whether requests still come."""


class Worker:
    """Does all the work there is (``work``) each time it is woken, one time after another."""

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        self._work = work
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Begin, with what was left behind first."""
        self._woken.set()
        self._task = asyncio.create_task(self._run())

    def wake(self) -> None:
        """Say that there is something new."""
        self._woken.set()

    async def stop(self) -> None:
        """Stop where the work can be given up; the rest is done after the next start."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    async def _run(self) -> None:
        while True:
            # Not wait_for: in Python 3.11 it can lose a cancellation that comes at the same time as the result.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(IDLE_SECONDS):
                    await self._woken.wait()
            self._woken.clear()
            await self._work()


class Tries:
    """Counts how often each exchange makes a work fail, so that one that always does holds up no other."""

    def __init__(self) -> None:
        self._failed: Counter[int] = Counter()
        self.passed_over = 0

    @contextlib.asynccontextmanager
    async def one(self, number: int) -> AsyncIterator[bool]:
        """Work on the exchange of this number; False where it has failed so often that it is to be passed over."""
        again = self._failed[number] < TRIES
        self._failed[number] += 1
        try:
            yield again
        except (StoreError, asyncio.CancelledError):
            # That is the store's trouble and passes; only what the exchange itself does wrong counts against it.
            self._failed[number] -= 1
            raise
        del self._failed[number]
        self.passed_over += not again


class Sparing:
    """Lets requests go first, which need the same processor: what a burst of them brings is worked off right after it.
    Not for ever: a little is done all the while, and everything when too much has piled up.

    ``busy`` says whether requests come; ``owe`` that there is one exchange more to work off, ``paid`` that there is one
    less.
    """

    def __init__(self, busy: Callable[[], bool]) -> None:
        self._busy = busy
        self._owed = 0
        self._began = 0.0

    def owe(self) -> None:
        """There is more to do."""
        self._owed += 1

    def paid(self, exchanges: int | None = None) -> None:
        """So many exchanges are worked off, or all there are."""
        self._owed = 0 if exchanges is None else max(self._owed - exchanges, 0)

    def begin(self) -> None:
        """Patience begins anew."""
        self._began = time.monotonic()

    async def give_way(self) -> bool:
        """Wait for requests to cease, for a while; whether they are still to be spared then."""
        now = time.monotonic()
        if self._owed >= OWED or now - self._began >= PATIENCE_SECONDS:
            return False
        until = now + GIVE_WAY_SECONDS
        while self._busy() and time.monotonic() < until:  # noqa: ASYNC110 - nobody says when requests have ceased
            await asyncio.sleep(LOOK_SECONDS)
        return True
