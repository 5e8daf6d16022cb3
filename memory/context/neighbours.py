"""Which turns beside what was found are worth fetching: the answer to a question, what was said on about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory.context.rank import WEIGHTS, Scored, Weights, answers_nothing, best_first, is_question
from memory.context.route import NOWHERE, QuestionRoute, parts_of
from memory.fact import Passage, Sensitivity


@dataclass(frozen=True, slots=True)
class TurnRef:
    """A turn of a session."""

    session: str
    turn: int


@dataclass(frozen=True, slots=True)
class Reach:
    """``best`` is beside how many of the best turns one looks, and how many ``turns`` to either side; ``share`` what a
    neighbour has of their score, ``further`` of that for each turn more; ``answer`` what the turns behind a question
    have of its score, and ``before`` those in front of it."""

    best: int = 5
    turns: int = 2
    share: float = 0.7
    further: float = 0.8
    answer: float = 0.9
    before: float = 0.5


REACH = Reach()


def anchors(scored: Sequence[Scored], questions: Sequence[Scored] = (), reach: Reach = REACH) -> dict[TurnRef, Scored]:
    """The turns beside which one should look, best first, each with its best passage: of what was found, and of the
    questions that were ``questions`` then."""
    places: dict[TurnRef, Scored] = {}
    for each in best_first((*scored, *questions)):
        if len(places) >= reach.best:
            break
        if isinstance(each.memory, Passage):
            places.setdefault(TurnRef(each.memory.session, each.memory.turn), each)
    return places


def joined(
    scored: Sequence[Scored],
    fetched: Iterable[Passage],
    beside: dict[TurnRef, Scored],
    *,
    route: QuestionRoute = NOWHERE,
    weights: Weights = WEIGHTS,
    passed_over: frozenset[str] = frozenset(),
    reach: Reach = REACH,
) -> list[Scored]:
    """The ranking with fetched neighbours in it, each at a share of the score of what it stands beside, if that is
    more than its own. ``passed_over`` are memories that were looked at and not taken, or stand in the request."""
    found = {each.memory.id: each for each in scored}
    for passage in fetched:
        known = found.get(passage.id)
        if known is None and (passage.id in passed_over or is_question(passage) or answers_nothing(passage)):
            continue
        if passage.sensitivity is Sensitivity.RESTRICTED:
            continue
        near = max(
            (
                _share(source, step, reach) * source.score
                for step in range(-reach.turns, reach.turns + 1)
                if (source := beside.get(TurnRef(passage.session, passage.turn - step))) is not None
            ),
            default=0.0,
        )
        parts = parts_of(route, passage)
        score = near + weights.extra(parts)
        if near <= 0 or (known is not None and known.score >= score):
            continue
        lent = {"beside": min(near, 1.0)}
        found[passage.id] = (
            known._replace(score=score, why={**known.why, **lent}) if known else Scored(passage, score, parts | lent)
        )
    return best_first(found.values())


def _share(source: Scored, step: int, reach: Reach) -> float:
    """What a passage ``step`` turns behind another has of its score."""
    share = reach.share
    if is_question(source.memory):
        share = reach.answer if step >= 0 else reach.before
    return share * reach.further ** max(abs(step) - 1, 0)
