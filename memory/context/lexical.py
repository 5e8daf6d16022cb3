"""A question as numbers: how rare its words are among the caller's memories, and the best score there could be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from memory.context.question import RecallQuestion
from memory.language.terms import rarity, term
from memory.language.words import stem
from memory.ports import TermRarity

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
