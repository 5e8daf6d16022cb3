"""What a person said later about the subject of a fact, where nothing was learnt from it.

A change is often told in passing, in a message about something else ("…, since the DBAs put billing on 6432"): no fact
comes of it, and the old one would stand alone as if it still held. Whether the remark changes the fact, narrows it or
says it again is left to the reader: both are shown, with their days. A question tells nothing.

Which turns beside what was found are worth fetching: the answer to a question, what was said on about it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from memory.context.message_intent import mostly_asks
from memory.context.rank import (
    WEIGHTS,
    Memory,
    Scored,
    Weights,
    answers_nothing,
    best_first,
    is_question,
    may_be_shown,
    words_of_the_known,
)
from memory.context.route import NOWHERE, QuestionRoute, parts_of
from memory.fact import Fact, Origin, Passage, Sensitivity
from memory.language.sentences import sentences
from memory.language.terms import words_of
from memory.understanding.encoder import Relate
from memory.understanding.forms import leans

UNRELATED: Final = 0.2
"""How likely it may be that a remark has nothing to do with the fact."""
FACTS: Final = 8
"""Facts of which later remarks are looked for, and passages in which they are: the best of each."""
PASSAGES: Final = 24
PAIRS: Final = 4
"""Pairs of a fact and a remark that are read for one request, those with the most words in common."""
REMARKS: Final = 2
"""Remarks that are shown at most."""
HELD: Final = 0.6
"""The share of a remark's words in what was said then or later, and is shown already, from which on it tells nothing
more."""
OVER: Final = 0.7
"""The share of its words in what held then and does not any more from which on it only says that."""
WORDS: Final = 40
"""Words of a remark of two sentences at most."""


@dataclass(frozen=True, slots=True)
class LaterRemark:
    """A fact, and what was said about the same later: a fact, or a passage that is cut to the sentence that says it."""

    fact: Fact
    later: Memory


class _Remark(NamedTuple):
    """A sentence of a passage, or a fact: when it was said, its own words, and how it is told."""

    memory: Memory
    at: datetime
    words: frozenset[int]
    text: str


def later_remarks(
    facts: Sequence[Fact],
    candidates: Sequence[Memory],
    shown: Sequence[Memory],
    relate: Relate,
    now: datetime,
    *,
    present: Sequence[Memory] = (),
    passed_over: Container[str] = frozenset(),
    session: str = "",
) -> list[LaterRemark]:
    """What was said later about some facts, at most one remark about each.

    What is ``shown``, and what is ``present`` in the request, says itself what it says; of two facts of which one is
    shown the reader is told which is the later one. ``passed_over`` are memories that stand in the request, ``session``
    is the one that asks. ``candidates`` are what was found, the best first.
    """
    facts = [fact for fact in facts if _may_stand(fact, now)][:FACTS]
    if not facts:
        return []
    since = min(fact.recorded_at for fact in facts)
    passages = [
        memory
        for memory in candidates
        if isinstance(memory, Passage)
        and memory.at > since
        and memory.origin is Origin.USER
        and memory.session != session
        and memory.id not in passed_over
        and may_be_shown(memory, now)
        and not is_question(memory)
    ][:PASSAGES]
    told = [_Remark(memory, memory.recorded_at, words_of(memory.text), memory.text) for memory in (*shown, *present)]
    said = [
        *(each for each in told if isinstance(each.memory, Fact) and _may_stand(each.memory, now)),
        *_untold_sentences(passages, told, words_of_the_known(candidates, frozenset(), now)),
    ]
    new = {memory.id for memory in shown}
    pairs = sorted(
        (
            (-share, each.memory.id, fact.id, fact, each)
            for fact in facts
            for each in said
            if _is_later(each, fact, new) and (share := _in_common(fact, each.words))
        ),
        key=lambda pair: pair[:3],
    )
    read = [(fact, each) for *_, fact, each in pairs[:PAIRS]]
    relations = relate([(fact.text, each.text) for fact, each in read]) if read else ()
    related = sorted(
        (
            (relation.unrelated, fact, each)
            for relation, (fact, each) in zip(relations, read, strict=True)
            if relation.unrelated <= UNRELATED
        ),
        key=lambda each: (each[0], each[2].memory.id),
    )
    chosen: list[LaterRemark] = []
    taken: set[str] = set()
    for _, fact, each in related:
        if taken.isdisjoint((fact.id, each.memory.id)) and len(chosen) < REMARKS:
            taken |= {fact.id, each.memory.id}
            chosen.append(LaterRemark(fact, _as_memory(each)))
    return chosen


def _may_stand(fact: Fact, now: datetime) -> bool:
    """Whether a fact may stand beside another one: it holds as far as is known, a person said it, and it is not at odds
    with any. What is known to be is told with its other sides."""
    return may_be_shown(fact, now) and fact.origin.trusted and not fact.contradicts


def _is_later(said: _Remark, fact: Fact, new: set[str]) -> bool:
    """Whether something was said after a fact, elsewhere; of two facts one at least must be ``new`` to the request."""
    if said.at <= fact.recorded_at or said.memory.source == fact.source:
        return False
    return isinstance(said.memory, Passage) or not new.isdisjoint((fact.id, said.memory.id))


def _in_common(fact: Fact, words: frozenset[int]) -> float:
    """The share of words that something has in common with a fact; nothing where it has no others."""
    known = words_of(fact.text)
    both = len(known & words)
    return float(both / (len(known) * len(words)) ** 0.5) if both and not words <= known else 0.0


def _untold_sentences(
    passages: Iterable[Passage], told: Sequence[_Remark], over: dict[bytes, frozenset[int]]
) -> Iterator[_Remark]:
    """The sentences of passages that tell more than what is told already, and more than what is ``over``."""
    for passage in passages:
        for sentence, whole in _with_what_leans(sentences(passage.text)):
            if mostly_asks(whole):
                continue
            words = words_of(sentence)
            ended = over.get(passage.source, frozenset())
            if not words or _is_covered(passage.at, words, told) or len(words & ended) >= OVER * len(words):
                continue
            yield _Remark(passage, passage.at, words, whole)


def _with_what_leans(said: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each sentence, and the same with the next one where that says more of it: "They're written to …"."""
    for sentence, behind in zip(said, [*said[1:], ""], strict=True):
        both = f"{sentence} {behind}"
        yield sentence, both if behind and leans(behind) and len(both.split()) <= WORDS else sentence


def _is_covered(at: datetime, words: frozenset[int], told: Sequence[_Remark]) -> bool:
    """Whether something that was said then or later says it: what is older has the same subject, and no news."""
    return any(each.at >= at and len(words & each.words) >= HELD * len(words) for each in told)


def _as_memory(said: _Remark) -> Memory:
    memory = said.memory
    return replace(memory, text=said.text, preview=0, gaps=()) if isinstance(memory, Passage) else memory


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
    passed_over: Container[str] = frozenset(),
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
