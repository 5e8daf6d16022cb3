"""Candidates, scored: relevance first, then recency, importance and strength; what comes close enough, best first.

Relevance is coverage (how much of the question a memory's words cover) plus the cosine of its meaning, and a share
of the relevance of the turns beside it, because an answer often stands one turn away from the words of its question.
Fusing ranks or stretching scores to 0..1 lost to this plain sum wherever it was measured.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple, cast

from memory.context.lexical import FLOOR, RelevanceFloor, WeightedQuery, is_evidence, passes
from memory.context.message_intent import mostly_asks, only_exclaims, only_nods
from memory.context.question import RecallQuestion
from memory.context.route import NOWHERE, parts_of
from memory.context.temporal_questions import TimeInterval, held_in, known_at, of_the_past
from memory.fact import Fact, Origin, Passage, Sensitivity, State
from memory.language.terms import words_of
from memory.ports import IndexHit
from memory.strength import recency, standing

Memory = Fact | Passage


@dataclass(frozen=True, slots=True)
class Weights:
    """What each part of a score weighs. ``beside`` is the share that the neighbouring turns' relevance adds; ``person``
    to ``liking`` are for lying where the question points (see :mod:`memory.context.route`)."""

    coverage: float = 1.0
    cosine: float = 1.0
    beside: float = 0.25
    recency: float = 0.05
    importance: float = 0.05
    strength: float = 0.05
    person: float = 0.2
    time: float = 0.2
    answer: float = 0.1
    own: float = 0.1
    liking: float = 0.2
    graph: float = 0.1

    def extra(self, parts: Mapping[str, float]) -> float:
        """What the parts beyond relevance add to a score."""
        part = parts.get
        extra = self.recency * part("recency", 0.0) + self.importance * part("importance", 0.0)
        extra += self.strength * part("strength", 0.0) + self.person * part("person", 0.0)
        extra += self.time * part("time", 0.0) + self.answer * part("answer", 0.0)
        extra += self.own * part("own", 0.0) + self.liking * part("liking", 0.0)
        return extra + self.graph * part("graph", 0.0)


WEIGHTS = Weights()

WORDS = 2
FEW_WORDS = 60
"""Words, and characters, up to which a passage may say no more than the question."""


class Scored(NamedTuple):
    """A memory with its score and the parts of it, each in 0..1 (``coverage``, ``cosine``, ``beside``, …)."""

    memory: Memory
    score: float
    why: Mapping[str, float] = {}

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id


_SCORED: Final = cast("Callable[[tuple[Memory, float, Mapping[str, float]]], Scored]", partial(tuple.__new__, Scored))
"""A :class:`Scored` of its parts: half the time of calling the class, and a search makes a hundred."""
_SCORE: Final = itemgetter(1)
_ID: Final = attrgetter("memory.id")


def rank(
    question: RecallQuestion,
    weighed: WeightedQuery,
    candidates: Sequence[tuple[IndexHit, Memory]],
    now: datetime,
    *,
    present: Container[str] = frozenset(),
    untold: Container[str] = frozenset(),
    session: str = "",
    weights: Weights = WEIGHTS,
    floor: RelevanceFloor = FLOOR,
    past: TimeInterval | None = None,
    as_of: datetime | None = None,
    standing: StaticScores | None = None,
    graph: Mapping[str, float] | None = None,
) -> list[Scored]:
    """The candidates that may be shown, best first; empty where the question has nothing to do with any of them.

    ``present`` are memories that stand in the request already, ``untold`` those of them of which it tells too little
    (see :mod:`memory.context.told_in_part`); ``session`` is the one that asks: its own turns are in the request as the
    client sent it. Superseded, archived, expired and restricted memories never come through, but that a question about
    a ``past`` time finds what was superseded or is over and held then, and that ``as_of`` a moment exactly what was
    known at it comes through. ``standing`` is shared by the searches of one moment; ``graph`` is how near memories are
    by the names that they share.
    Questions that were asked before lend their relevance to the turns beside them and are left out themselves.
    """
    found = [pair for pair in candidates if pair[1].session != session and may_be_shown(pair[1], now, past, as_of)]
    shares = weighed.coverages([hit.lexical for hit, _ in found])
    by_words, by_meaning = weights.coverage, weights.cosine
    # One candidate a row, and no object for it before it is known to be shown: most of a search goes by here.
    cosines = [cosine if (cosine := hit.cosine) > 0.0 else 0.0 for hit, _ in found]
    rows = [
        (hit.id, memory, share, cosine, by_words * share + by_meaning * cosine)
        for (hit, memory), share, cosine in zip(found, shares, cosines, strict=True)
    ]
    asks = [is_question(memory) for _, memory in found]
    answers = [row for row, asking in zip(rows, asks, strict=True) if not asking]
    evidence = [pair for pair, asking in zip(found, asks, strict=True) if not asking]
    if not passes(question, weighed, evidence, floor):
        return []
    beside = _neighbour_relevance([(memory, own) for _, memory, _, _, own in rows if isinstance(memory, Passage)])
    whole = (by_words + by_meaning) or 1.0
    known_words = words_of_the_known(
        [memory for _, memory in candidates], present, None if as_of or past or of_the_past(question.said) else now
    )
    standing = standing or StaticScores(now)
    route, near_by = question.route, graph or {}
    points = route is not NOWHERE
    question_terms = frozenset(question.terms)
    scored = []
    for id, memory, share, cosine, own in answers:
        if (id in present and id not in untold) or (memory.source in known_words and retold(memory, known_words)):
            continue
        if answers_nothing(memory, question_terms):
            continue
        near = beside.get(id, 0.0) / whole
        recent, important, strong = standing.of(memory)
        parts = {
            "coverage": share,
            "cosine": cosine,
            "beside": near if near < 1.0 else 1.0,
            "recency": recent,
            "importance": important,
            "strength": strong,
        }
        extra = weights.recency * recent + weights.importance * important + weights.strength * strong
        pointed = parts_of(route, memory) if points else None
        close = near_by.get(id)
        alone = cosine >= floor.alone and is_evidence(memory)
        if not (share or near or close or alone or (_asks_for_memory(pointed) and not only_exclaims(memory.text))):
            continue
        if pointed or close:
            parts |= pointed or {}
            if close:
                parts["graph"] = close
            extra = weights.extra(parts)
        scored.append((memory, own / whole + weights.beside * near + extra, parts))
    return best_first(map(_SCORED, scored))


def _asks_for_memory(pointed: Mapping[str, float] | None) -> bool:
    """Whether a question points at a memory itself, and not only at whatever tells a time, an amount or a name."""
    return pointed is not None and any(part != "answer" for part in pointed)


def best_first(scored: Iterable[Scored]) -> list[Scored]:
    """In the order of a ranking: what scores the same stands in the order of the ids."""
    ordered = sorted(scored, key=_ID)
    ordered.sort(key=_SCORE, reverse=True)
    return ordered


def earlier_questions(
    weighed: WeightedQuery, candidates: Sequence[tuple[IndexHit, Memory]], session: str = "", weights: Weights = WEIGHTS
) -> list[Scored]:
    """The questions among the candidates, by their relevance: no answers themselves, but one may stand behind each."""
    whole = (weights.coverage + weights.cosine) or 1.0
    return [
        Scored(
            memory, (weights.coverage * weighed.coverage(hit.lexical) + weights.cosine * max(hit.cosine, 0.0)) / whole
        )
        for hit, memory in candidates
        if is_question(memory) and memory.session != session and memory.sensitivity is not Sensitivity.RESTRICTED
    ]


def passage_relevance(
    weighed: WeightedQuery,
    candidates: Iterable[tuple[IndexHit, Memory]],
    present: Container[str],
    weights: Weights = WEIGHTS,
) -> float:
    """The relevance of the best of the candidates that stand in the request already, 0 where none does: what comes
    beside it is measured by it, as if it were shown."""
    whole = (weights.coverage + weights.cosine) or 1.0
    told = (
        weights.coverage * weighed.coverage(hit.lexical) + weights.cosine * max(hit.cosine, 0.0)
        for hit, memory in candidates
        if memory.id in present
    )
    return max(told, default=0.0) / whole


def is_question(memory: Memory) -> bool:
    """Whether a memory is a question of its time and so no answer now."""
    if isinstance(memory, Fact):
        return False
    return memory.question or (memory.origin is Origin.USER and mostly_asks(memory.text))


def may_be_shown(
    memory: Memory, now: datetime, past: TimeInterval | None = None, as_of: datetime | None = None
) -> bool:
    """Whether a memory may be shown at a moment, to a question about a ``past`` time or ``as_of`` another moment."""
    if memory.sensitivity is Sensitivity.RESTRICTED:
        return False
    if as_of is not None:
        return known_at(memory, as_of)
    if isinstance(memory, Passage):
        return True
    over = memory.expires_at is not None and memory.expires_at <= now
    if memory.state is State.ACTIVE and not over:
        return True
    return past is not None and memory.state in (State.ACTIVE, State.SUPERSEDED) and held_in(memory, past)


def words_of_the_known(
    memories: Iterable[Memory], present: Container[str], now: datetime | None
) -> dict[bytes, frozenset[int]]:
    """The words of facts that no passage should say again, by the message that they came from: of those that stand in
    the request already, and of what was superseded, as the message says it as if it held still. So it does of what has
    expired, where there is a ``now``: a question in the past tense may mean it."""
    words: dict[bytes, frozenset[int]] = {}
    for memory in memories:
        if isinstance(memory, Fact) and (
            memory.id in present
            or memory.state is State.SUPERSEDED
            or (now and memory.expires_at and memory.expires_at <= now)
        ):
            words[memory.source] = words.get(memory.source, frozenset()) | words_of(memory.text)
    return words


def retold(memory: Memory, known_words: Mapping[bytes, frozenset[int]]) -> bool:
    """Whether a passage only says once more what facts say of its message: those in the request, and those of which it
    would not say that they hold no longer."""
    if not isinstance(memory, Passage) or memory.source not in known_words:
        return False
    words = words_of(memory.text)
    return len(words & known_words[memory.source]) >= 0.7 * len(words)


def answers_nothing(memory: Memory, question_terms: frozenset[int] = frozenset()) -> bool:
    """Whether a passage of few characters answers no question: it only nods, or is a word or two, all of which the
    question has itself ("Staging.")."""
    if isinstance(memory, Fact) or len(memory.text) > FEW_WORDS:
        return False
    words = words_of(memory.text)
    return (len(words) <= WORDS and words <= question_terms) or only_nods(memory.text)


class StaticScores:
    """The parts of a score that do not depend on the question, at one moment: several searches find the same."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._known: dict[str, tuple[float, float, float]] = {}

    def of(self, memory: Memory) -> tuple[float, float, float]:
        """A memory's recency, importance and strength. A passage has no strength of its own."""
        id, known = memory.id, self._known
        if id not in known:
            if isinstance(memory, Passage):
                known[id] = recency(memory.at, self._now), 0.5, 0.5
            else:
                recent, strong = standing(memory, self._now)
                known[id] = recent, memory.importance, strong
        return known[id]


def _neighbour_relevance(passages: Sequence[tuple[Passage, float]]) -> dict[str, float]:
    """For each passage, the relevance of what stands right before it and right behind it.

    That is the piece beside it in a message of several pieces, else the best piece of the turn beside it.
    """
    pieces: dict[tuple[str, int, int], float] = {}
    turns: dict[tuple[str, int], float] = {}
    for passage, own in passages:
        turn = (passage.session, passage.turn)
        pieces[*turn, passage.piece] = own
        turns[turn] = max(turns.get(turn, 0.0), own)

    def side(passage: Passage, step: int) -> float:
        piece = pieces.get((passage.session, passage.turn, passage.piece + step))
        return piece if piece is not None else turns.get((passage.session, passage.turn + step), 0.0)

    return {passage.id: side(passage, -1) + side(passage, 1) for passage, _ in passages}
