"""Where a memory came from; and all that came from somewhere, taken out of the way or put back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from memory.fact import Fact, Passage
from memory.provenance import MemorySource, SelectedMemories, Selection, quarantined
from memory.research import QUESTIONS, TRAILS, index_owners
from memory.services.learn import Learner
from memory.services.page.files import PageFiles


class ProvenanceJournal(Protocol):
    """What this needs of the journal."""

    async def source_of(self, memory: Fact | Passage) -> MemorySource:
        """Where a memory came from."""

    async def chosen(self, selection: Selection, owners: Sequence[str]) -> SelectedMemories:
        """The memories of some owners that came from somewhere, and what was derived from them."""

    async def shelve(self, chosen: SelectedMemories, away: bool) -> frozenset[str]:
        """Put memories into quarantine, or take them back; whose they are."""


class Quarantine:
    """Manages where memories came from. What sessions under way were given already stays in them: only a forget
    moves what a provider has in its cache."""

    def __init__(self, journal: ProvenanceJournal, learner: Learner, pages: PageFiles) -> None:
        self._journal = journal
        self._learner = learner
        self._pages = pages

    async def source_of(self, memory: Fact | Passage) -> MemorySource:
        """Where a memory came from."""
        return await self._journal.source_of(memory)

    async def chosen(self, selection: Selection, owners: Sequence[str], held: bool = False) -> SelectedMemories:
        """What came from somewhere: of what these owners can see, or (``held``) of what is in quarantine."""
        await self._learner.catch_up()
        every = (*owners, *index_owners(owners, QUESTIONS), *index_owners(owners, TRAILS))
        return await self._journal.chosen(selection, quarantined(every) if held else every)

    async def quarantine(self, selection: Selection, owners: Sequence[str]) -> SelectedMemories:
        """Put into quarantine what came from somewhere."""
        return await self._move(selection, owners, away=True)

    async def release(self, selection: Selection, owners: Sequence[str]) -> SelectedMemories:
        """Take back out of it what came from somewhere."""
        return await self._move(selection, owners, away=False)

    async def _move(self, selection: Selection, owners: Sequence[str], away: bool) -> SelectedMemories:
        chosen = await self.chosen(selection, owners, held=not away)
        async with self._learner.resting():
            whose = await self._journal.shelve(chosen, away)
            self._pages.changed(whose)
        # Not before the index has let go of it is it out of the way.
        await self._learner.catch_up()
        await self._pages.refresh()
        return chosen
