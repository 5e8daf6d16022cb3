"""What must not be shown as if it were certain: facts that the current talk contradicts, and facts with rivals.

Pure and cheap: only the few memories that are shown are looked at, and only against what is being stated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import combinations, islice
from typing import Final

from memory.fact import Fact, Passage, Sensitivity, State
from memory.language.contradiction import compare, scoped
from memory.language.sentences import sentences
from memory.language.terms import words_of

CLASH: Final = 0.6
"""How sure it must be that both cannot hold."""
STATED: Final = 6
"""Sentences of the talk that are looked at, the newest."""
COMPARED: Final = 8
"""Pairs of a fact and a sentence that are compared for one request: about a millisecond."""
_MAX_SENTENCE_CHARS = 300
_IN_COMMON = 2
_SAYS = 3


def doubter(text: str) -> Callable[[Fact | Passage], bool]:
    """Tells of a memory whether what is being said contradicts it."""
    stated = [
        (sentence, words_of(sentence))
        for sentence in sentences(text[-4 * _MAX_SENTENCE_CHARS :])
        if len(sentence) <= _MAX_SENTENCE_CHARS
        and len(words_of(sentence)) >= _SAYS
        and not sentence.rstrip(" \"')").endswith("?")
    ][-STATED:]
    left = COMPARED

    def doubted(memory: Fact | Passage) -> bool:
        nonlocal left
        if not stated or not memory.origin.trusted:
            return False
        for held in (memory.text,) if isinstance(memory, Fact) else sentences(memory.text):
            known = words_of(held)
            for sentence, words in stated:
                if left > 0 and known and len(known & words) >= min(_IN_COMMON, len(known)):
                    left -= 1
                    if compare(held, sentence).clash >= CLASH:
                        return True
        return False

    return doubted


def rivals_of(memories: Iterable[Fact | Passage], most: int = 20) -> list[str]:
    """The ids of the facts that contradict one of some memories and are not among them."""
    shown = list(islice(memories, most))
    known = {memory.id for memory in shown}
    named = (id for memory in shown if isinstance(memory, Fact) for id in memory.contradicts)
    return [id for id in dict.fromkeys(named) if id not in known]


def showable(rivals: Iterable[Fact | Passage], now: datetime) -> list[Fact]:
    """Those of the other sides that may be shown: they are held, too."""
    return [
        rival
        for rival in rivals
        if isinstance(rival, Fact)
        and rival.state is State.ACTIVE
        and rival.sensitivity is not Sensitivity.RESTRICTED
        and not (rival.expires_at and rival.expires_at <= now)
        and not (rival.valid_until and rival.valid_until <= now)
    ]


def each_in_scope(facts: Sequence[Fact]) -> bool:
    """Whether some facts are at odds only as a rule and its exceptions are: one of any two is about a part of what the
    other is about."""
    return all(scoped(one.text, other.text) for one, other in combinations(facts, 2) if _at_odds(one, other))


def _at_odds(one: Fact, other: Fact) -> bool:
    return other.id in one.contradicts or one.id in other.contradicts


def sides(fact: Fact, others: Sequence[Fact]) -> list[Fact]:
    """A fact and those that contradict it, what was borne out last first; empty where nothing does."""
    against = [other for other in others if _at_odds(fact, other)]
    if not against:
        return []
    return sorted([fact, *against], key=lambda each: (each.used_at or each.recorded_at, each.id), reverse=True)
