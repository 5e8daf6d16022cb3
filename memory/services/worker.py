"""Workers beside the requests: they sleep until they are woken, and look by themselves now and then.

:class:`Worker` is that alone; :class:`JournalFollower` is the shell of those that read the journal behind a cursor of
their own: requests go first, one exchange that cannot be worked on holds up no other, and each has its own step only.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import AsyncIterator, Awaitable, Callable
from enum import Enum, auto

from memory.ports import Guard, StoreError
from memory.services.background_task import BackgroundTask

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

OLD_SECONDS = 10.0
"""How long an exchange may wait while requests are spared, where nobody asks for what is made of it."""

KNOWN_SECONDS = 1.0
"""And where it is asked for a few seconds later, as what was said is."""

CROWDED_OWED, CROWDED_SECONDS = 4000, 30.0
"""The same where more requests come than can be prepared, so that those who wait for a reply need all there is."""

LOOK_SECONDS = 0.02
"""How often a worker looks whether requests still come."""

BATCH_SECONDS = 600.0
"""How long the work on the exchanges that are read at once may take."""

SHORT_OF = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC, errno.EDQUOT, errno.EIO})
"""What the system says where it has no descriptor, memory, thread or disk left, or its disk fails."""

SETTLE_SECONDS = 2.0
"""How long what follows from the work may wait while the worker has no rest."""


class Worker:
    """Does all the work there is (``work``) each time it is woken, one time after another."""

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        self._work = work
        self._woken = asyncio.Event()
        self._beside = BackgroundTask()

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._beside.running

    def start(self) -> None:
        """Begin, with what was left behind first."""
        self._woken.set()
        self._beside.begin(self._run())

    def wake(self) -> None:
        """Say that there is something new."""
        self._woken.set()

    async def stop(self) -> None:
        """Stop where the work can be given up; the rest is done after the next start."""
        await self._beside.stop()

    async def _run(self) -> None:
        while True:
            # Not wait_for: in Python 3.11 it can lose a cancellation that comes at the same time as the result.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(IDLE_SECONDS):
                    await self._woken.wait()
            self._woken.clear()
            await self._work()


class FailedTries:
    """Counts how often each exchange makes a work fail, so that one that always does holds up no other. ``moved`` is
    told of each that is done; ``reached`` is the number of the last one."""

    def __init__(self, moved: Callable[[], None] = lambda: None) -> None:
        self._moved = moved
        self._failed: Counter[int] = Counter()
        self._given_up: int | None = None
        self.passed_over = 0
        self.reached = 0

    def begin(self) -> None:
        """Work begins of which it can be said that it took too long."""
        self._given_up = None

    def late(self) -> None:
        """The work has failed since it began. Where it was given up amid an exchange, it took too long: that counts
        against the exchange, with which the next work begins."""
        if self._given_up is not None:
            self._failed[self._given_up] += 1

    @contextlib.asynccontextmanager
    async def one(self, number: int) -> AsyncIterator[bool]:
        """Work on the exchange of this number; False where it has failed so often that it is to be passed over."""
        again = self._failed[number] < TRIES
        self._failed[number] += 1
        try:
            yield again
        except (StoreError, MemoryError, OSError, asyncio.CancelledError) as error:
            if isinstance(error, OSError) and error.errno not in SHORT_OF:
                raise
            # That is the machine's trouble and passes; only what the exchange itself does wrong counts against it.
            self._failed[number] -= 1
            self._given_up = number if isinstance(error, asyncio.CancelledError) else None
            raise
        del self._failed[number]
        self.reached = number
        self.passed_over += not again
        self._moved()


class YieldToRequests:
    """Lets requests go first, which need the same processor: what a burst of them brings is worked off right after it.
    Not for ever: a little is done all the while, and everything when too much has piled up.

    ``busy`` says whether requests come; ``owe`` that there is one exchange more to work off, ``paid`` that there is one
    less; ``old`` is how many seconds one may wait; ``crowded`` says whether more requests come than can be prepared.
    """

    def __init__(
        self, busy: Callable[[], bool], old: float = OLD_SECONDS, crowded: Callable[[], bool] = lambda: False
    ) -> None:
        self._busy = busy
        self._old = old
        self._crowded = crowded
        self._owed: deque[float] = deque()
        self._began = 0.0

    def owe(self) -> None:
        """There is more to do."""
        self._owed.append(time.monotonic())

    def paid(self, exchanges: int | None = None) -> None:
        """So many exchanges are worked off, or all there are."""
        for _ in range(len(self._owed) if exchanges is None else min(exchanges, len(self._owed))):
            self._owed.popleft()

    def begin(self) -> None:
        """Patience begins anew."""
        self._began = time.monotonic()

    async def give_way(self) -> bool:
        """Wait for requests to cease, for a while; whether they are still to be spared then."""
        now = time.monotonic()
        until = now + GIVE_WAY_SECONDS
        while not self._is_overdue(now):
            if not self._busy() or now >= until:
                return True
            await asyncio.sleep(LOOK_SECONDS)
            now = time.monotonic()
        return False

    def _is_overdue(self, now: float) -> bool:
        """Whether too much has piled up, or for too long."""
        waited = now - self._owed[0] if self._owed else 0.0
        owed, old = (CROWDED_OWED, CROWDED_SECONDS) if self._crowded() else (OWED, self._old)
        return len(self._owed) >= owed or waited >= old or now - self._began >= PATIENCE_SECONDS


class Pace(Enum):
    """How a worker goes about the next exchanges."""

    SPARING = auto()
    """Requests go first."""

    OWING = auto()
    """Too much has piled up, or for too long, for requests to be spared."""

    AT_ONCE = auto()
    """Somebody waits for it: everything is to be done now."""


class JournalFollower(ABC):
    """A shell whose worker follows the journal. ``doing`` says in a few words what; ``busy`` whether requests are under
    way; ``old`` after how many seconds an exchange waits no longer for them to cease; ``crowded`` whether more of them
    come than can be prepared."""

    def __init__(
        self,
        guard: Guard,
        doing: str,
        busy: Callable[[], bool] = lambda: False,
        old: float = OLD_SECONDS,
        crowded: Callable[[], bool] = lambda: False,
    ) -> None:
        self._guard = guard
        self._doing = doing
        self._busy = busy
        self._worker = Worker(self._all)
        self._sparing = YieldToRequests(busy, old, crowded)
        self._one_at_a_time = asyncio.Lock()
        self._tries = FailedTries(self._move)
        self._moved: float | None = None

    @property
    def doing(self) -> str:
        """What its work is, in a few words."""
        return self._doing

    @property
    def still(self) -> float:
        """For how many seconds it has been at work without getting anywhere; 0 where it is at rest."""
        return 0.0 if self._moved is None else time.monotonic() - self._moved

    @property
    def passed_over(self) -> int:
        """How many exchanges were given up."""
        return self._tries.passed_over

    @property
    def alive(self) -> bool:
        """Whether the worker runs."""
        return self._worker.alive

    def start(self) -> None:
        """Begin to work, with what was left behind first."""
        self._worker.start()

    def wake(self) -> None:
        """Say that the journal has something new: one more exchange."""
        self._sparing.owe()
        self._worker.wake()

    async def stop(self) -> None:
        """Stop where the work can be given up; the rest is done after the next start."""
        await self._worker.stop()

    async def catch_up(self) -> None:
        """Work through everything that is in the journal."""
        while await self._batch(Pace.AT_ONCE):
            pass

    @abstractmethod
    async def _batch(self, pace: Pace) -> bool:
        """Work on the next exchanges; whether there may be more."""

    async def _settle(self, done: bool) -> None:  # noqa: B027 - for most there is nothing
        """Do what follows from the work: when it is ``done``, and now and then while it has no rest."""

    def _move(self) -> None:
        self._moved = time.monotonic()

    async def _all(self) -> None:
        more, settled = True, time.monotonic()
        # Work that failed is taken up again: it has got nowhere since it was begun first.
        self._moved = self._moved or settled
        self._sparing.begin()
        while more:
            pace = Pace.SPARING if await self._sparing.give_way() else Pace.OWING
            self._tries.begin()
            more, why = await self._guard(
                self._batch(pace), default=False, timeout_seconds=BATCH_SECONDS, operation=self._doing
            )
            if why:
                self._tries.late()
            else:
                self._move()
            if not more or time.monotonic() - settled > SETTLE_SECONDS:
                settled = time.monotonic()
                await self._settle(done=not more)
        self._moved = self._moved if why else None
