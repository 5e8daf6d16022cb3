"""What a person said later about the subject of a fact, where nothing was learnt from it.

A change is often told in passing, in a message about something else ("…, since the DBAs put billing on 6432"): no fact
comes of it, and the old one would stand alone as if it still held. Whether the remark changes the fact, narrows it or
says it again is left to the reader: both are shown, with their days.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from memory.context.rank import Memory
from memory.fact import Fact, Origin, Passage, Sensitivity
from memory.language.sentences import sentences
from memory.language.terms import words_of
from memory.understanding.encoder import Relation

UNRELATED: Final = 0.2
"""How likely it may be that a remark has nothing to do with the fact."""
PAIRS: Final = 4
"""Pairs of a fact and a remark that are read for one request, those with the most words in common."""
REMARKS: Final = 2
"""Remarks that are shown at most."""
HELD: Final = 0.6
"""The share of a remark's words in what was said then or later, and is shown already, from which on it tells nothing
more."""

Relate = Callable[[str, str], Relation]
"""Reads how a newer statement stands to an older one."""


@dataclass(frozen=True, slots=True)
class LaterRemark:
    """A fact, and the passage of a later one, cut to the sentence that is about the same."""

    fact: Fact
    passage: Passage


def later_remarks(
    facts: Sequence[Fact],
    candidates: Iterable[Memory],
    shown: Iterable[Memory],
    relate: Relate,
    *,
    passed_over: frozenset[str] = frozenset(),
    session: str = "",
) -> list[LaterRemark]:
    """What was said later about some facts, at most one remark about each. ``shown`` says itself what it says;
    ``passed_over`` are memories that stand in the request, ``session`` is the one that asks."""
    told = [(_said_at(memory), words_of(memory.text)) for memory in shown]
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
    for fact in facts:
        if not fact.origin.trusted:
            continue
        known = words_of(fact.text)
        for passage in passages:
            if passage.at <= fact.recorded_at or passage.source == fact.source:
                continue
            for sentence in sentences(passage.text):
                words = words_of(sentence)
                both = len(known & words)
                if both and not words <= known and not _is_told(passage.at, words, told):
                    share = both / (len(known) * len(words)) ** 0.5
                    found.append((share, LaterRemark(fact, replace(passage, text=sentence, preview=0, gaps=()))))
    found.sort(key=lambda each: (-each[0], each[1].passage.id, each[1].fact.id))
    read = [(relate(remark.fact.text, remark.passage.text).unrelated, remark) for _, remark in found[:PAIRS]]
    related = [each for each in read if each[0] <= UNRELATED]
    related.sort(key=lambda each: (each[0], each[1].passage.id))
    chosen: list[LaterRemark] = []
    for _, remark in related:
        if all(remark.fact.id != other.fact.id and remark.passage.id != other.passage.id for other in chosen):
            chosen.append(remark)
    return chosen[:REMARKS]


def _is_told(at: datetime, words: frozenset[int], told: Iterable[tuple[datetime, frozenset[int]]]) -> bool:
    """Whether something that was said then or later says it: what is older has the same subject, and no news."""
    return any(said >= at and len(words & own) >= HELD * len(words) for said, own in told)


def _said_at(memory: Memory) -> datetime:
    return memory.recorded_at if isinstance(memory, Fact) else memory.at
