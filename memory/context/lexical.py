"""A question as numbers: how rare its words are among the caller's memories, and the best score there could be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memory.context.question import Question
from memory.language.terms import rarity, term
from memory.language.words import stem
from memory.ports import Rarity


@dataclass(frozen=True, slots=True)
class Weighed:
    """A question with the weights of its terms.

    ``sparse`` is the query vector; ``best`` the score of a text that has each of the question's words once, the
    unit of coverage; ``known`` the share of that weight whose words occur in any memory at all.
    """

    sparse: Mapping[int, float]
    best: float
    known: float

    def coverage(self, lexical: float) -> float:
        """How much of the question a memory's words cover, 0..1."""
        return min(lexical / self.best, 1.0) if self.best > 0 else 0.0

    def idf(self, word: str) -> float:
        """The weight of a word in the embedded question: its stem's, 0 for a word that carries no subject."""
        weight = self.sparse.get(term(word))
        return weight if weight is not None else self.sparse.get(term(stem(word)), 0.0)


def weigh(question: Question, counted: Rarity) -> Weighed:
    """Weigh a question's stems by their rarity among the caller's memories.

    A word that no memory has weighs most of all, so a question that is mostly about unknown things covers little.
    """
    sparse: dict[int, float] = {}
    known = 0.0
    for name, share in question.stems.items():
        number = term(name)
        frequency = counted.frequency.get(number, 0)
        sparse[number] = share * rarity(counted.documents, frequency)
        if frequency:
            known += sparse[number]
    best = sum(sparse.values())
    return Weighed(sparse, best, known / best if best > 0 else 0.0)
