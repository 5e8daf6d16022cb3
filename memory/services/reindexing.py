"""Fill a new index beside the one that is searched, then search the new one: for another embedder, or to mend it.

Serving goes on meanwhile: what is learned on the way goes into both. Only the switch itself waits for the worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from memory.ports import Embedder, Generation, Index, Journal, StoreError
from memory.services.learn import Learner
from memory.services.lessons.indexing import IndexWorker
from memory.services.recall import Recall

log = logging.getLogger(__name__)


class IndexGenerations(Protocol):
    """Where indexes are begun and given up."""

    async def begin(self, embedder: Embedder) -> tuple[Generation, Index]:
        """A new index beside the current one."""

    async def switch(self, generation: Generation) -> None:
        """From now on this one is searched; the others, which are closed, are removed."""

    async def drop(self, generation: Generation) -> None:
        """Give up an index that is not open."""


class ReindexInProgress(RuntimeError):
    """An index is being filled already."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a new index is: memories taken in, of how many. ``fault`` says why it was given up."""

    embedder: str
    done: int
    total: int
    finished: bool = False
    fault: str = ""


class Reindexer:
    """Changes the index under a running server, one change at a time."""

    def __init__(self, journal: Journal, generations: IndexGenerations, recall: Recall, learner: Learner) -> None:
        self._journal = journal
        self._generations = generations
        self._recall = recall
        self._learner = learner
        self._running = False
        self.progress: Progress | None = None

    @property
    def running(self) -> bool:
        """Whether an index is being filled."""
        return self._running

    async def run(self, name: str, load: Callable[[], Embedder]) -> Progress:
        """Fill an index with an embedder's vectors and switch to it. ``load`` is called in a thread; ``name`` is what
        the embedder is called until then.

        Raises:
            Busy: when one is being filled already.
            Exception: whatever the embedder or the store could not do; the old index is still searched then.
        """
        if self._running:
            raise ReindexInProgress("an index is being filled already: wait until it is done (`palimpsest status`)")
        self._running = True
        self.progress = Progress(name, 0, 0)
        try:
            await self._fill(await asyncio.to_thread(load))
        except BaseException as error:
            self.progress = replace(self.progress, finished=True, fault=str(error) or type(error).__name__)
            raise
        finally:
            self._running = False
        self.progress = replace(self.progress, done=self.progress.total, finished=True)
        log.info("a new index was filled from the journal and is searched now: %d memories", self.progress.total)
        return self.progress

    async def _fill(self, embedder: Embedder) -> None:
        assert self.progress is not None
        generation, index = await self._generations.begin(embedder)
        try:
            total = await self._waiting(generation)
            self.progress = replace(self.progress, total=total)
            indexing = IndexWorker(self._journal, index, embedder, generation.number)
            while await indexing.step():
                left = await self._waiting(generation)
                total = max(total, left)
                self.progress = replace(self.progress, done=total - left, total=total)
                await asyncio.sleep(0)
            async with self._learner.resting():
                await indexing.catch_up()
                await self._journal.switch_generation(generation.number)
                old, self._recall.index, self._recall.embedder = self._recall.index, index, embedder
                with contextlib.suppress(StoreError):
                    # What of the old index cannot be removed now is removed at the next start.
                    await old.close()
                    await self._generations.switch(generation)
        except BaseException:
            if self._recall.index is not index:
                await index.close()
                await self._generations.drop(generation)
            raise

    async def _waiting(self, generation: Generation | None) -> int:
        return await self._journal.waiting(generation.number if generation else None)
