"""Why recall gives what it gives for a message: the questions it asked, what each leg said of each candidate, and what
was cut where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memory.context.lexical import needed
from memory.context.pack import Packed
from memory.context.rank import Memory, is_question
from memory.context.search_results import SearchContext, SearchPass, SearchResult
from memory.context.temporal_questions import held_in
from memory.fact import Fact, Passage, Sensitivity, State

SHOWN: Final = "shown"


@dataclass(frozen=True, slots=True)
class SearchRound:
    """One round: what was searched for, why it was split off and what it counts, the times that it names (ISO), and the
    floor: the most that a candidate's coverage and cosine add up to, and the least that is needed."""

    text: str
    stems: tuple[str, ...]
    shape: str
    weight: float
    times: tuple[str, ...]
    best: float
    needed: float
    found: int


@dataclass(frozen=True, slots=True)
class ExplainedCandidate:
    """A candidate: its score (0 where it was cut before it had one), the parts of it, and what became of it."""

    memory: Memory
    score: float
    why: Mapping[str, float]
    fate: str


@dataclass(frozen=True, slots=True)
class Explained:
    """``asked`` is empty for a message that asks nothing. ``text`` is what would be added, of ``tokens`` at most."""

    asked: tuple[SearchRound, ...] = ()
    looked: tuple[ExplainedCandidate, ...] = ()
    text: str = ""
    tokens: int = 0
    steps: Mapping[str, float] | None = None


def explained(searched: SearchResult, packed: Packed, moment: SearchContext, tokens: int) -> Explained:
    """What a search did, and what of it was packed into ``tokens``."""
    shown = {each.memory for each in packed.shown}
    scored = {each.id: each for each in searched.ranked}
    worth = {each.id for each in searched.scored}
    looked: dict[str, ExplainedCandidate] = {}
    facts = {each.source for round in searched.rounds for _, each in round.candidates if isinstance(each, Fact)}
    for each in searched.ranked:
        fate = SHOWN if each.id in shown else "no room" if each.id in worth else "says what another one says"
        looked[each.id] = ExplainedCandidate(each.memory, each.score, each.why, fate)
    for round in searched.rounds:
        for hit, memory in round.candidates:
            if memory.id not in scored and memory.id not in looked:
                legs = {"coverage": round.weighed.coverage(hit.lexical), "cosine": max(hit.cosine, 0.0)}
                near = sum(legs.values()) >= needed(round.question, round.weighed)
                learned = near and isinstance(memory, Passage) and memory.source in facts
                looked[memory.id] = ExplainedCandidate(memory, 0.0, legs, _why_not_ranked(memory, learned, moment))
    return Explained(
        tuple(_search_round(round) for round in searched.rounds),
        tuple(
            sorted(
                looked.values(),
                key=lambda each: (each.fate != SHOWN, -each.score, -sum(each.why.values()), each.memory.id),
            )
        ),
        packed.text,
        tokens,
        searched.steps,
    )


def _search_round(round: SearchPass) -> SearchRound:
    sums = (round.weighed.coverage(hit.lexical) + max(hit.cosine, 0.0) for hit, _ in round.candidates)
    return SearchRound(
        round.question.text,
        tuple(round.question.stems),
        round.shape,
        round.weight,
        tuple(f"{span.begin.isoformat()}/{span.end.isoformat()}" for span in round.question.route.spans),
        max(sums, default=0.0),
        needed(round.question, round.weighed),
        len(round.candidates),
    )


def _why_not_ranked(memory: Memory, learned: bool, moment: SearchContext) -> str:
    """Why a candidate was not ranked; ``learned``: it was near enough, and a fact of the same source was found."""
    if memory.sensitivity is Sensitivity.RESTRICTED:
        return "restricted: only given by its id"
    if memory.session == moment.session and moment.session:
        return "said in this session"
    if memory.id in moment.present:
        return "stands in the request already"
    if isinstance(memory, Fact):
        then = moment.past is not None and held_in(memory, moment.past)
        if memory.expires_at and memory.expires_at <= moment.now and not then:
            return "expired"
        then = then and memory.state is State.SUPERSEDED
        if memory.state is not State.ACTIVE and not then:
            return memory.state.value
    if isinstance(memory, Passage) and is_question(memory):
        return "a question of then"
    return "said by a fact that is known" if learned else "below the floor"
