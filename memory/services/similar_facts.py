"""Known facts that are like a text: what something new is held against."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from memory.context.lexical import weigh
from memory.context.question import RecallQuestion
from memory.fact import Fact
from memory.language.terms import product
from memory.language.words import stems
from memory.ports import Journal, Query
from memory.services.lessons.indexing import points_of
from memory.services.recall import Recall

MOST: Final = 8
"""Facts of the index that are given."""


class SimilarFactSearch:
    """Finds them."""

    def __init__(self, journal: Journal, recall: Recall) -> None:
        self._journal = journal
        self._recall = recall

    async def __call__(
        self, owner: str, text: str, unindexed: Iterable[Fact] = (), /
    ) -> list[tuple[Fact, float, float]]:
        """Known facts of an owner that are like a text, each with cosine and coverage; also those just written."""
        question = RecallQuestion(text, dict.fromkeys(stems(text), 1.0))
        weighed = weigh(question, await self._journal.rarity([owner], question.terms))
        embedder = self._recall.embedder
        embedded = embedder.documents([text]) if embedder.quick else await asyncio.to_thread(embedder.documents, [text])
        dense = embedded[0]
        found = await self._recall.index.search(Query((owner,), dense, weighed.sparse, MOST, sort="fact"))
        scores = {hit.id: (hit.cosine, weighed.coverage(hit.lexical)) for hit in found}
        fresh = [fact for fact in unindexed if fact.owner == owner]
        facts = {fact.id: fact for fact in await self._journal.facts(list(scores), [owner])}
        points = points_of(fresh, embedder) if embedder.quick else await asyncio.to_thread(points_of, fresh, embedder)
        for fact, point in zip(fresh, points, strict=True):
            facts[fact.id] = fact
            scores[fact.id] = (float(point.dense @ dense), weighed.coverage(product(point.sparse, weighed.sparse)))
        return [(fact, *scores[id]) for id, fact in facts.items()]
