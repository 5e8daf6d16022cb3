"""A question as numbers: how rare its words are among the caller's memories, and the best score there could be.

The relevance floor: a message that has nothing to do with what is remembered recalls nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from memory.context.message_intent import tells
from memory.context.question import RecallQuestion
from memory.context.route import about_then
from memory.fact import Fact, Origin, Passage
from memory.language.terms import rarity, term
from memory.language.words import stem
from memory.ports import IndexHit, TermRarity

LEAST: Final = 50
"""Rarity is reckoned as among at least so many memories: of three memories, none makes a word common."""

RARE: Final = 1.5
"""The power to which a word's rarity counts: what is said by one rare word ("which part arrived *bent*?") is found
before what shares several common ones with the question."""


@dataclass(frozen=True, slots=True)
class WeightedQuery:
    """A question with the weights of its terms.

    ``sparse`` is the query vector; ``best`` the score of a text that has each of the question's words once, the
    unit of coverage; ``familiar`` how much these are words that memory often holds, 0 where it holds none of them.
    """

    sparse: Mapping[int, float]
    best: float
    familiar: float

    def coverage(self, lexical: float) -> float:
        """How much of the question a memory's words cover, 0..1."""
        return min(lexical / self.best, 1.0) if self.best > 0 else 0.0

    def coverages(self, lexical: Iterable[float]) -> list[float]:
        """The same for many at once."""
        best = self.best
        return [each / best if each < best else 1.0 for each in lexical] if best > 0 else [0.0 for _ in lexical]

    def idf(self, word: str) -> float:
        """The weight of a word in the embedded question: its stem's, 0 for a word that carries no subject."""
        weight = self.sparse.get(term(word))
        return weight if weight is not None else self.sparse.get(term(stem(word)), 0.0)


def weigh(question: RecallQuestion, counted: TermRarity) -> WeightedQuery:
    """Weigh a question's stems by their rarity among the caller's memories.

    A word that no memory has weighs most of all, so a question that is mostly about unknown things covers little.
    """
    sparse: dict[int, float] = {}
    documents = max(counted.documents, LEAST)
    known = 0.0
    for name, share in question.stems.items():
        number = term(name)
        rare = rarity(documents, counted.frequency.get(number, 0))
        known += share * rare
        sparse[number] = share * rare**RARE
    unknown = rarity(documents, 0) * sum(question.stems.values())
    return WeightedQuery(sparse, sum(sparse.values()), 1.0 - known / unknown if unknown > 0 else 0.0)


@dataclass(frozen=True, slots=True)
class RelevanceFloor:
    """The least sum of the three signs, each in 0..1, for a message that seeks and for one that orders.

    ``preference`` is the least sum of judgement and cosine of what advice should heed. A question that names a time at
    which something was said needs less by ``timed``.
    Beside what passes, a memory that shares no word with the question needs a cosine of ``alone``: a young memory has
    too little in it to fill the place.
    """

    seeking: float = 0.7
    ordering: float = 1.6
    familiar: float = 1.0
    preference: float = 0.05
    timed: float = 0.35
    alone: float = 0.2


FLOOR = RelevanceFloor()

OPEN = RelevanceFloor(seeking=0.0, ordering=0.0, familiar=0.0, preference=0.0, timed=0.0, alone=0.0)
"""For a person who searches: whatever has anything to do with it."""

_TRACE = 0.05
"""Below this no memory has anything to do with a question, however familiar its words are."""


def passes(
    question: RecallQuestion,
    weighed: WeightedQuery,
    found: Iterable[tuple[IndexHit, Fact | Passage]],
    floor: RelevanceFloor = FLOOR,
) -> bool:
    """Whether a question may recall anything from what was found.

    A turn that only asked or ordered something then is no evidence: it knows no more than the one who asks now.
    """
    least = needed(question, weighed, floor)
    spans = question.route.spans
    return any(
        weighed.coverage(hit.lexical) + max(hit.cosine, 0.0)
        >= max(least - (floor.timed if spans and about_then(memory, spans) > 0 else 0.0), _TRACE)
        and is_evidence(memory)
        for hit, memory in found
    )


def is_evidence(memory: Fact | Passage) -> bool:
    """Whether a memory speaks for itself: a person's turn that states nothing ("Good day.") does not."""
    return isinstance(memory, Fact) or memory.origin is not Origin.USER or tells(memory.text)


def needed(question: RecallQuestion, weighed: WeightedQuery, floor: RelevanceFloor = FLOOR) -> float:
    """The least that coverage and cosine must add up to."""
    return floor.seeking + question.work * (floor.ordering - floor.seeking) - floor.familiar * weighed.familiar
