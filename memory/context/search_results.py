"""The values of a search: for which moment it is made, a round of it, and what it gives.

What several searches found for the parts of one question, in one ranking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from math import ceil
from typing import Final

from memory.context.later_remarks import LaterRemark
from memory.context.lexical import FLOOR, RelevanceFloor, WeightedQuery
from memory.context.question import RecallQuestion
from memory.context.rank import Memory, Scored, best_first
from memory.context.temporal_questions import TimeInterval
from memory.language.terms import words_of
from memory.ports import IndexHit


@dataclass(frozen=True, slots=True)
class SearchContext:
    """For whom and for when is searched. ``session`` is the one that asks: its own turns are not memories; ``present``
    gives by the id of each memory that stands in the request already the text that it stands in, none where it was
    given whole. A question about a ``past`` time finds what was superseded too; ``as_of`` a moment what was known at
    it. At ``work`` an agent with tools asks."""

    owners: tuple[str, ...]
    now: datetime
    present: Mapping[str, str] = field(default_factory=dict)
    session: str = ""
    floor: RelevanceFloor = FLOOR
    past: TimeInterval | None = None
    as_of: datetime | None = None
    work: bool = False


@dataclass(frozen=True, slots=True)
class SearchPass:
    """One search: what was asked, what it counts beside the others, every candidate, and those that may be shown;
    ``untold`` is what the request leaves out of facts among them (see :mod:`memory.context.told_in_part`)."""

    question: RecallQuestion
    weighed: WeightedQuery
    candidates: tuple[tuple[IndexHit, Memory], ...]
    scored: tuple[Scored, ...]
    weight: float = 1.0
    shape: str = ""
    untold: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The memories that are worth showing, best first, the rounds in which they were found, everything that was ranked
    (``ranked``: before what is alike was dropped), how long each step took in milliseconds, and what was said later
    about facts that are shown or stand in the request."""

    scored: tuple[Scored, ...]
    steps: dict[str, float]
    rounds: tuple[SearchPass, ...] = ()
    ranked: tuple[Scored, ...] = ()
    remarks: tuple[LaterRemark, ...] = ()


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
