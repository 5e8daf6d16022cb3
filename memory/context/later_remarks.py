"""What a person said later about the subject of a fact, where nothing was learnt from it.

A change is often told in passing, in a message about something else ("…, since the DBAs put billing on 6432"): no fact
comes of it, and the old one would stand alone as if it still held. Whether the remark changes the fact, narrows it or
says it again is left to the reader: both are shown, with their days.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memory.context.rank import Memory, retold, words_of_the_known
from memory.fact import Fact, Origin, Passage, Sensitivity
from memory.language.sentences import sentences
from memory.language.terms import words_of
from memory.understanding.encoder import Relation
from memory.understanding.forms import leans

UNRELATED: Final = 0.2
"""How likely it may be that a remark has nothing to do with the fact."""
PAIRS: Final = 4
"""Pairs of a fact and a remark that are read for one request, those with the most words in common."""
REMARKS: Final = 2
"""Remarks that are shown at most."""
HELD: Final = 0.6
"""The share of a remark's words in what was said then or later, and is shown already, from which on it tells nothing
more."""
WORDS: Final = 40
"""Words of a remark of two sentences at most."""
Relate = Callable[[str, str], Relation]
"""Reads how a newer statement stands to an older one."""


@dataclass(frozen=True, slots=True)
class LaterRemark:
    """A fact, and what was said about the same later: a fact, or a passage that is cut to the sentence that says it."""

    fact: Fact
    later: Memory


def later_remarks(
    facts: Sequence[Fact],
    candidates: Sequence[Memory],
    shown: Sequence[Memory],
    relate: Relate,
    now: datetime,
    *,
    present: Sequence[Memory] = (),
    passed_over: frozenset[str] = frozenset(),
    session: str = "",
) -> list[LaterRemark]:
    """What was said later about some facts, at most one remark about each.

    What is ``shown``, and what is ``present`` in the request, says itself what it says; of two facts of which one is
    shown the reader is told which is the later one. ``passed_over`` are memories that stand in the request, ``session``
    is the one that asks.
    """
    told = [(_said_at(memory), words_of(memory.text)) for memory in (*shown, *present)]
    new = {memory.id for memory in shown}
    others = [memory for memory in (*shown, *present) if isinstance(memory, Fact)]
    over = words_of_the_known(candidates, frozenset(), now)
    passages = [
        memory
        for memory in candidates
        if isinstance(memory, Passage)
        and memory.origin is Origin.USER
        and memory.sensitivity is not Sensitivity.RESTRICTED
        and memory.session != session
        and memory.id not in passed_over
    ]
    found: list[tuple[float, LaterRemark]] = []
    # What is known to be at odds is told with its other sides.
    for fact in (fact for fact in facts if fact.origin.trusted and not fact.contradicts):
        later = [other for other in others if _may_change(fact, other) and not new.isdisjoint((fact.id, other.id))]
        said = [
            remark
            for remark, sentence in _sentences_after(fact, passages)
            if not _is_told(remark.at, words_of(sentence), told) and not retold(remark, over)
        ]
        both: list[Memory] = [*later, *said]
        found += [(share, LaterRemark(fact, each)) for each in both if (share := _in_common(fact, each.text))]
    found.sort(key=lambda each: (-each[0], each[1].later.id, each[1].fact.id))
    read = [(relate(remark.fact.text, remark.later.text).unrelated, remark) for _, remark in found[:PAIRS]]
    related = [each for each in read if each[0] <= UNRELATED]
    related.sort(key=lambda each: (each[0], each[1].later.id))
    chosen: list[LaterRemark] = []
    for _, remark in related:
        ids = {remark.fact.id, remark.later.id}
        if all(ids.isdisjoint((other.fact.id, other.later.id)) for other in chosen):
            chosen.append(remark)
    return chosen[:REMARKS]


def _may_change(fact: Fact, later: Fact) -> bool:
    """Whether a fact was said later than another one, by a person, and is not known to be at odds with any."""
    return (
        later.origin.trusted
        and later.recorded_at > fact.recorded_at
        and later.source != fact.source
        and not later.contradicts
    )


def _sentences_after(fact: Fact, passages: Iterable[Passage]) -> Iterator[tuple[Passage, str]]:
    """The sentences of passages that were said after a fact, each as a passage of its own, and bare."""
    for passage in passages:
        if passage.at > fact.recorded_at and passage.source != fact.source:
            for sentence, whole in _with_what_leans(sentences(passage.text)):
                yield replace(passage, text=whole, preview=0, gaps=()), sentence


def _in_common(fact: Fact, text: str) -> float:
    """The share of words that a text has in common with a fact; nothing where it has no others."""
    known, words = words_of(fact.text), words_of(text)
    both = len(known & words)
    return both / (len(known) * len(words)) ** 0.5 if both and not words <= known else 0.0


def _with_what_leans(said: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each sentence, and the same with the next one where that says more of it: "They're written to …"."""
    for sentence, behind in zip(said, [*said[1:], ""], strict=True):
        both = f"{sentence} {behind}"
        yield sentence, both if behind and leans(behind) and len(both.split()) <= WORDS else sentence


def _is_told(at: datetime, words: frozenset[int], told: Iterable[tuple[datetime, frozenset[int]]]) -> bool:
    """Whether something that was said then or later says it: what is older has the same subject, and no news."""
    return any(said >= at and len(words & own) >= HELD * len(words) for said, own in told)


def _said_at(memory: Memory) -> datetime:
    return memory.recorded_at if isinstance(memory, Fact) else memory.at
