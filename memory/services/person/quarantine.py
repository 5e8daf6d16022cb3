"""Where a memory came from; and all that came from somewhere, taken out of the way or put back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, takewhile
from operator import ne
from typing import Protocol

import msgspec

from memory.fact import Fact, Passage
from memory.member import Asker, Releaser
from memory.ports import Guard, StoreError
from memory.provenance import MemorySource, SelectedMemories, Selection, quarantined
from memory.research import QUESTIONS, TRAILS, index_owners
from memory.scope import Scope
from memory.services.background_task import BackgroundTask
from memory.services.learn import Learner
from memory.services.page.files import PageFiles


class ProvenanceJournal(Protocol):
    """What this needs of the journal."""

    async def source_of(self, memory: Fact | Passage) -> MemorySource:
        """Where a memory came from."""

    async def chosen(self, selection: Selection, owners: Sequence[str]) -> SelectedMemories:
        """The memories of some owners that came from somewhere, and what was derived from them."""

    async def shelve(self, chosen: SelectedMemories, by: Callable[[str], Releaser] | None) -> frozenset[str]:
        """Put memories into quarantine, with who may release those of an owner, or (None) take them back; whose they
        are."""

    @property
    def works(self) -> bool:
        """Whether it is learned here."""

    async def meta(self, name: str) -> bytes | None:
        """What stands under a name."""

    async def set_meta(self, name: str, value: bytes) -> None:
        """Write something under a name."""


LEARN_SECONDS = 2.0
"""For how long it is learned from what was said before it is looked what came from somewhere."""

LATER_SECONDS = 3600.0
"""How long the rest of that may take, behind what was asked."""

AGAIN_SECONDS = 30.0
"""How long after a failure that is tried again."""

PENDING = "pending_quarantine"
"""Under this name the journal keeps what is to be put into quarantine when it is learned."""


ANYBODY = Asker()
"""Who runs the server."""


@dataclass(frozen=True, slots=True)
class PendingQuarantine:
    """What is to be put into quarantine when it is learned, of what ``asker`` may change, ``for_review`` or not. Whose
    that is is asked then: an owner may be a new one."""

    selection: Selection
    scope: Scope
    asker: Asker = ANYBODY
    for_review: bool = False

    def may_be_set_by(self, other: Asker, owners: Sequence[str]) -> bool:
        """Whether somebody might have asked for it: who runs the server, or the same person, while they may still
        change what they might then of these owners; what waits ``for_review``, whoever may change all of these."""
        if other.everything:
            return True
        if self.for_review and owners and all(map(other.changes, owners)):
            return True
        if self.asker.everything or (self.asker.org, self.asker.user) != (other.org, other.user):
            return False
        return all(other.changes(owner) for owner in owners if self.asker.changes(owner))


class Quarantine:
    """Manages where memories came from. What sessions under way were given already stays in them: only a forget
    moves what a provider has in its cache."""

    def __init__(
        self,
        journal: ProvenanceJournal,
        learner: Learner,
        pages: PageFiles,
        guard: Guard,
        everything_of: Callable[[Scope], Awaitable[Sequence[str]]],
    ) -> None:
        self._journal = journal
        self._learner = learner
        self._pages = pages
        self._guard = guard
        self._everything_of = everything_of
        self._following = BackgroundTask()
        self._asked = False
        self._changing = asyncio.Lock()

    def start(self) -> None:
        """Go on with what was to be put into quarantine before it was stopped."""
        self._asked = True
        if not self._following.running:
            self._following.begin(self._follow())

    async def stop(self) -> None:
        """End; what is still to be put into quarantine is when this is started again."""
        await self._following.stop()

    async def settle(self) -> None:
        """Wait until all that was to be put into quarantine is."""
        await self._following.ended()

    async def pending(self) -> list[PendingQuarantine]:
        """What is to be put into quarantine when it is learned."""
        kept = await self._journal.meta(PENDING)
        return msgspec.json.decode(kept, type=list[PendingQuarantine]) if kept else []

    async def source_of(self, memory: Fact | Passage) -> MemorySource:
        """Where a memory came from."""
        return await self._journal.source_of(memory)

    async def learned(self) -> int:
        """Learn from what was said before, for a moment; how many exchanges are still to be learned from."""
        return await self._learner.catch_up_for(LEARN_SECONDS)

    async def chosen(self, selection: Selection, owners: Sequence[str], held: bool = False) -> SelectedMemories:
        """What came from somewhere: of what these owners can see, or (``held``) of what is in quarantine."""
        every = _with_shelves(owners)
        return await self._journal.chosen(selection, quarantined(every) if held else every)

    async def quarantine(
        self, selection: Selection, scope: Scope, asker: Asker = ANYBODY, for_review: bool = False
    ) -> tuple[SelectedMemories, int]:
        """Put into quarantine what came from somewhere, of what ``asker`` may change, and how many exchanges are still
        to be learned from: what they teach that came from there follows when that is done, after a restart too.

        Nobody releases it who may less than ``asker``, unless it is put there ``for_review``: by whoever may change
        it."""
        behind = await self.learned()
        asked = PendingQuarantine(selection, scope, asker, for_review)
        chosen = await self._put_away(asked)
        if behind:
            async with self._changing:
                pending = await self.pending()
                await self._keep([*pending, *([asked] if asked not in pending else [])])
            self.start()
        return chosen, behind

    async def release(self, selection: Selection, scope: Scope, asker: Asker = ANYBODY) -> SelectedMemories:
        """Take back out of it what came from somewhere, and everything where the selection is empty, of what ``asker``
        may change and release. What is still to be put there is cancelled where they might have asked for it
        themselves."""
        async with self._changing:
            pending, every = await self.pending(), await self._owners_in(scope)
            gone = [
                each
                for each in pending
                if each.scope == scope and (selection.empty or each.selection == selection)
                if each.may_be_set_by(asker, every)
            ]
            if gone:
                await self._keep([each for each in pending if each not in gone])
        return await self._take_back(selection, scope, asker)

    async def _follow(self) -> None:
        doing = "putting into quarantine what was learned since"
        while self._asked:
            self._asked = False
            pending, why = await self._guard(self.pending(), default=[], timeout_seconds=LATER_SECONDS, operation=doing)
            for asked in pending:
                moving = self._move_learned(asked)
                _, fault = await self._guard(moving, default=None, timeout_seconds=LATER_SECONDS, operation=doing)
                why = why or fault
            if why:
                self._asked = True
                await asyncio.sleep(AGAIN_SECONDS)

    async def _move_learned(self, asked: PendingQuarantine) -> None:
        await self._learner.catch_up()
        if not self._journal.works:
            raise StoreError("it is learned elsewhere now")
        async with self._changing:
            # It may have been released meanwhile.
            if asked in (pending := await self.pending()):
                await self._put_away(asked)
                await self._keep([each for each in pending if each != asked])

    async def _keep(self, pending: Sequence[PendingQuarantine]) -> None:
        await self._journal.set_meta(PENDING, msgspec.json.encode(pending))

    async def _owners_in(self, scope: Scope) -> Sequence[str]:
        return scope.owners() if scope.project else await self._everything_of(scope)

    async def _put_away(self, asked: PendingQuarantine) -> SelectedMemories:
        owners, asker = _with_shelves(await self._changed_by(asked.asker, asked.scope)), asked.asker

        def by(owner: str) -> Releaser:
            return Releaser.CHANGER if asked.for_review else asker.released_by(_without_shelf(owner))

        # What others could release who may less is not theirs to release any more.
        below = [held for owner in owners for held in quarantined([owner], takewhile(partial(ne, by(owner)), Releaser))]
        async with self._learner.resting():
            chosen = await self._journal.chosen(asked.selection, (*owners, *below))
            self._pages.changed(await self._journal.shelve(chosen, by))
            # Not before the index has let go of it is it out of the way.
            await self._learner.drop_from_index(chosen.ids)
        await self._pages.refresh()
        return chosen

    async def _take_back(self, selection: Selection, scope: Scope, asker: Asker) -> SelectedMemories:
        owners = _with_shelves(await self._changed_by(asker, scope))
        there = [held for owner in owners for held in quarantined([owner], _releases(asker, owner))]
        async with self._learner.resting():
            chosen = await self._journal.chosen(selection, there)
            self._pages.changed(await self._journal.shelve(chosen, None))
            await self._learner.fill_index()
        await self._pages.refresh()
        return chosen

    async def kept_from(self, selection: Selection, scope: Scope, asker: Asker) -> bool:
        """Whether some of what came from somewhere is in quarantine that ``asker`` may change and not release: who may
        more has put it there."""
        owners = _with_shelves(await self._changed_by(asker, scope))
        every = [quarantined([owner], set(Releaser).difference(_releases(asker, owner))) for owner in owners]
        return bool((await self._journal.chosen(selection, [*chain(*every)])).ids)

    async def _changed_by(self, asker: Asker, scope: Scope) -> list[str]:
        return [owner for owner in await self._owners_in(scope) if asker.changes(owner)]


def _with_shelves(owners: Sequence[str]) -> tuple[str, ...]:
    """Some owners, and their shelves of research."""
    return (*owners, *index_owners(owners, QUESTIONS), *index_owners(owners, TRAILS))


def _releases(asker: Asker, owner: str) -> tuple[Releaser, ...]:
    return asker.releases(_without_shelf(owner))


def _without_shelf(owner: str) -> str:
    return owner.removeprefix(QUESTIONS).removeprefix(TRAILS)
