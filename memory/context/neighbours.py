"""Which turns beside what was found are worth fetching: the answer to a question that was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory.context.rank import Scored, is_question
from memory.fact import Passage, Sensitivity


@dataclass(frozen=True, slots=True)
class Place:
    """A turn of a session."""

    session: str
    turn: int


@dataclass(frozen=True, slots=True)
class Reach:
    """``best`` is beside how many of the best passages one looks; ``share`` what a neighbour has of their score."""

    best: int = 3
    share: float = 0.5


REACH = Reach()


def wanted(scored: Sequence[Scored], reach: Reach = REACH) -> tuple[Place, ...]:
    """The places whose neighbours (one turn to either side) should be fetched, best first."""
    places: dict[Place, None] = {}
    for each in scored:
        if len(places) >= reach.best:
            break
        if isinstance(each.memory, Passage):
            places.setdefault(Place(each.memory.session, each.memory.turn))
    return tuple(places)


def joined(
    scored: Sequence[Scored],
    fetched: Iterable[Passage],
    now: datetime,
    *,
    present: frozenset[str] = frozenset(),
    reach: Reach = REACH,
) -> list[Scored]:
    """The ranking with fetched neighbours in it, each at a share of the score of what it stands beside."""
    known = {each.id for each in scored}
    best: dict[Place, Scored] = {}
    for each in scored:
        if isinstance(each.memory, Passage):
            best.setdefault(Place(each.memory.session, each.memory.turn), each)
    found = list(scored)
    for passage in fetched:
        if passage.id in known or passage.id in present or is_question(passage):
            continue
        if passage.sensitivity is Sensitivity.RESTRICTED:
            continue
        sides = (best.get(Place(passage.session, passage.turn + step)) for step in (-1, 0, 1))
        source = max((side for side in sides if side), key=lambda side: side.score, default=None)
        if source is not None:
            known.add(passage.id)
            found.append(Scored(passage, source.score * reach.share, {"beside": min(source.score, 1.0)}))
    found.sort(key=lambda each: (-each.score, each.id))
    return found
