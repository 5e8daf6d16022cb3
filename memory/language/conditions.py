"""In which circumstances a claim is said to hold: "in staging", "on Windows", "when it rains", "for Priya".

Two claims that each hold in circumstances of their own are no rivals, however much they are alike. By form only: the
words behind a preposition, unless they are the value itself ("I live in Berlin", "the meeting is on Friday").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from memory.language.calendar import MONTH_NAMES, WEEKDAYS
from memory.language.entities import entities
from memory.language.words import STOP, parts, stem, tokens, vocabulary

Circumstances = Mapping[str, frozenset[str]]

_PHRASE = re.compile(
    r"(?<![\w-])(?P<before>[\w']{1,30} )?(?P<preposition>in|on|at|under|within|inside|during|for|when|while|if) "
    r"(?:(?:the|our|my|your|his|her|their|its|a|an|all|any|every) )?(?P<what>[a-z][\w.-]{1,40}"
    r"(?: (?!(?:in|on|at|for|to|of|and|or|with|from|as|by|is|are|was|when|while|if|under|because|since|instead|now)\b)"
    r"[a-z][\w-]{1,40})?)",
    re.IGNORECASE,
)
_HEADS = vocabulary(
    "is are was were be been being am lives live lived living runs run works work worked listens listen starts start "
    "ends end costs defaults set stays sits based located moved switched migrated changed upgraded insist focus "
    "deploy deploys go goes out ship ships happen happens meet meets release releases open opens close closes expire "
    "expires begin begins written hosted owned maintained managed led scheduled "
    "depends depend based"
)
"""Words behind which comes the value and no circumstance."""
_IS_NOW = re.compile(r"\b(is|are|was|were) now (?=(?:in|on|at) )", re.IGNORECASE)
_GROUPS: Mapping[str, str] = {
    **dict.fromkeys(("in", "on", "at", "under", "within", "inside", "during"), "place"),
    "for": "for",
    **dict.fromkeys(("when", "while", "if"), "when"),
}
_ANY = frozenset(
    stem(word)
    for word in vocabulary(
        "project repo repository code codebase case fact end general order particular addition time future moment way "
        "place example instance sure first year month week today tomorrow"
    ).union(MONTH_NAMES)
)
"""What narrows nothing, or only says since when."""
_DAYS = frozenset(stem(word) for day in WEEKDAYS for word in (day, f"{day}s"))
_REASONS = frozenset(
    stem(word)
    for word in vocabulary(
        "reason reasons performance speed cost costs simplicity security safety convenience consistency compatibility "
        "reliability stability licensing good sake noon midnight"
    )
)
"""What says why, or at which hour, and not of what."""
_SAME = {"prod": "product", "preprod": "stage", "dev": "develop", "mac": "maco"}


def _stem_of(word: str) -> str:
    """The stem of a word; "ios" is no more than one "io", which domains end with."""
    return word if word == "ios" else stem(word)


_WHERE = frozenset(
    _stem_of(word)
    for word in vocabulary(
        "staging production prod preprod dev development testing qa ci sandbox demo canary windows linux macos mac "
        "android ios frontend backend weekdays weekends mornings evenings"
    )
)
"""Circumstances that are told without a preposition too: "the staging timeout"."""


def apart(older: Circumstances, newer: Circumstances, *, days: bool = True) -> bool:
    """Whether two claims hold in circumstances, or of things, that have nothing to do with each other. Without ``days``
    a day is no such circumstance: it may be the very thing that has changed."""
    return any(group in newer and not names & newer[group] for group, names in older.items() if days or group != "day")


def narrower(older: Circumstances, newer: Circumstances) -> bool:
    """Whether the newer claim is said to hold in circumstances of which the older one says nothing, or less: an
    exception from it and no end of it."""
    return any(group not in older or older[group] < names for group, names in newer.items())


def elsewhere(older: str, newer: str) -> bool:
    """Whether the newer claim names an environment, a system or a time of the week that the older one does not."""
    before, after = (_stems(text.replace("’", "'")) & _WHERE for text in (older, newer))
    return bool(after - before)


def of_others(older: frozenset[str], newer: frozenset[str]) -> bool:
    """Whether each of two claims has names that the other has not: "Redis has three nodes", "Kafka has five"."""
    return bool(older and newer and not older & newer)


def of_one_form(older: Sequence[str], newer: Sequence[str]) -> bool:
    """Whether two claims with numbers, as words, differ in one more word, which then tells what they are about: "the
    billing service listens on 80", "the login service listens on 90"."""
    if len(older) != len(newer):
        return False
    swapped = [(a, b) for a, b in zip(older, newer, strict=True) if a != b and not (counts(a) and counts(b))]
    return len(swapped) == 1 and not any(each in STOP for each in swapped[0])


@lru_cache(maxsize=4096)
def counts(word: str) -> bool:
    """Whether a word has a digit."""
    return any(map(str.isdigit, word))


def circumstances(text: str) -> Circumstances:
    """The stems of the circumstances that a claim names, by their kind (``place``, ``for``, ``when``, ``day``)."""
    plain = _IS_NOW.sub(r"\1 ", text.replace("’", "'"))
    found: dict[str, frozenset[str]] = {}
    for phrase in _PHRASE.finditer(plain):
        if (phrase["before"] or "").strip().lower() in _HEADS:
            continue
        stems = _stems(phrase["what"]) - _ANY
        if days := stems & _DAYS:
            found["day"] = found.get("day", frozenset()) | days
            stems -= days
        if stems and not stems & _REASONS:
            group = _GROUPS[phrase["preposition"].lower()]
            found[group] = found.get(group, frozenset()) | stems
    where = (_stems(plain) & _WHERE) - found.get("place", frozenset())
    if where and "place" not in found:
        found["place"] = where
    return found


def names(text: str) -> frozenset[str]:
    """The names in the first half of a claim: what it is about, not what it says of that."""
    subject = text[: max(len(text) // 2, 12)]
    return frozenset(base for name in entities(subject) if not any(map(str.isdigit, name)) for base in _stems(name))


def _stems(text: str) -> frozenset[str]:
    """Stems; what is on the stop list counts where it is a name ("in Go")."""
    terms = [word for token in tokens(text) for word in parts(token) if word not in STOP or token[0].isupper()]
    return frozenset(_SAME.get(base, base) for base in map(_stem_of, terms))
