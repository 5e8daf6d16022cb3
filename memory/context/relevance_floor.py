"""The relevance floor: a message that has nothing to do with what is remembered recalls nothing.

Three signs are added up: how much of the message its best memory covers, how near the two are in meaning, and how
much at home the message's words are in memory at all. A message that seeks something to be known passes on less than
one that orders: for the first, memory may be the only one to know; the second is about the work at hand, and so is a
question in so far as its words are those of the work.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory.context.lexical import WeightedQuery
from memory.context.message_intent import tells
from memory.context.question import RecallQuestion
from memory.context.route import about_then
from memory.fact import Fact, Origin, Passage
from memory.ports import IndexHit


@dataclass(frozen=True, slots=True)
class RelevanceFloor:
    """The least sum of the three signs, each in 0..1, for a message that seeks and for one that orders.

    ``preference`` is the least sum of judgement and cosine of what advice should heed. A question that names a time at
    which something was said needs less by ``timed``.
    Beside what passes, a memory that shares no word with the question needs a cosine of ``alone``: a young memory has
    too little in it to fill the place.
    """

    seeking: float = 0.7
    ordering: float = 1.6
    familiar: float = 1.0
    preference: float = 0.05
    timed: float = 0.35
    alone: float = 0.2


FLOOR = RelevanceFloor()

OPEN = RelevanceFloor(seeking=0.0, ordering=0.0, familiar=0.0, preference=0.0, timed=0.0, alone=0.0)
"""For a person who searches: whatever has anything to do with it."""

_TRACE = 0.05
"""Below this no memory has anything to do with a question, however familiar its words are."""


def passes(
    question: RecallQuestion,
    weighed: WeightedQuery,
    found: Iterable[tuple[IndexHit, Fact | Passage]],
    floor: RelevanceFloor = FLOOR,
) -> bool:
    """Whether a question may recall anything from what was found.

    A turn that only asked or ordered something then is no evidence: it knows no more than the one who asks now.
    """
    least = needed(question, weighed, floor)
    spans = question.route.spans
    return any(
        weighed.coverage(hit.lexical) + max(hit.cosine, 0.0)
        >= max(least - (floor.timed if spans and about_then(memory, spans) > 0 else 0.0), _TRACE)
        and is_evidence(memory)
        for hit, memory in found
    )


def is_evidence(memory: Fact | Passage) -> bool:
    """Whether a memory speaks for itself: a person's turn that states nothing ("Good day.") does not."""
    return isinstance(memory, Fact) or memory.origin is not Origin.USER or tells(memory.text)


def needed(question: RecallQuestion, weighed: WeightedQuery, floor: RelevanceFloor = FLOOR) -> float:
    """The least that coverage and cosine must add up to."""
    return floor.seeking + question.work * (floor.ordering - floor.seeking) - floor.familiar * weighed.familiar
