"""Where a memory came from; and all that came from somewhere, taken out of the way or put back."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from memory.fact import Fact, Passage
from memory.ports import Guard
from memory.provenance import MemorySource, SelectedMemories, Selection, quarantined
from memory.research import QUESTIONS, TRAILS, index_owners
from memory.services.background_task import BackgroundTask
from memory.services.learn import Learner
from memory.services.page.files import PageFiles

log = logging.getLogger(__name__)


class ProvenanceJournal(Protocol):
    """What this needs of the journal."""

    async def source_of(self, memory: Fact | Passage) -> MemorySource:
        """Where a memory came from."""

    async def chosen(self, selection: Selection, owners: Sequence[str]) -> SelectedMemories:
        """The memories of some owners that came from somewhere, and what was derived from them."""

    async def shelve(self, chosen: SelectedMemories, away: bool) -> frozenset[str]:
        """Put memories into quarantine, or take them back; whose they are."""


LEARN_SECONDS = 2.0
"""For how long it is learned from what was said before it is looked what came from somewhere."""

LATER_SECONDS = 3600.0
"""How long the rest of that may take, behind what was asked."""

Owners = Callable[[], Awaitable[Sequence[str]]]
"""Whose memories are meant; asked again when more is learned, of which the owner may be a new one."""


class Quarantine:
    """Manages where memories came from. What sessions under way were given already stays in them: only a forget
    moves what a provider has in its cache."""

    def __init__(self, journal: ProvenanceJournal, learner: Learner, pages: PageFiles, guard: Guard) -> None:
        self._journal = journal
        self._learner = learner
        self._pages = pages
        self._guard = guard
        self._following = BackgroundTask()
        self._waiting: list[tuple[Selection, Owners]] = []

    async def stop(self) -> None:
        """End; what was to be put into quarantine when it is learned is not."""
        await self._following.stop()
        if self._waiting:
            log.warning("stopped before all was learned that was to be put into quarantine: ask for that again")

    async def settle(self) -> None:
        """Wait until all that was to be put into quarantine is."""
        await self._following.ended()

    async def source_of(self, memory: Fact | Passage) -> MemorySource:
        """Where a memory came from."""
        return await self._journal.source_of(memory)

    async def learned(self) -> int:
        """Learn from what was said before, for a moment; how many exchanges are still to be learned from."""
        return await self._learner.catch_up_for(LEARN_SECONDS)

    async def chosen(self, selection: Selection, owners: Sequence[str], held: bool = False) -> SelectedMemories:
        """What came from somewhere: of what these owners can see, or (``held``) of what is in quarantine."""
        every = (*owners, *index_owners(owners, QUESTIONS), *index_owners(owners, TRAILS))
        return await self._journal.chosen(selection, quarantined(every) if held else every)

    async def quarantine(self, selection: Selection, owners: Owners) -> tuple[SelectedMemories, int]:
        """Put into quarantine what came from somewhere, and how many exchanges are still to be learned from: what they
        teach that came from there follows when that is done."""
        behind = await self.learned()
        chosen = await self._move(selection, await owners(), away=True)
        if behind:
            self._waiting.append((selection, owners))
            if not self._following.running:
                self._following.begin(self._follow())
        return chosen, behind

    async def release(self, selection: Selection, owners: Owners) -> SelectedMemories:
        """Take back out of it what came from somewhere."""
        self._waiting = [each for each in self._waiting if each[0] != selection]
        return await self._move(selection, await owners(), away=False)

    async def _follow(self) -> None:
        while self._waiting:
            waiting = list(self._waiting)
            await self._guard(
                self._move_learned(waiting),
                default=None,
                timeout_seconds=LATER_SECONDS,
                operation="putting into quarantine what was learned since",
            )
            self._waiting = [each for each in self._waiting if each not in waiting]

    async def _move_learned(self, waiting: Sequence[tuple[Selection, Owners]]) -> None:
        await self._learner.catch_up()
        for each in waiting:
            if each in self._waiting:
                selection, owners = each
                await self._move(selection, await owners(), away=True)

    async def _move(self, selection: Selection, owners: Sequence[str], away: bool) -> SelectedMemories:
        async with self._learner.resting():
            chosen = await self.chosen(selection, owners, held=not away)
            whose = await self._journal.shelve(chosen, away)
            self._pages.changed(whose)
            # Not before the index has let go of it is it out of the way.
            await (self._learner.drop_from_index(chosen.ids) if away else self._learner.fill_index())
        await self._pages.refresh()
        return chosen
