"""Read beforehand what the next requests are likely to need: after a start, and when somebody asks for the first time.

Nothing depends on it. What is read here stays where requests look first (the journal's known memories, the words of
texts, the index's vectors, the pages), each of which has its own bound. It is done in pieces of a few milliseconds,
with a rest between them while requests are under way.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Protocol

from memory.context.question import RecallQuestion
from memory.context.search_results import SearchContext
from memory.fact import Fact, Passage
from memory.language.terms import words_of
from memory.language.words import stems
from memory.ports import Guard, Query
from memory.scope import Scope
from memory.services.background_task import BackgroundTask
from memory.services.context_sources import PageSource
from memory.services.lessons import rules
from memory.services.recall import Recall

SCOPES = 8
"""Places of the sessions seen last that are made ready after a start."""

AT_START = 6144
"""Memories that are read after a start, of all places together: most of what is kept of them."""

AT_FIRST = 2048
"""Memories that are read when somebody asks for the first time: others keep theirs."""

PIECE = 24
"""Memories that are read at once: half a millisecond, and a few for their words, in a thread."""

REHEARSALS = 16
"""Searches that are made for what a place learned last, since what comes next is most often like it."""

REST_SECONDS = 0.02
"""How long others have their turn after each piece while requests are under way."""

KNOWN = 256
"""Owners that are remembered as made ready. Who comes after so many others is made ready again."""


class WarmingJournal(Protocol):
    """What this needs of the journal."""

    async def latest_scopes(self, limit: int) -> list[Scope]:
        """Where sessions were seen last, the newest first; then the projects that hold most."""

    async def newest(self, owners: Sequence[str], limit: int) -> list[str]:
        """The ids of the newest active facts and passages of some owners, of each the newest first."""

    async def memories(self, ids: Sequence[str], owners: Sequence[str]) -> list[Fact | Passage]:
        """Facts and passages by id."""


class CacheWarmer:
    """Reads beforehand. ``pages`` is None where there are none."""

    def __init__(
        self,
        journal: WarmingJournal,
        recall: Recall,
        pages: PageSource | None,
        guard: Guard,
        now: Callable[[], datetime],
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._journal = journal
        self._recall = recall
        self._pages = pages
        self._guard = guard
        self._now = now
        self._busy = busy
        self._ready: OrderedDict[str, None] = OrderedDict()
        self._waiting: OrderedDict[Scope, None] = OrderedDict()
        self._beside = BackgroundTask()

    def start(self) -> None:
        """Begin with those who were here last."""
        self._beside.begin(self._run(begin=True))

    def owner_seen(self, scope: Scope) -> None:
        """Somebody asks. Where an owner has not been made ready yet this is done soon; never waits."""
        if all(owner in self._ready for owner in scope.owners()):
            return
        self._waiting[scope] = None
        if not self._beside.running:
            self._beside.begin(self._run())

    async def stop(self) -> None:
        """Stop at once."""
        await self._beside.stop()

    async def settle(self) -> None:
        """Wait until everybody who is known to be here is made ready."""
        await self._beside.ended()

    async def _warm(self, scope: Scope, most: int) -> int:
        """Make a place ready: its page, at most ``most`` of its newest memories and their words, its vectors. How many
        memories were read."""
        owners = [owner for owner in scope.owners() if owner not in self._ready]
        if not owners:
            return 0
        self._remember(owners)
        if self._pages is not None:
            await self._pages.page(scope)
        ids = await self._journal.newest(owners, most)
        if ids:
            # A search for nothing: it has the index put the vectors of these owners at hand, beside what follows.
            await self._recall.index.search(Query(scope.owners(), None, {}, 1))
        last: list[Fact | Passage] = []
        for start in range(0, len(ids), PIECE):
            memories = await self._journal.memories(ids[start : start + PIECE], owners)
            await asyncio.to_thread(_read_words, memories)
            last = last or memories
            await self._rest()
        for memory in last[:REHEARSALS]:
            if self._busy():
                break
            question = RecallQuestion(memory.text, dict.fromkeys(stems(memory.text), 1.0))
            await self._recall.search(question, SearchContext(tuple(scope.owners()), self._now()))
            await self._rest()
        return len(ids)

    async def _run(self, begin: bool = False) -> None:
        latest: list[Scope] = []
        if begin:
            # First of all: what is said now is learned in a moment.
            await self._guard(
                self._read_rules(), default=None, timeout_seconds=60, operation="reading the rules of texts"
            )
            latest, _ = await self._guard(
                self._journal.latest_scopes(SCOPES),
                default=latest,
                timeout_seconds=60,
                operation="looking who was here last",
            )
        left = AT_START
        while self._waiting or (latest and left > 0):
            # Who asks comes before who may ask.
            if self._waiting:
                scope, _ = self._waiting.popitem(last=False)
                most = left if scope in latest and left > AT_FIRST else AT_FIRST
            else:
                scope, most = latest.pop(0), left
            read, _ = await self._guard(
                self._warm(scope, most), default=0, timeout_seconds=600, operation="reading what may be asked for"
            )
            left -= read

    async def _read_rules(self) -> None:
        """What the start did without: the rules by which is learned."""
        await rules.at_hand(self._rest)

    async def _rest(self) -> None:
        await asyncio.sleep(REST_SECONDS if self._busy() else 0)

    def _remember(self, owners: Iterable[str]) -> None:
        self._ready.update((owner, None) for owner in owners)
        while len(self._ready) > KNOWN:
            self._ready.popitem(last=False)


def _read_words(memories: Iterable[Fact | Passage]) -> None:
    for memory in memories:
        words_of(memory.text)
