"""Where memories were learnt, at hand: read once, beside the requests that ask for it.

The journal as this feature needs it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from memory.checkout import Branch, Citation, LearnedAt
from memory.fact import Fact, Passage

log = logging.getLogger(__name__)

AT_ONCE: Final = 24
"""Memories that are asked for at once: so many the journal looks up here and now."""
MOST: Final = 4096


class LearnedAtJournal(Protocol):
    """What this needs of the journal."""

    async def learnt(self, memories: Sequence[str]) -> dict[str, LearnedAt]:
        """Where memories were learnt, by their ids, as far as that is known."""


class Rows:
    """The rows that were read since anything was written."""

    def __init__(self, journal: LearnedAtJournal) -> None:
        self._journal = journal
        self._known: dict[str, LearnedAt | None] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}
        """By memory the read that is under way for ``_known``."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def of(self, ids: Sequence[str], seconds: float) -> dict[str, LearnedAt | None]:
        """Where memories were learnt, None for those learnt nowhere, as far as that is read within so many seconds.
        What is not goes on being read, for the next request."""
        if len(self._known.keys() | set(ids)) > MOST:
            self.written()
        known, reading = self._known, self._reading
        unread = [id for id in ids if id not in known]
        if unread:
            new = [id for id in unread if id not in reading]
            if new:
                task = asyncio.create_task(self._read(new, known, reading))
                reading.update(dict.fromkeys(new, task))
                self._tasks.add(task)
                task.add_done_callback(self._ended)
            # Neither the time nor a request that is given up ends a read.
            await asyncio.wait({reading[id] for id in unread}, timeout=seconds)
        return {id: known[id] for id in ids if id in known}

    def written(self) -> None:
        """Something was written: what is at hand, or being read, may be old."""
        self._known, self._reading = {}, {}

    async def stop(self) -> None:
        """Read no further."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read(
        self, ids: Sequence[str], known: dict[str, LearnedAt | None], reading: dict[str, asyncio.Task[None]]
    ) -> None:
        try:
            for start in range(0, len(ids), AT_ONCE):
                some = ids[start : start + AT_ONCE]
                found = await self._journal.learnt(some)
                known |= {id: found.get(id) for id in some}
        finally:
            for id in ids:
                reading.pop(id, None)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.warning("where memories were learnt could not be read: %s", type(error).__name__)


class CheckoutJournal(Protocol):
    @property
    def works(self) -> bool: ...
    async def learnt(self, memories: Sequence[str]) -> dict[str, LearnedAt]: ...
    async def unlooked(self, repository: str, limit: int) -> list[tuple[str, str]]: ...
    async def looked(self, cited: Mapping[str, Sequence[Citation]]) -> None: ...
    async def awaiting(self, repository: str, limit: int) -> list[LearnedAt]: ...
    async def branches(self, repository: str) -> list[Branch]: ...
    async def anchors(self, repository: str, branch: str) -> list[tuple[str, str, str]]: ...
    async def follow(
        self,
        branches: Sequence[Branch],
        renamed: Mapping[str, str],
        ended: Mapping[str, tuple[str, Sequence[str]]],
        anchors: Mapping[str, str],
        repository: str,
    ) -> frozenset[str]: ...
    async def learnt_on(self, branch: str, owners: Sequence[str], limit: int) -> list[str]: ...
    async def counted(self, owners: Sequence[str], limit: int) -> list[Any]: ...
    async def learnt_after(self, owner: str, after: str, limit: int) -> list[LearnedAt]: ...
    async def learn_where(self, learnt: LearnedAt) -> bool: ...
    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]: ...
    async def memories(self, ids: Sequence[str], owners: Sequence[str]) -> list[Fact | Passage]: ...
