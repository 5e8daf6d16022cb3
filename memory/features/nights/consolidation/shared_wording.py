"""In which of the person's own words a rule is put forward that they gave again and again, each time in others.

What they go on about shows on both sides of the talk: the agent keeps doing one thing, so that its words recur, and the
person answers in words that recur as well. The stretch of what they said that has most of these words, was likely meant
to last, and is short, says it best: a centroid summary of one sentence (Radev et al. 2004, *Centroid-based
summarization of multiple documents*), over both sides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Final

from memory.language.words import FUNCTION_WORDS, stem, words
from memory.understanding.clauses import Clause
from memory.understanding.network import LASTING_KINDS
from memory.understanding.wording import plain

SEVERAL: Final = 2
"""Messages of the person, or turns of the agent before them, in which a word recurs."""
OFTEN: Final = 3
"""Times that the agent did what the person speaks of: more of them say no more."""
CLAUSES: Final = 3
"""Clauses of a stretch at most."""
FEWEST: Final = 4
MOST: Final = 34
"""Words of a stretch."""
SURE: Final = 0.5
"""How likely what is put forward must have been meant to last."""
IDLE: Final = 0.1
"""What is less likely than that was of the moment, or nobody's business: no stretch has it in it."""
ANYHOW: Final = 0.4
"""What a stretch counts besides how likely it was meant to last."""
BARE: Final = 6
"""Words that every stretch may have beside those that recur."""
ENOUGH: Final = 0.9
"""The share of the weight of a stretch that its core must have to stand for it."""

MOST_BESIDE: Final = 16
"""Words of what stands behind it."""
MUCH: Final = 0.5
"""What it must say of what recurs that the first does not, as a share of what that says."""

COUNTS: Final = {"rule": 1.0, "pref": 1.0, "corr": 0.75, "dec": 0.75, "fact": 0.5}
"""What a kind counts as wording of a rule: what puts one thing right may be all about that, and what is merely so may
be its reason."""


@dataclass(frozen=True, slots=True)
class UserClause:
    """A clause of a message, and how likely it says something that guides or holds from now on."""

    text: str
    likely: float


@dataclass(frozen=True, slots=True)
class Saying:
    """A message of the person with the agent's words right ``before`` it."""

    clauses: tuple[UserClause, ...]
    before: str = ""


def saying(read: Iterable[Clause], before: str = "") -> Saying:
    """A message as it was ``read``, without what is worth nothing at the ends of its clauses."""
    return Saying(tuple(UserClause(_telling(clause), _likely(clause)) for clause in read), before)


def _telling(clause: Clause) -> str:
    return clause.text[clause.idle_start : len(clause.text) - clause.idle_end].strip()


def _likely(clause: Clause) -> float:
    kinds = dict(zip(LASTING_KINDS, clause.judged.kinds, strict=False))
    return sum(share * kinds[name] for name, share in COUNTS.items())


def wording(sayings: Sequence[Saying], core: Callable[[str], str]) -> str:
    """The stretch that says best what some messages go on about, or its ``core`` where that has all that recurs, and
    behind it another one that says what of this it leaves open; empty where none was likely meant to last."""
    weights = recurring(sayings)
    sure = [
        (place, stretch)
        for place, each in enumerate(sayings)
        for stretch in _adjacent_clauses(each.clauses)
        if stretch.likely >= SURE
    ]
    if not sure:
        return ""
    first, best = max(sure, key=lambda each: _worth(each[1], weights))
    if not _weight(best.text, weights):
        return ""
    has = _stems(best.text)
    open_weights = {word: weight for word, weight in weights.items() if word not in has}
    more = max(
        (each for place, each in sure if place != first and len(each.text.split()) <= MOST_BESIDE),
        key=lambda each: _worth(each, open_weights),
        default=None,
    )
    text = _as_sentence(best.text, weights, core)
    if more is None or _weight(more.text, open_weights) < MUCH * _weight(best.text, weights):
        return text
    end = "" if text.endswith((".", "!", "?")) else "."
    return f"{text}{end} {_as_sentence(more.text, weights, core)}"


def _as_sentence(text: str, weights: dict[str, float], core: Callable[[str], str]) -> str:
    short = core(text)
    text = plain(short if short and _weight(short, weights) >= ENOUGH * _weight(text, weights) else text)
    return text[:1].upper() + text[1:]


def recurring(sayings: Sequence[Saying]) -> dict[str, float]:
    """What each stem counts: in how many of the messages it recurs, and how often the agent did what it names."""
    said = Counter(word for each in sayings for word in _stems(" ".join(clause.text for clause in each.clauses)))
    done = Counter(word for each in sayings for word in _stems(each.before))
    return {
        word: count + (min(done[word], OFTEN) if done[word] >= SEVERAL else 0)
        for word, count in said.items()
        if count >= SEVERAL or done[word] >= SEVERAL
    }


def _adjacent_clauses(clauses: Sequence[UserClause]) -> Iterator[UserClause]:
    for first in range(len(clauses)):
        for last in range(first, min(first + CLAUSES, len(clauses))):
            own = clauses[first : last + 1]
            text = " ".join(each.text for each in own)
            if any("?" in each.text or each.likely < IDLE for each in own):
                break
            if FEWEST <= len(text.split()) <= MOST:
                yield UserClause(text, max(each.likely for each in own))


def _worth(stretch: UserClause, weights: dict[str, float]) -> float:
    return _weight(stretch.text, weights) * (ANYHOW + stretch.likely) / sqrt(len(_stems(stretch.text)) + BARE)


def _weight(text: str, weights: dict[str, float]) -> float:
    return sum(log(1 + weights[word]) for word in _stems(text) if word in weights)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words(text) if word not in FUNCTION_WORDS and len(word) > 2)
