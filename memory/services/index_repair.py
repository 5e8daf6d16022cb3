"""A worker that looks after the index: where somebody has deleted its folder, it is filled anew from the journal.

Until then the memories that are at hand are still found; what is deleted, said, and made again is told in health.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from memory.ports import Generation, Guard, StoreError
from memory.services.background_task import BackgroundTask
from memory.services.recall import Recall
from memory.services.reindexing import Reindexer

LOOK_SECONDS = 15.0
"""How often it is looked whether the index is still there."""
WITHIN_SECONDS = 24 * 3600.0


class IndexRepairJournal(Protocol):
    """What this needs of the journal."""

    async def generations(self) -> list[Generation]:
        """All indexes that are kept up to date."""


class IndexFolders(Protocol):
    """Where indexes lie."""

    async def there(self, generation: Generation) -> bool:
        """Whether an index that was opened still lies where it was.

        Raises:
            StoreError: when that cannot be told.
        """


class IndexRepairWorker:
    """The worker."""

    def __init__(
        self, journal: IndexRepairJournal, places: IndexFolders, reindexing: Reindexer, recall: Recall, guard: Guard
    ) -> None:
        self._journal = journal
        self._places = places
        self._reindexing = reindexing
        self._recall = recall
        self._guard = guard
        self._beside = BackgroundTask()

    def start(self) -> None:
        """Begin to look."""
        self._beside.begin(self._run())

    async def stop(self) -> None:
        """Look no more. An index that is being filled is given up, and filled after the next start."""
        await self._beside.stop()

    async def look(self) -> bool:
        """Whether the index was gone, and is filled anew."""
        missing: list[Generation] = []
        await self._guard(
            self._check(missing), default=None, timeout_seconds=LOOK_SECONDS, operation="looking after the index"
        )
        if not missing or self._reindexing.running:
            return False
        held = self._recall.embedder
        _, why = await self._guard(
            self._reindexing.run(held.name, lambda: held),
            default=None,
            timeout_seconds=WITHIN_SECONDS,
            operation="filling a new index",
        )
        return not why

    async def _check(self, missing: list[Generation]) -> None:
        for generation in await self._journal.generations():
            if generation.current and not await self._places.there(generation):
                missing.append(generation)
                raise StoreError("what the index lay in is gone; it is filled anew from the journal")

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.look()
