"""What somebody takes back of what they settled earlier in the same conversation.

"I take that back" names nothing by itself. It is about what was settled in this conversation and shares words with the
message that takes it back; where nothing does, nothing is taken back: it may be about an errand that taught nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from memory.fact import Fact, FactKind, Origin, State
from memory.language.words import STOP, stem, words
from memory.understanding.forms import takes_back

LONGEST: Final = 1200
"""Characters of a message that may take something back: a longer one tells much else."""
_SETTLED: Final = (FactKind.DECISION, FactKind.CONVENTION, FactKind.PREFERENCE, FactKind.FACT)
_LETTERS: Final = 4
"""Letters of a word at least that names something."""


def withdraws(text: str) -> bool:
    """Whether a person's message takes back what they had said before it."""
    return len(text) <= LONGEST and takes_back(text)


def taken_back(text: str, known: Iterable[Fact], conversation: Collection[bytes]) -> Fact | None:
    """Which of the ``known`` facts a message takes back: the one learnt of this ``conversation`` (digests of its
    messages before this one) that shares most words with it, the newest of several."""
    named = _names(text)
    shared = [
        (len(named & _names(fact.text)), fact.recorded_at, fact.id, fact)
        for fact in known
        if fact.source in conversation
        and fact.state is State.ACTIVE
        and fact.origin is Origin.USER
        and fact.kind in _SETTLED
        and not fact.pinned
    ]
    best = max(shared, default=None, key=lambda each: each[:3])
    return best[3] if best is not None and best[0] else None


def _names(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if len(word) >= _LETTERS and word not in STOP)
