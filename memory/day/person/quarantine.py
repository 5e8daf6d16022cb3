"""Where a memory came from; and all that came from somewhere, taken out of the way or put back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from memory.day.learn import Learner
from memory.day.page.files import PageFiles
from memory.fact import Fact, Passage
from memory.provenance import Chosen, Selection, Source, quarantined
from memory.research import QUESTIONS, TRAILS, shelves


class Sources(Protocol):
    """What this needs of the journal."""

    async def source_of(self, memory: Fact | Passage) -> Source:
        """Where a memory came from."""

    async def chosen(self, selection: Selection, owners: Sequence[str]) -> Chosen:
        """The memories of some owners that came from somewhere, and what was derived from them."""

    async def shelve(self, chosen: Chosen, away: bool) -> frozenset[str]:
        """Put memories into quarantine, or take them back; whose they are."""


class Quarantine:
    """The shell over where memories came from. What sessions under way were given already stays in them: only a forget
    moves what a provider has in its cache."""

    def __init__(self, journal: Sources, learner: Learner, pages: PageFiles) -> None:
        self._journal = journal
        self._learner = learner
        self._pages = pages

    async def source_of(self, memory: Fact | Passage) -> Source:
        """Where a memory came from."""
        return await self._journal.source_of(memory)

    async def chosen(self, selection: Selection, owners: Sequence[str], held: bool = False) -> Chosen:
        """What came from somewhere: of what these owners can see, or (``held``) of what is in quarantine."""
        await self._learner.catch_up()
        every = (*owners, *shelves(owners, QUESTIONS), *shelves(owners, TRAILS))
        return await self._journal.chosen(selection, quarantined(every) if held else every)

    async def quarantine(self, selection: Selection, owners: Sequence[str]) -> Chosen:
        """Put into quarantine what came from somewhere."""
        return await self._move(selection, owners, away=True)

    async def release(self, selection: Selection, owners: Sequence[str]) -> Chosen:
        """Take back out of it what came from somewhere."""
        return await self._move(selection, owners, away=False)

    async def _move(self, selection: Selection, owners: Sequence[str], away: bool) -> Chosen:
        chosen = await self.chosen(selection, owners, held=not away)
        async with self._learner.resting():
            whose = await self._journal.shelve(chosen, away)
            self._pages.changed(whose)
        # Not before the index has let go of it is it out of the way.
        await self._learner.catch_up()
        await self._pages.refresh()
        return chosen
