"""What somebody takes back of what they settled earlier in the same conversation.

"I take that back" names nothing by itself. It is about what was settled in this conversation and is named in the
message that takes it back; where that names nothing, nothing is taken back: it may be about an errand. "Forget what I
said about the ferry" names it, and may be about what another conversation settled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

from memory.fact import Fact, FactKind, Origin, State
from memory.language.words import STOP, content, stem, vocabulary, words
from memory.learning.speech import spoken_in
from memory.understanding.forms import may_take_back, takes_back, topic_taken_back

MAX_CHARS: Final = 1200
"""Of a message that may take something back: a longer one tells much else."""
SHARED: Final = 2
"""Words that a message shares at least with what it takes back; of a name one is enough."""
_SETTLED: Final = (FactKind.DECISION, FactKind.CONVENTION, FactKind.PREFERENCE)
_NAMED_KINDS: Final = (*_SETTLED, FactKind.CORRECTION, FactKind.FACT)
"""What may be taken back by its name."""
_SMALL: Final = vocabulary(
    "los las la el lo del de en con para por y o que "
    "der die das den dem des ein eine einen einem und oder mit für zu im am"
)
"""Words of German and Spanish that name nothing."""
_LETTERS: Final = 4
"""Letters of a word at least that says what something is about."""


def withdrawing(text: str) -> str:
    """What a person's message says beside the words by which it takes back what they had said before it; nothing where
    it takes nothing back. A question, a supposition and what others said take nothing back."""
    if len(text) > MAX_CHARS or not may_take_back(text):
        return ""
    for clause in spoken_in(text):
        said = clause.text.lstrip().replace("’", "'")
        form = "" if clause.question or clause.hypothetical or clause.reported else takes_back(said)
        if form:
            return text.replace("’", "'").replace(form, " ", 1).strip()
    return ""


def topic_of(text: str) -> str:
    """What a message names that was said of it does not hold any more; nothing where it takes nothing back so."""
    if len(text) > MAX_CHARS or not may_take_back(text):
        return ""
    said = (each for each in spoken_in(text) if not (each.question or each.hypothetical or each.reported))
    return next((topic for each in said if (topic := topic_taken_back(each.text.lstrip()))), "")


def taken_back_of(topic: str, known: Iterable[Fact]) -> Fact | None:
    """Which of the ``known`` facts a person takes back who names its ``topic``: the only one of what they settled, in
    whichever conversation, that has all the words of it."""
    named = content(topic) - _SMALL
    found = [
        fact
        for fact in known
        if named
        and named <= content(fact.text)
        and fact.origin is Origin.USER
        and fact.kind in _NAMED_KINDS
        and fact.state is State.ACTIVE
        and not fact.pinned
    ]
    return found[0] if len(found) == 1 else None


def taken_back(text: str, known: Iterable[Fact], conversation: Collection[bytes]) -> Fact | None:
    """Which of the ``known`` facts is taken back by a message that says ``text`` beside: the one learnt of this
    ``conversation`` (digests of its messages before this one) that shares most words with it. Nothing where two share
    as many, or where that one has ended already."""
    named, stated = _names(text), frozenset(word.lower() for word in words(text))
    found: list[tuple[int, Fact]] = []
    for fact in known:
        if fact.source in conversation and fact.origin is Origin.USER and fact.kind in _SETTLED:
            shared = len(named & _names(fact.text))
            by_name = any(word.lower() in stated for name in fact.entities for word in words(name))
            if shared >= (1 if by_name else SHARED):
                found.append((shared, fact))
    found.sort(key=lambda each: -each[0])
    if not found or (len(found) > 1 and found[0][0] == found[1][0]):
        return None
    best = found[0][1]
    return best if best.state is State.ACTIVE and not best.pinned else None


def _names(text: str) -> frozenset[str]:
    return frozenset(
        stem(word) for word in words(text) if (len(word) >= _LETTERS or word.isdigit()) and word not in STOP
    )
