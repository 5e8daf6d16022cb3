"""Candidates, scored: relevance first, then recency, importance and strength; what comes close enough, best first.

Relevance is coverage (how much of the question a memory's words cover) plus the cosine of its meaning, and a share
of the relevance of the turns beside it, because an answer often stands one turn away from the words of its question.
Fusing ranks or stretching scores to 0..1 lost to this plain sum wherever it was measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memory.context.floor import FLOOR, Floor, passes
from memory.context.lexical import Weighed
from memory.context.question import Question
from memory.fact import Fact, Passage, Sensitivity, State
from memory.ports import Found
from memory.strength import recency, saturated

Memory = Fact | Passage


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of a score weighs. ``beside`` is the share that the neighbouring turns' relevance adds."""

    coverage: float = 1.0
    cosine: float = 1.0
    beside: float = 0.25
    recency: float = 0.05
    importance: float = 0.05
    strength: float = 0.05


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory with its score and the parts of it, each in 0..1 (``coverage``, ``cosine``, ``beside``, …)."""

    memory: Memory
    score: float
    why: Mapping[str, float] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id


def rank(
    question: Question,
    weighed: Weighed,
    candidates: Iterable[tuple[Found, Memory]],
    now: datetime,
    *,
    present: frozenset[str] = frozenset(),
    session: str = "",
    weights: Weights = WEIGHTS,
    floor: Floor = FLOOR,
) -> list[Scored]:
    """The candidates that may be shown, best first; empty where the question has nothing to do with any of them.

    ``present`` are memories that stand in the request already, ``session`` is the one that asks: its own turns are
    in the request as the client sent it. Superseded, archived, expired and restricted memories never come through.
    Questions that were asked before lend their relevance to the turns beside them and are left out themselves.
    """
    found = [(hit, memory) for hit, memory in candidates if memory.session != session and _may_be_shown(memory, now)]
    own = {
        hit.id: weights.coverage * weighed.coverage(hit.lexical) + weights.cosine * max(hit.cosine, 0.0)
        for hit, _ in found
    }
    answers = [(hit, memory) for hit, memory in found if not (isinstance(memory, Passage) and memory.question)]
    if not passes(question, weighed, (hit for hit, _ in answers), floor):
        return []
    beside = _beside(found, own)
    whole = (weights.coverage + weights.cosine) or 1.0
    scored = []
    for hit, memory in answers:
        if hit.id in present:
            continue
        near = weights.beside * beside.get(hit.id, 0.0) / whole
        parts = {
            "coverage": weighed.coverage(hit.lexical),
            "cosine": max(hit.cosine, 0.0),
            "beside": min(beside.get(hit.id, 0.0) / whole, 1.0),
            **_standing(memory, now),
        }
        extra = sum(getattr(weights, name) * parts[name] for name in ("recency", "importance", "strength"))
        scored.append(Scored(memory, own[hit.id] / whole + near + extra, parts))
    scored.sort(key=lambda each: (-each.score, each.id))
    return scored


def _may_be_shown(memory: Memory, now: datetime) -> bool:
    if memory.sensitivity is Sensitivity.RESTRICTED:
        return False
    if isinstance(memory, Passage):
        return True
    return memory.state is State.ACTIVE and not (memory.expires_at and memory.expires_at <= now)


def _standing(memory: Memory, now: datetime) -> dict[str, float]:
    """The parts of a score that do not depend on the question. A passage has no strength of its own."""
    if isinstance(memory, Passage):
        return {"recency": recency(memory.at, now), "importance": 0.5, "strength": 0.5}
    return {
        "recency": recency(memory.recorded_at, now),
        "importance": memory.importance,
        "strength": saturated(memory, now),
    }


def _beside(found: Sequence[tuple[Found, Memory]], own: Mapping[str, float]) -> dict[str, float]:
    """For each passage, the relevance of the best piece of the turn before it and of the turn behind it."""
    turns: dict[tuple[str, int], float] = {}
    for hit, memory in found:
        if isinstance(memory, Passage):
            place = (memory.session, memory.turn)
            turns[place] = max(turns.get(place, 0.0), own[hit.id])
    return {
        hit.id: turns.get((memory.session, memory.turn - 1), 0.0) + turns.get((memory.session, memory.turn + 1), 0.0)
        for hit, memory in found
        if isinstance(memory, Passage)
    }


def lent(scored: Scored, share: float) -> Scored:
    """A score at a share of itself, for a memory that comes in through another."""
    return replace(scored, score=scored.score * share)
