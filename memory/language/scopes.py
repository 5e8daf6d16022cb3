"""In which circumstances a claim is said to hold: "in staging", "on Windows", "when it rains", "for Priya".

Two claims that each hold in circumstances of their own are no rivals, however much they are alike. By form only: the
words behind a preposition, unless they are the value itself ("I live in Berlin", "the meeting is on Friday").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from memory.language.entities import entities
from memory.language.vocabulary import vocabulary
from memory.language.words import STOP, parts, stem, tokens, words

TEXTS = 16384
"""Texts of which it is kept what stands in them: a night compares some thousands with each other, pass by pass."""

_PHRASE = re.compile(
    r"(?<![\w-])(?P<before>[\w']{1,30} )?(?P<preposition>in|on|at|under|within|inside|during|for|when|while|if) "
    r"(?:(?:the|our|my|your|his|her|their|its|a|an|all|any|every) )?(?P<what>[a-z][\w.-]{1,40}(?: [a-z][\w-]{1,40})?)",
    re.IGNORECASE,
)
_HEADS = vocabulary(
    "is are was were be been being am lives live lived living runs run works work worked listens listen starts start "
    "ends end costs defaults set stays sits based located moved switched migrated changed upgraded insist focus "
    "depends depend based"
)
"""Words behind which comes the value and no circumstance."""
_GROUPS: Mapping[str, str] = {
    **dict.fromkeys(("in", "on", "at", "under", "within", "inside", "during"), "place"),
    "for": "for",
    **dict.fromkeys(("when", "while", "if"), "when"),
}
_ANY = frozenset(
    stem(word)
    for word in vocabulary(
        "project repo repository code codebase case fact end general order particular addition time future moment way "
        "place example instance sure first january february march april may june july august september october "
        "november december year month week today tomorrow"
    )
)
"""What narrows nothing, or only says since when."""
_SAME = {"prod": "product", "preprod": "stage", "dev": "develop", "mac": "maco"}
_WHERE = frozenset(
    stem(word)
    for word in vocabulary(
        "staging production prod preprod dev development testing qa ci sandbox demo canary windows linux macos mac "
        "android ios frontend backend weekdays weekends mornings evenings"
    )
)
"""Circumstances that are told without a preposition too: "the staging timeout"."""


def apart(older: str, newer: str) -> bool:
    """Whether two claims hold in circumstances, or of things, that have nothing to do with each other."""
    first, second = circumstances(older), circumstances(newer)
    return any(group in second and not names & second[group] for group, names in first.items())


def of_others(older: str, newer: str) -> bool:
    """Whether each of two claims names a thing that the other does not: "Redis has three nodes", "Kafka has five"."""
    first, second = _names(older), _names(newer)
    return bool(first and second and not first & second)


def of_one_form(older: str, newer: str) -> bool:
    """Whether two claims with numbers differ in one more word, which then tells what they are about: "the billing
    service listens on 80", "the login service listens on 90"."""
    one, other = _words(older), _words(newer)
    if len(one) != len(other):
        return False
    swapped = [(a, b) for a, b in zip(one, other, strict=True) if a != b and not (counts(a) and counts(b))]
    return len(swapped) == 1 and not any(each in STOP for each in swapped[0])


@lru_cache(maxsize=TEXTS)
def _words(text: str) -> tuple[str, ...]:
    return tuple(words(text))


@lru_cache(maxsize=TEXTS)
def counts(word: str) -> bool:
    """Whether a word has a digit."""
    return any(map(str.isdigit, word))


def narrower(older: str, newer: str) -> bool:
    """Whether the newer claim is said to hold in circumstances of which the older one says nothing: an exception from
    it and no end of it."""
    first, second = circumstances(older), circumstances(newer)
    return any(group not in first for group in second)


@lru_cache(maxsize=TEXTS)
def circumstances(text: str) -> Mapping[str, frozenset[str]]:
    """The stems of the circumstances that a claim names, by their kind (``place``, ``for``, ``when``)."""
    plain = text.replace("’", "'")
    found: dict[str, frozenset[str]] = {}
    for phrase in _PHRASE.finditer(plain):
        if (phrase["before"] or "").strip().lower() in _HEADS:
            continue
        stems = _stems(phrase["what"]) - _ANY
        if stems:
            group = _GROUPS[phrase["preposition"].lower()]
            found[group] = found.get(group, frozenset()) | stems
    where = (_stems(plain) & _WHERE) - found.get("place", frozenset())
    if where and "place" not in found:
        found["place"] = where
    return found


@lru_cache(maxsize=TEXTS)
def _names(text: str) -> frozenset[str]:
    """The names in the first half of a claim: what it is about, not what it says of that."""
    subject = text[: max(len(text) // 2, 12)]
    return frozenset(base for name in entities(subject) if not any(map(str.isdigit, name)) for base in _stems(name))


def _stems(text: str) -> frozenset[str]:
    """Stems; what is on the stop list counts where it is a name ("in Go")."""
    kept = [word for token in tokens(text) for word in parts(token) if word not in STOP or token[0].isupper()]
    return frozenset(_SAME.get(base, base) for base in map(stem, kept))
