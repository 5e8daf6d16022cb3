"""What several searches found for the parts of one question, in one ranking.

A memory counts what it counts for the part that it fits best, times the part's weight, and a little more for each
further part that found it. Reciprocal ranks and scores stretched to 0..1 lost to the plain scores wherever they were
measured, and are not used.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import ceil
from typing import Final

from memory.context.lexical import WeightedQuery
from memory.context.rank import Scored, best_first
from memory.context.search_results import SearchPass
from memory.language.terms import words_of

BONUS: Final = 0.05
"""What a memory gains for each further part that found it."""
TOP: Final = 20
"""How many of a part's best take part."""


PART: Final = 0.6
"""The share of a whole question's candidates that is looked at for a part of it, of which only the best count."""


def for_a_part(candidates: int) -> int:
    """How many candidates each leg brings for a part of a question."""
    return ceil(PART * candidates)


def fused(rounds: Sequence[SearchPass]) -> list[Scored]:
    """One ranking of what the rounds found, best first."""
    if len(rounds) == 1:
        return list(rounds[0].scored)
    best: dict[str, tuple[float, Scored]] = {}
    times: dict[str, int] = {}
    for place, each in enumerate(rounds):
        for scored in each.scored if place == 0 else islice(each.scored, TOP):
            id, score = scored.memory.id, scored.score * each.weight
            times[id] = times.get(id, 0) + 1
            if id not in best or best[id][0] < score:
                best[id] = score, scored
    found = [
        # Most was found once, for the whole question, and stands as it is.
        scored
        if times[id] == 1 and score == scored.score
        else Scored(scored.memory, score + BONUS * (times[id] - 1), {**scored.why, "parts": times[id] / len(rounds)})
        for id, (score, scored) in best.items()
    ]
    return best_first(found)


COVERED: Final = 0.6
"""The share of a part's words, by their rarity, that one memory has which answers it."""
LOOKED_AT: Final = 6
"""How many of the best are looked at for that."""


def answered_already(first: SearchPass, part: WeightedQuery) -> bool:
    """Whether the best that the whole question found has a memory for a part: then the part need not be searched."""
    for scored in islice(first.scored, LOOKED_AT):
        held = words_of(scored.memory.text)
        if part.coverage(sum([weight for number, weight in part.sparse.items() if number in held])) >= COVERED:
            return True
    return False


def brings_new(rounds: Sequence[SearchPass], found: SearchPass) -> bool:
    """Whether a round found anything among its best that none before it has: else further ones are not worth it."""
    known = {each.memory.id for earlier in rounds for each in earlier.scored}
    return not known.issuperset([each.memory.id for each in found.scored[:TOP]])
