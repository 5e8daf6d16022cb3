"""How much of their quotas people and organisations have used today, on all servers of a database together.

What is used is counted here at once and written down a few seconds later, together; what others have counted comes back
then. So several servers may let a little more through than a quota has, and a request waits for the database at most
once a day and person. What may have been written is not written again. A day is one of UTC. Where no quota of a day is
set nothing is counted and nothing is asked.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from memory.ports import Guard, StoreError
from memory.scope import Layer, Scope
from memory.services.lessons.quotas import ANY, Quotas, quota_of
from memory.settings import QuotaSettings

WRITE_SECONDS: Final = 2.0
"""After how long what was used is written down."""
LOOK_SECONDS: Final = 0.4
"""How long somebody who is not known yet may be looked up; the call goes on then, and the next one looks again."""
FULL_SECONDS: Final = 30.0
"""How often it is looked whether somebody's memories are as many as they may be."""
WITHIN_SECONDS: Final = 10.0

Used = tuple[str, str]


class UseCounts(Protocol):
    """What this needs of the journal."""

    async def quota_uses(self, day: str, owners: Sequence[str]) -> dict[Used, int]:
        """What these owners have used on a day, by owner and what is counted."""

    async def add_quota_uses(self, day: str, used: Mapping[Used, int]) -> dict[Used, int]:
        """Count more; how much each has used of it then."""


@dataclass(frozen=True, slots=True)
class DailyLimit:
    """How much of something an owner may use in a day; ``setting`` says it."""

    owner: str
    sort: str
    most: int
    setting: str


@dataclass(frozen=True, slots=True)
class QuotaLeft:
    """What is ``left`` of the quota that is used up first, of ``most``; it is full again after so many seconds."""

    left: int
    most: int
    setting: str
    seconds: int

    @property
    def used_up(self) -> str:
        """In words, that nothing is left."""
        return f"{self.setting} ({self.most}) is used up for today"


class QuotaUse:
    """Counts for all callers of a server, on its loop.

    Args:
        now: the clock by which days end; aware.
        full: tells whose memories are as many as they may be.
    """

    def __init__(
        self,
        settings: Mapping[str, QuotaSettings],
        counts: UseCounts,
        full: Quotas,
        guard: Guard,
        now: Callable[[], datetime],
    ) -> None:
        self._settings = settings
        self._counts = counts
        self._full = full
        self._guard = guard
        self._now = now
        self._day = ""
        self._totals: dict[Used, int] = {}
        self._known: set[str] = set()
        self._unwritten: Counter[Used] = Counter()
        self._writing: Counter[Used] = Counter()
        self._looked: dict[Scope, float] = {}
        self._beside: set[asyncio.Task[None]] = set()
        self._writes: asyncio.Task[None] | None = None

    def limits(self, scope: Scope, sort: str) -> list[DailyLimit]:
        """What holds for a person, and for their organisation."""
        settings = quota_of(self._settings, scope)
        if settings is None:
            return []
        name = f"memory.quotas.{scope.org if scope.org in self._settings else ANY}"
        found = []
        if scope.user and (owner := Scope(scope.org, scope.user).owner(Layer.USER)):
            own = settings.users.get(scope.user)
            most = getattr(own, sort) if own is not None else None
            setting = f"{name}.users.{scope.user}.{sort}" if most is not None else f"{name}.{sort}_per_user"
            most = getattr(settings, f"{sort}_per_user") if most is None else most
            found += [DailyLimit(owner, sort, most, setting)] if most is not None else []
        if scope.org and (owner := Scope(scope.org).owner(Layer.ORG)):
            most = getattr(settings, sort)
            found += [DailyLimit(owner, sort, most, f"{name}.{sort}")] if most is not None else []
        return found

    async def left(self, scope: Scope, sort: str, seconds: float = LOOK_SECONDS) -> QuotaLeft | None:
        """What is left of what is used up first; None where nothing is set. Somebody who has not come today is looked
        up, for so many seconds at most, and has used nothing where that takes longer."""
        if not (limits := self.limits(scope, sort)):
            return None
        self._begin_new_day()
        unknown = [limit.owner for limit in limits if limit.owner not in self._known]
        if unknown:
            day = self._day
            found, why = await self._guard(
                self._counts.quota_uses(day, unknown),
                default={},
                timeout_seconds=min(seconds, LOOK_SECONDS),
                operation="looking what is used of quotas",
            )
            if not why and day == self._day:
                # What was counted here meanwhile is not in it yet, or comes back with what is written.
                self._totals |= {used: max(total, self._totals.get(used, 0)) for used, total in found.items()}
                self._known.update(unknown)
        lefts = [
            QuotaLeft(max(limit.most - self._used(limit), 0), limit.most, limit.setting, self._seconds())
            for limit in limits
        ]
        return min(lefts, key=lambda each: each.left)

    def count(self, scope: Scope, sort: str, amount: int) -> None:
        """So much was used."""
        if not amount or not (limits := self.limits(scope, sort)):
            return
        self._begin_new_day()
        for limit in limits:
            self._unwritten[limit.owner, sort] += amount
        self._write_later()

    def give_back(self, scope: Scope, sort: str, amount: int) -> None:
        """So much was counted today and not used after all; never more than that is given back."""
        limits = self.limits(scope, sort)
        self._begin_new_day()
        for limit in limits:
            self._unwritten[limit.owner, sort] -= min(amount, self._used(limit))
        if limits:
            self._write_later()

    def learns_nothing(self, scope: Scope) -> str:
        """Why nothing more is learnt of a person, as far as that is known; looked up beside, now and then."""
        if not self._full.limited(scope):
            return ""
        person = Scope(scope.org, scope.user)
        now = time.monotonic()
        if now - self._looked.get(person, float("-inf")) >= FULL_SECONDS:
            self._looked[person] = now
            look = asyncio.create_task(self._look(person))
            self._beside.add(look)
            look.add_done_callback(self._beside.discard)
        return self._full.known_full(person)

    def forget(self, person: Scope) -> None:
        """Leave out what a person has used and nobody has written yet, so that their name does not come back."""
        owner = person.owner(Layer.USER)
        for counted in (self._unwritten, self._writing, self._totals):
            for used in [each for each in counted if each[0] == owner]:
                del counted[used]

    async def settle(self) -> None:
        """Write down what was used."""
        for task in (*self._beside, *([self._writes] if self._writes is not None else [])):
            task.cancel()
            await asyncio.wait({task})
        await self._write()

    def _used(self, limit: DailyLimit) -> int:
        used = limit.owner, limit.sort
        return self._totals.get(used, 0) + self._unwritten[used] + self._writing[used]

    def _begin_new_day(self) -> None:
        day = self._now().astimezone(UTC).date().isoformat()
        if day != self._day:
            self._day = day
            self._totals.clear()
            self._known.clear()
            self._unwritten.clear()
            self._looked.clear()

    def _seconds(self) -> int:
        now = self._now().astimezone(UTC)
        end = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        return max(int((end - now).total_seconds()), 1)

    def _write_later(self) -> None:
        if self._writes is None or self._writes.done():
            self._writes = asyncio.create_task(self._write_soon())

    async def _write_soon(self) -> None:
        while self._unwritten:
            await asyncio.sleep(WRITE_SECONDS)
            await self._write()

    async def _write(self) -> None:
        day, self._writing, self._unwritten = self._day, self._unwritten, Counter()
        if not self._writing:
            return
        refused = False

        async def written() -> dict[Used, int]:
            nonlocal refused
            try:
                return await self._counts.add_quota_uses(day, self._writing)
            except StoreError as error:
                refused = not error.may_be_done
                raise

        try:
            totals, why = await self._guard(
                written(),
                default={},
                timeout_seconds=WITHIN_SECONDS,
                operation="counting what is used of quotas",
            )
            if day != self._day:
                return
            if refused:
                self._unwritten.update(self._writing)
            elif why:
                # It may be written: to write it again could count it twice.
                totals = {used: self._totals.get(used, 0) + more for used, more in self._writing.items()}
            self._totals |= totals
        finally:
            self._writing = Counter()

    async def _look(self, person: Scope) -> None:
        await self._guard(
            self._full.full(person),
            default=False,
            timeout_seconds=WITHIN_SECONDS,
            operation="counting memories for a quota",
        )
