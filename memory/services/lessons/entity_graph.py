"""A worker that files what was learnt under the names that stand in it, so that recall can go from name to name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from memory.context.graph import names_in
from memory.fact import Fact, Passage
from memory.ports import Guard
from memory.services.worker import Worker

PIECE = 64
"""Memories that are filed in one transaction: a few milliseconds."""
FEW = 4
"""Memories whose names are found on the loop: some tenths of a millisecond."""
REST_SECONDS = 0.02
WITHIN_SECONDS = 30.0


class EntityGraphJournal(Protocol):
    """What this needs of the journal."""

    async def graph_due(self, limit: int) -> list[Fact | Passage]:
        """Memories that the graph has still to take in."""

    async def file_names(self, names: Mapping[str, tuple[str, Sequence[str]]]) -> None:
        """Take memories in: by id the owner and the names."""


class EntityGraphWorker:
    """The worker. ``busy`` says whether requests come: they go first."""

    def __init__(self, journal: EntityGraphJournal, guard: Guard, busy: Callable[[], bool] = lambda: False) -> None:
        self._journal = journal
        self._guard = guard
        self._busy = busy
        self._worker = Worker(self._work)

    def start(self) -> None:
        """Begin with what was left behind."""
        self._worker.start()

    async def stop(self) -> None:
        """Stop; the rest is done after the next start."""
        await self._worker.stop()

    async def catch_up(self) -> int:
        """Take in everything that waits; how many memories that were."""
        done = 0
        due = await self._journal.graph_due(PIECE)
        while due:
            await self._journal.file_names(await asyncio.to_thread(_named, due) if len(due) > FEW else _named(due))
            done += len(due)
            due = await self._journal.graph_due(PIECE) if len(due) == PIECE else []
            await asyncio.sleep(REST_SECONDS if self._busy() else 0)
        return done

    async def _work(self) -> None:
        await self._guard(self.catch_up(), default=0, timeout_seconds=WITHIN_SECONDS, operation="filing names")


def _named(memories: Sequence[Fact | Passage]) -> dict[str, tuple[str, Sequence[str]]]:
    return {each.id: (each.owner, names_in(each)) for each in memories}
