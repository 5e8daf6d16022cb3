"""What somebody who asks for advice is shown first: what they told of themselves that the advice must heed.

"Which dishes should I try in Bangkok?" shares no word with "peanuts put me into hospital" and hardly any meaning; a sum
of words and cosine puts whatever was said of journeys before it. So what the person likes, avoids, has and is gets
judged against the request, each by itself, by the model that knows memories and requests, and comes before what is
merely alike. A page cannot hold all of it where somebody has told much.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from memory.context.agent_recall import HELD, readable
from memory.context.message_intent import tells
from memory.context.question import QuestionAuthor, RecallQuestion
from memory.context.rank import Memory, Scored, best_first, is_question, may_be_shown, retold, words_of_the_known
from memory.context.relevance_floor import FLOOR, RelevanceFloor
from memory.fact import Fact, FactKind, Origin, Passage
from memory.language.terms import words_of
from memory.ports import IndexHit
from memory.scope import Layer
from memory.understanding.packaged_weights import request_kinds
from memory.understanding.relevance import ReadableMemory, Relevance

TIMES: Final = 4
"""How many times as many candidates are looked at as for other questions: what matters may be near in no way."""

MOSTLY_WORK: Final = 0.5
"""The share of a question's words that are of work on software, from which on its writer's life has no say in it."""
LIKELY: Final = 0.5
"""The probability from which on a message counts as a wish for advice."""


@dataclass(frozen=True, slots=True)
class AdviceWeights:
    """``share`` is what the model's judgement counts beside the cosine, for a passage ``passage`` of that; a memory
    that is less likely than ``least`` to matter is not heeded; ``most`` are."""

    share: float = 1.0
    passage: float = 0.65
    least: float = 0.1
    most: int = 40


WEIGHTS: Final = AdviceWeights()


def wants_heeding(question: RecallQuestion) -> bool:
    """Whether a question is for advice, and not about the work at hand: by its words, or, where it seeks nothing to be
    known, by what the model of requests says of it."""
    if question.asker is not QuestionAuthor.PERSON:
        return False
    if question.work < 1.0:
        return question.advice and question.work < MOSTLY_WORK
    return request_kinds().advice(question.said) >= LIKELY


def is_about_others(question: RecallQuestion, candidates: Iterable[Memory]) -> bool:
    """Whether a question names somebody who speaks in what was found: it asks about them, not for the asker."""
    people = question.route.people
    return bool(people) and any(isinstance(each, Passage) and each.speaker.lower() in people for each in candidates)


def heeded(
    question: RecallQuestion,
    candidates: Iterable[tuple[IndexHit, Memory]],
    ranked: Sequence[Scored],
    relevance: Relevance,
    now: datetime,
    *,
    present: frozenset[str] = frozenset(),
    session: str = "",
    weights: AdviceWeights = WEIGHTS,
    floor: RelevanceFloor = FLOOR,
) -> list[Scored]:
    """A ranking with what is to be heeded before it. ``candidates`` is all that was found, ``present`` stands in the
    request already, ``session`` is the one that asks."""
    candidates = list(candidates)
    if is_about_others(question, (memory for _, memory in candidates)):
        return list(ranked)
    own = {
        memory.id: (memory, max(hit.cosine, 0.0))
        for hit, memory in candidates
        if memory.id not in present
        and memory.session != session
        and may_be_shown(memory, now)
        and _is_of_the_person(memory)
    }
    told = [memory for memory, _ in own.values()]
    shares = relevance.shown(question.said, [_read(memory) for memory in told])
    scored = [
        Scored(
            memory,
            weights.share * share * (1.0 if isinstance(memory, Fact) else weights.passage) + own[memory.id][1],
            {"applies": share, "cosine": own[memory.id][1]},
        )
        for memory, share in zip(told, shares, strict=True)
        if share >= weights.least and share + own[memory.id][1] >= floor.preference
    ]
    known_words = words_of_the_known([memory for _, memory in candidates], present, now)
    first = [each for each in _once(best_first(scored)) if not retold(each.memory, known_words)][: weights.most]
    known = {each.id for each in first}
    sources = {each.memory.source for each in first}
    return [*first, *(each for each in ranked if each.id not in known and not _retells(each.memory, sources))]


def _is_of_the_person(memory: Memory) -> bool:
    """Whether a memory is the person's own word about themselves; passages tell it, too, and much else."""
    if isinstance(memory, Fact):
        about = memory.layer is Layer.USER and memory.kind is not FactKind.OBSERVATION
        return about and memory.origin.trusted
    return memory.origin is Origin.USER and tells(memory.text) and not is_question(memory)


def _read(memory: Memory) -> ReadableMemory:
    return readable(memory) if isinstance(memory, Fact) else ReadableMemory(memory.plain, "pref", True)


def _once(scored: Sequence[Scored]) -> list[Scored]:
    """Without the passages of which a fact among them says the same."""
    facts: dict[bytes, list[frozenset[int]]] = {}
    for each in scored:
        if isinstance(each.memory, Fact):
            facts.setdefault(each.memory.source, []).append(words_of(each.memory.text))
    return [each for each in scored if isinstance(each.memory, Fact) or not _is_told(each.memory, facts)]


def _is_told(passage: Passage, facts: dict[bytes, list[frozenset[int]]]) -> bool:
    words = words_of(passage.text)
    return any(own and len(own & words) >= HELD * len(own) for own in facts.get(passage.source, ()))


def _retells(memory: Memory, sources: set[bytes]) -> bool:
    """Whether a memory is the message that something heeded was learnt from."""
    return isinstance(memory, Passage) and memory.source in sources
