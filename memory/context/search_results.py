"""The values of a search: for which moment it is made, a round of it, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory.context.later_remarks import LaterRemark
from memory.context.lexical import WeightedQuery
from memory.context.question import RecallQuestion
from memory.context.rank import Memory, Scored
from memory.context.relevance_floor import FLOOR, RelevanceFloor
from memory.context.temporal_questions import TimeInterval
from memory.ports import IndexHit


@dataclass(frozen=True, slots=True)
class SearchContext:
    """For whom and for when is searched. ``session`` is the one that asks: its own turns are not memories; ``present``
    stands in the request already. A question about a ``past`` time finds what was superseded too; ``as_of`` a moment
    what was known at it. At ``work`` an agent with tools asks."""

    owners: tuple[str, ...]
    now: datetime
    present: frozenset[str] = frozenset()
    session: str = ""
    floor: RelevanceFloor = FLOOR
    past: TimeInterval | None = None
    as_of: datetime | None = None
    work: bool = False


@dataclass(frozen=True, slots=True)
class SearchPass:
    """One search: what was asked, what it counts beside the others, every candidate, and those that may be shown."""

    question: RecallQuestion
    weighed: WeightedQuery
    candidates: tuple[tuple[IndexHit, Memory], ...]
    scored: tuple[Scored, ...]
    weight: float = 1.0
    shape: str = ""


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
