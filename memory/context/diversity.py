"""The same thing once: near-identical memories are dropped, and likeness to what was chosen costs rank (MMR)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from memory.context.rank import Scored
from memory.fact import Fact
from memory.language.terms import likeness, term
from memory.language.words import stems


@dataclass(frozen=True, slots=True)
class Diversity:
    """``likeness`` is how much of a score is lost to a whole likeness with something better; ``same`` is the share
    of words from which on two memories are the same; only the best ``considered`` are compared."""

    likeness: float = 0.1
    same: float = 0.85
    considered: int = 60


DIVERSITY = Diversity()


def diverse(scored: Sequence[Scored], diversity: Diversity = DIVERSITY) -> list[Scored]:
    """The best memories in the order in which they should be taken, near-identical ones once."""
    pool = [(each, words_of(each.memory.text)) for each in islice(scored, diversity.considered)]
    taken: list[Scored] = []
    closest = [0.0] * len(pool)
    left = list(range(len(pool)))
    while left:
        best = max(left, key=lambda i: (pool[i][0].score * (1.0 - diversity.likeness * closest[i]), -i))
        left.remove(best)
        chosen, chosen_terms = pool[best]
        taken.append(chosen)
        kept = []
        for index in left:
            other, other_terms = pool[index]
            # A fact and the passage it was taken from: the passage may be longer and is still the same thing.
            mixed = isinstance(chosen.memory, Fact) != isinstance(other.memory, Fact)
            if same(chosen_terms, other_terms, diversity.same, within=mixed):
                continue
            closest[index] = max(closest[index], likeness(chosen_terms, other_terms))
            kept.append(index)
        left = kept
    return taken


def same(left: frozenset[int], right: frozenset[int], share: float = DIVERSITY.same, within: bool = False) -> bool:
    """Whether two texts say the same by their words; ``within``: also when the longer one holds the shorter one."""
    if not left or not right:
        return left == right
    shared = len(left & right)
    return shared >= share * (min(len(left), len(right)) if within else len(left | right))


def words_of(text: str) -> frozenset[int]:
    """The terms of a text as a set, for comparing."""
    return frozenset(map(term, stems(text)))
