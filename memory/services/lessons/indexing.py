"""Bring the index up to what is known: an outbox in the journal says what it has still to take in or let go.

After every lesson, after a crash and after a rebuild the work is the same, so there is one way to do it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from memory.context.graph import names_in
from memory.fact import Fact, Passage
from memory.language.terms import document_terms
from memory.learning.research import TYPICAL
from memory.ports import Embedder, Index, Journal, Lag, Lesson, MemoryUse, Point
from memory.research import QUESTIONS, TRAILS

BATCH = 256
"""Memories that are embedded and written at once."""

FEW = 4
"""Memories that a quick embedder embeds on the loop: some tenths of a millisecond."""

PASSAGE = 80.0
"""Stems of a typical passage of a trail."""


def speaker_of(memory: Fact | Passage) -> str:
    """Who said it, which is indexed as words of the text: half of what is asked for later is who said it. A piece of
    research was said by nobody."""
    if not isinstance(memory, Passage) or _shelved(memory) or memory.text.startswith(f"{memory.speaker}:"):
        return ""
    return memory.speaker


def terms_of(memory: Fact | Passage) -> frozenset[int]:
    """The terms of a memory as they are counted among its owner's texts."""
    return frozenset(_weighed_terms(memory))


def _weighed_terms(memory: Fact | Passage) -> dict[int, float]:
    if isinstance(memory, Passage) and _shelved(memory):
        return document_terms(memory.text, typical=TYPICAL.get(memory.speaker, PASSAGE))
    return document_terms(memory.text, speaker_of(memory))


def _shelved(memory: Passage) -> bool:
    return memory.owner.startswith((QUESTIONS, TRAILS))


def points_of(memories: Sequence[Fact | Passage], embedder: Embedder) -> list[Point]:
    """Memories as points of an index."""
    if not memories:
        return []
    spoken = [f"{speaker_of(memory)}: {memory.text}" if speaker_of(memory) else memory.text for memory in memories]
    vectors = embedder.documents(spoken)
    return [
        Point(
            id=memory.id,
            owner=memory.owner,
            sort="fact" if isinstance(memory, Fact) else "turn",
            at=memory.valid_from.timestamp(),
            dense=vector,
            sparse=_weighed_terms(memory),
        )
        for memory, vector in zip(memories, vectors, strict=True)
    ]


class IndexWorker:
    """Fills one generation of the index."""

    def __init__(self, journal: Journal, index: Index, embedder: Embedder, generation: int | None = None) -> None:
        self._journal = journal
        self._index = index
        self._embedder = embedder
        self._generation = generation

    async def catch_up(self) -> int:
        """Take in everything that waits; how many memories that were."""
        done, step = 0, BATCH
        while step >= BATCH:
            done += (step := await self.step())
        return done

    async def step(self, limit: int = BATCH) -> int:
        """Take in some of what waits; 0 when nothing does."""
        lag = await self._journal.unindexed(limit, self._generation)
        if lag.ids:
            await self._take(lag)
        return len(lag.ids)

    async def _take(self, lag: Lag) -> None:
        if lag.gone:
            await self._index.delete(lag.gone)
        memories: list[Fact | Passage] = [*lag.facts, *lag.passages]
        if len(memories) <= FEW and self._embedder.quick:
            points = points_of(memories, self._embedder)
        else:
            points = await asyncio.to_thread(points_of, memories, self._embedder)
        if points:
            await self._index.upsert(points)
        await self._journal.mark_indexed(lag.ids, self._generation)


def lesson_of(
    number: int,
    facts: Sequence[Fact],
    passages: Sequence[Passage],
    known: frozenset[str] = frozenset(),
    uses: Sequence[MemoryUse] = (),
) -> Lesson:
    """What is written of facts and passages. Facts that were ``known`` have only changed: their words are counted
    already."""
    documents: Counter[str] = Counter()
    terms: dict[str, Counter[int]] = {}
    counted: list[Fact | Passage] = [*(fact for fact in facts if fact.id not in known), *passages]
    for memory in counted:
        documents[memory.owner] += 1
        terms.setdefault(memory.owner, Counter()).update(terms_of(memory))
    every: list[Fact | Passage] = [*facts, *passages]
    names = {memory.id: names_in(memory) for memory in every}
    return Lesson(number, tuple(facts), tuple(passages), documents, terms, tuple(uses), names=names)
