"""What an agent at work is shown of what was found: few things, each of them judged by itself.

A fact is shown where the relevance model says that it applies to the request or answers it. A fact carries its state
(superseded, expired, unsettled), a passage does not: so a passage never stands for a fact that was learnt from it, and
comes only where something is asked, for a detail that no fact has.

What somebody who asks for advice is shown first: what they told of themselves that the advice must heed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from memory.context.lexical import FLOOR, RelevanceFloor
from memory.context.message_intent import tells
from memory.context.question import QuestionAuthor, RecallQuestion
from memory.context.rank import Memory, Scored, best_first, is_question, may_be_shown, retold, words_of_the_known
from memory.fact import Category, Fact, FactKind, Origin, Passage, State
from memory.language.terms import words_of
from memory.ports import IndexHit
from memory.scope import Layer
from memory.understanding.packaged_weights import request_kinds
from memory.understanding.relevance import ReadableMemory, Relevance


@dataclass(frozen=True, slots=True)
class AgentThresholds:
    """``applies`` is how likely a fact must be of use to the request; ``answers`` how likely where the request shares
    enough rare words with what is remembered, and ``beside`` how likely where it asks for something that one memory
    answers ``surely``, and what was left out of a fact of which it was told a part; ``facts`` and ``passages`` are
    shown at most. A passage needs the share ``near`` of the best one's score, whether that is shown or stands in the
    request already."""

    applies: float = 0.3
    answers: float = 0.1
    surely: float = 0.9
    beside: float = 0.5
    facts: int = 6
    passages: int = 2
    near: float = 0.6


FEW: Final = AgentThresholds()

HELD: Final = 0.5
"""The share of a fact's words in a passage from which on the passage says what the fact says."""

_KINDS: Final = {
    FactKind.DECISION: "dec",
    FactKind.PREFERENCE: "pref",
    FactKind.CORRECTION: "corr",
    FactKind.CONVENTION: "rule",
    FactKind.PATTERN: "rule",
    FactKind.ANTI_PATTERN: "corr",
    FactKind.HEURISTIC: "rule",
    FactKind.TASK: "task",
}


def at_work(
    request_text: str,
    ranked: Sequence[Scored],
    candidates: Iterable[Memory],
    relevance: Relevance,
    *,
    worded: bool,
    asks: bool,
    told: float = 0.0,
    present: Container[str] = frozenset(),
    untold: Mapping[str, str] = MappingProxyType({}),
    few: AgentThresholds = FEW,
) -> list[Scored]:
    """What of a ranking helps with a request, best first.

    ``ranked`` is all that may be shown, ``candidates`` all that was found: what stands in a passage of a fact that
    holds no longer does not hold either. ``worded`` says that the request's own words speak for what was found,
    ``asks`` that it asks for something. ``told`` is the relevance of the best that stands in the request already, among
    what is ``present`` there by its id; ``untold`` gives what it leaves out of facts that it tells in part: they are
    shown where that answers it.
    """
    # What put an error right comes back with the error, not with the order that may lead to it.
    facts = [
        (each, memory)
        for each in ranked
        if isinstance(memory := each.memory, Fact) and memory.origin is not Origin.BEHAVIOUR
    ]
    candidates = list(candidates)
    new = [each for each in ranked if each.memory.id not in untold] if untold else ranked
    details = _details(new, candidates, told, few) if worded and asks else []
    known = [each for each in candidates if isinstance(each, Fact) and each.id in present and each.id not in untold]
    uses = relevance.of_use(
        request_text,
        [
            *(_detail(untold[memory.id]) if memory.id in untold else readable(memory) for _, memory in facts),
            *(_detail(each.memory.text) for each in details),
            *map(readable, known),
        ],
    )
    shares = [min(applies + answers, 1.0) for applies, answers in uses]
    least = few.answers if worded else few.applies
    # A rule that surely applies is no answer: others may apply as well.
    if asks and any(answers >= few.surely for _, answers in uses):
        least = few.beside
    # The share goes first; what the words say decides among those that are about as likely.
    shown = best_first(
        each._replace(score=each.score + share, why={**each.why, "applies": share})
        for (each, memory), share, (_, answers) in zip(facts, shares, uses, strict=False)
        if (
            answers >= few.beside
            if memory.id in untold
            # What is unsettled comes to a request that it concerns: it shows two sides of what may be no answer at all.
            else share >= (max(few.applies, least) if memory.contradicts else least)
        )
    )[: few.facts]
    helpful = [each for each, share in zip(details, shares[len(facts) :], strict=False) if share >= least]
    return best_first((*shown, *helpful[: few.passages]))


def _details(ranked: Sequence[Scored], candidates: Iterable[Memory], told: float, few: AgentThresholds) -> list[Scored]:
    """What the person said, and what research found, of which no fact says the same."""
    seen: dict[bytes, list[frozenset[int]]] = {}
    for memory in candidates:
        # What waits as a draft is shown to nobody by itself: its passage is all that tells it.
        if isinstance(memory, Fact) and memory.state is not State.DRAFT:
            seen.setdefault(memory.source, []).append(words_of(memory.text))
    best = max((each.score for each in ranked), default=0.0)
    least = few.near * max(best, told)
    return [
        each
        for each in ranked
        if not isinstance(each.memory, Fact)
        and each.memory.origin in (Origin.USER, Origin.SUBAGENT)
        and each.score >= least
        and not _already_told(words_of(each.memory.text), seen.get(each.memory.source, ()))
    ]


def _already_told(words: frozenset[int], facts: Iterable[frozenset[int]]) -> bool:
    return any(own and len(own & words) >= HELD * len(own) for own in facts)


def _detail(text: str) -> ReadableMemory:
    """What is merely so, as the model reads it: it guides nobody."""
    return ReadableMemory(text, "fact", False)


def readable(fact: Fact) -> ReadableMemory:
    """A fact as the model reads it."""
    kind = _KINDS.get(fact.kind) or ("person" if fact.category is Category.PEOPLE else "fact")
    if kind == "task" and fact.valid_until is not None:
        kind = "deadline"
    return ReadableMemory(fact.text, kind, fact.layer is Layer.USER)


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
    present: Container[str] = frozenset(),
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
        and _is_about_the_person(memory)
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
    first = [each for each in _without_retold_passages(best_first(scored)) if not retold(each.memory, known_words)][
        : weights.most
    ]
    known = {each.id for each in first}
    sources = {each.memory.source for each in first}
    return [
        *first,
        *(each for each in ranked if each.id not in known and not _is_source_of_heeded(each.memory, sources)),
    ]


def _is_about_the_person(memory: Memory) -> bool:
    """Whether a memory is the person's own word about themselves; passages tell it, too, and much else."""
    if isinstance(memory, Fact):
        about = memory.layer is Layer.USER and memory.kind is not FactKind.OBSERVATION
        return about and memory.origin.trusted
    return memory.origin is Origin.USER and tells(memory.text) and not is_question(memory)


def _read(memory: Memory) -> ReadableMemory:
    return readable(memory) if isinstance(memory, Fact) else ReadableMemory(memory.plain, "pref", True)


def _without_retold_passages(scored: Sequence[Scored]) -> list[Scored]:
    """Without the passages of which a fact among them says the same."""
    facts: dict[bytes, list[frozenset[int]]] = {}
    for each in scored:
        if isinstance(each.memory, Fact):
            facts.setdefault(each.memory.source, []).append(words_of(each.memory.text))
    return [each for each in scored if isinstance(each.memory, Fact) or not _is_told(each.memory, facts)]


def _is_told(passage: Passage, facts: dict[bytes, list[frozenset[int]]]) -> bool:
    words = words_of(passage.text)
    return any(own and len(own & words) >= HELD * len(own) for own in facts.get(passage.source, ()))


def _is_source_of_heeded(memory: Memory, sources: set[bytes]) -> bool:
    """Whether a memory is the message that something heeded was learnt from."""
    return isinstance(memory, Passage) and memory.source in sources
