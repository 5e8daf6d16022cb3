"""The relevance floor: a question that has nothing to do with what is remembered recalls nothing.

Two sides are looked at: the question (how much of the weight of its words occurs in any memory at all) and its best
memory (how much of the question it covers, and how near its meaning is).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.context.lexical import Weighed
from memory.context.question import Question
from memory.fact import Fact, Passage
from memory.ports import Found


@dataclass(frozen=True, slots=True)
class Floor:
    """What the best memory must reach. ``evidence`` is the least of coverage + cosine."""

    evidence: float = 0.9


FLOOR = Floor()


def passes(
    question: Question, weighed: Weighed, candidates: Sequence[tuple[Found, Fact | Passage]], floor: Floor = FLOOR
) -> bool:
    """Whether a question may recall anything."""
    if not candidates or not question.stems:
        return False
    best = max(weighed.coverage(hit.lexical) + max(hit.cosine, 0.0) for hit, _ in candidates)
    return best >= floor.evidence
