"""A worker that lets go of what is older than a person, or their organisation, wants to keep.

Exchanges leave the journal after ``memory.journal.keep_days``, or after the days of the organisation's policy; memories
are deleted after the policy's, and at once where the policy does not let their sort be kept.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from itertools import product
from typing import Literal, Protocol

from memory.fact import FactKind
from memory.policy import Policies, Unkept, is_persons, scope_of_owner
from memory.ports import Guard
from memory.provenance import owner_before, quarantined
from memory.scope import Layer, Scope
from memory.services.background_task import BackgroundTask
from memory.settings import PASSAGE

log = logging.getLogger(__name__)

EVERY_SECONDS = 6 * 3600.0
"""How often it is looked for what has become too old."""
FIRST_SECONDS = 60.0
"""How long after a start that is done first: who has just started it wants to work."""
WITHIN_SECONDS = 3600.0
REST_SECONDS = 0.05
"""How long requests are given way between two transactions while they come."""


Sort = Literal["passages", "facts"]


class RetentionJournal(Protocol):
    """What this needs of the journal."""

    async def delete_old(
        self,
        before: datetime,
        works: Sequence[str],
        rest: Callable[[], Awaitable[None]],
        people: Collection[str] | None = None,
    ) -> tuple[int, int]:
        """Let go of the exchanges before a time that every one of these works (names of their cursors) has read, of
        these people or of all; how many exchanges and messages went. ``rest`` is awaited between two transactions."""

    async def people(self) -> list[str]:
        """The names of all whose messages there are."""

    async def owners(self) -> list[str]:
        """Every owner that has, or had, memories."""

    async def delete_unkept(self, unkept: Unkept, sort: Sort) -> int:
        """Delete some of the passages or facts that are to go of an owner; how many, 0 when there are none left."""

    async def scrub_deleted(self) -> None:
        """See that what was deleted is overwritten, where the engine can do so."""


class RetentionWorker:
    """The worker. ``works`` names the cursors of all that reads exchanges; while ``resting`` is held nobody else writes
    memories, and ``changed`` is told whose were deleted; ``busy`` says whether requests come."""

    def __init__(
        self,
        policies: Policies,
        journal: RetentionJournal,
        works: Sequence[str],
        guard: Guard,
        now: Callable[[], datetime],
        resting: Callable[[], AbstractAsyncContextManager[None]],
        changed: Callable[[frozenset[str]], None],
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._policies = policies
        self._journal = journal
        self._works = works
        self._guard = guard
        self._now = now
        self._resting = resting
        self._changed = changed
        self._busy = busy
        self._beside = BackgroundTask()

    def start(self) -> None:
        """Begin, where anything is ever to go."""
        if self._policies.any_deleted:
            self._beside.begin(self._run())

    async def stop(self) -> None:
        """Stop; the rest goes after the next start."""
        await self._beside.stop()

    async def delete_expired(self) -> tuple[int, int]:
        """Let go of all exchanges that are too old by now; how many exchanges and messages that were."""
        by_days: dict[int, list[str]] = defaultdict(list)
        for person in await self._journal.people() if self._policies.any_deleted else ():
            if (days := self._policies.of_owner(person).keep_days) is not None:
                by_days[days].append(person)
        exchanges = messages = 0
        for days, people in by_days.items():
            before = self._now() - timedelta(days=days)
            gone = await self._journal.delete_old(before, self._works, self._rest, people)
            exchanges, messages = exchanges + gone[0], messages + gone[1]
            if gone[0]:
                log.info("%d exchanges and %d messages older than %d days are gone", *gone, days)
        return exchanges, messages

    async def delete_memories(self) -> int:
        """Delete all memories that may not be kept any longer; how many that were."""
        deleted = 0
        known = await self._journal.owners() if self._policies.any_deleted else []
        owners = [*known, *quarantined(known)]
        # Which passages tell of people is known from the facts that their messages taught.
        sorts: tuple[Sort, ...] = ("passages", "facts")
        for sort, owner in product(sorts, owners):
            here = sum([await self._all_of(unkept, sort) for unkept in self._expired_of_owner(owner, sort)])
            if here:
                deleted += here
                self._changed(frozenset({owner_before(owner)}))
        if deleted:
            await self._journal.scrub_deleted()
            log.info("%d memories that policies let nobody keep are gone", deleted)
        return deleted

    async def _all_of(self, unkept: Unkept, sort: Sort) -> int:
        deleted = 0
        while True:
            async with self._resting():
                gone = await self._journal.delete_unkept(unkept, sort)
            if not gone:
                return deleted
            deleted += gone
            await self._rest()

    def _expired_of_owner(self, owner: str, sort: Sort) -> list[Unkept]:
        """What is to go of an owner. What is shared by many does not age: it was approved by a person."""
        policy = self._policies.of_owner(owner)
        place = scope_of_owner(owner)
        person = Scope(place.org, place.user).owner(Layer.USER) or ""
        if person and (shelf := owner.removesuffix(owner_before(owner))):
            # What is in quarantine came from messages whose facts about people are there, too.
            person = shelf + person
        found = []
        if not policy.keeps_all:
            found.append(Unkept(owner, restricted=not policy.restricted, personal=not policy.personal, person=person))
        if is_persons(owner_before(owner)):
            kinds = {PASSAGE: ""} if sort == "passages" else {"": ""}
            if sort == "facts" and policy.keep_kinds_days:
                kinds = {kind: kind for kind in FactKind}
            for kind, named in kinds.items():
                if (days := policy.days_of(kind)) is not None:
                    found.append(Unkept(owner, self._now() - timedelta(days=days), kind=named))
        return found

    async def _run(self) -> None:
        await asyncio.sleep(FIRST_SECONDS)
        while True:
            await self._guard(
                self.delete_expired(),
                default=(0, 0),
                timeout_seconds=WITHIN_SECONDS,
                operation="letting go of what is old",
            )
            await self._guard(
                self.delete_memories(),
                default=0,
                timeout_seconds=WITHIN_SECONDS,
                operation="deleting memories that may not be kept",
            )
            await asyncio.sleep(EVERY_SECONDS)

    async def _rest(self) -> None:
        await asyncio.sleep(REST_SECONDS if self._busy() else 0)
