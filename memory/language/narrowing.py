"""Is a newer claim about a part only of what an older one is about: "deploys of the docs" where that says "deploys"?

By form only: a word that the older claim does not have, where it can only narrow down what both are about.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from memory.language.claim import Claim, Stems
from memory.language.months import MONTHS
from memory.language.scopes import counts
from memory.language.vocabulary import vocabulary
from memory.language.words import STOP, stem

_NONE = (frozenset[str](), frozenset[str]())
_HAVING = frozenset(stem(word) for word in vocabulary("use run live work have host stay"))
"""Verbs that only join a subject and what it has."""
_PLAIN = _HAVING | frozenset(
    stem(word)
    for word in vocabulary(
        "deploy serve keep switch move migrate change rename upgrade downgrade convert replace drop stop quit remove "
        "leave left abandon ditch retire scrap rewrite rewrote port "
        "currently usually actually finally recently longer anymore correction update note new old main whole entire "
        "current default standard instead rather "
        "team company project group repo repository git server service system app application module package"
    )
)
"""What may stand before a thing and does not make it less than it is, or only says what kind of thing it is."""
_BEFORE_VERBS = vocabulary("i we you they he she it who to have has had never")
"""Behind one of these stands what is done to a thing, and no more of the thing: "I left Acme"."""
_APART = re.compile(r"[^\w\s]\s*no longer\b", re.IGNORECASE)
"""What stands before a mark is not who it is that stopped: "the logs are plain text, no longer JSON"."""
_SINCE = vocabulary("as of since in last this")
_DAYS = vocabulary("today yesterday")
_TIMES = _DAYS | MONTHS.keys() | vocabulary("monday tuesday wednesday thursday friday saturday sunday week month year")


def narrowed(older: Claim, newer: Claim) -> bool:
    """Whether the newer claim is about a part only of what the older one is about: an exception from it and no end of
    it. "The reports API", "deploys of the docs", "we no longer deploy the docs on Fridays"."""
    words = newer.words
    bases = [stem(word) for word in words]
    subject = older.content - newer.left
    when = _opening(words)
    more = [
        at >= when and _is_more(word, base, older.content) and not (at and words[at - 1] in _BEFORE_VERBS)
        for at, (word, base) in enumerate(zip(words, bases, strict=True))
    ]
    for at, base in enumerate(bases):
        if base in subject and ((at and more[at - 1]) or _is_of_more(words, more, at + 1)):
            return True
    apart = _APART.search(newer.text) is not None
    return any(_ends_less(words, bases, more, at, older.content, apart) for at in range(len(words) - 1))


def takes_over(older: Claim, newer: Claim) -> bool:
    """Whether the newer claim says of the very thing that the older one is about, and of nothing less, that what that
    one says of it has gone: all that is named there is named here, and here no more, before what has gone. Or that it
    is something else *now*."""
    if _is_now(older, newer):
        return True
    gone, came = (frozenset[str]().union(*sides) for sides in zip(*newer.moves, strict=True)) if newer.moves else _NONE
    bases = [(word, stem(word)) for word in newer.words[_opening(newer.words) :]]
    before = takewhile(lambda each: each[1] not in gone, bases)
    named = any(_is_more(word, base, older.content) and base not in came for word, base in before)
    return bool(older.content & gone) and older.content - gone - _HAVING <= newer.content and not named


def _is_now(older: Claim, newer: Claim) -> bool:
    """Whether both name one attribute of one thing, and the newer claim another value and "now"."""
    held, said = older.attribute, newer.attribute
    if held is None or said is None or "now" not in newer.words:
        return False
    return bool(held.subject) and held.subject == said.subject and not held.value <= said.value


def _opening(words: Sequence[str]) -> int:
    """How many words at the beginning only say since when it is so: "since Monday", "last week", "yesterday"."""
    at = sum(1 for _ in takewhile(_SINCE.__contains__, words))
    return at + 1 if at < len(words) and words[at] in (_TIMES if at else _DAYS) else 0


def _is_more(word: str, base: str, held: Stems) -> bool:
    return not (word in STOP or base in held or base in _PLAIN or counts(word))


def _is_of_more(words: Sequence[str], more: Sequence[bool], at: int) -> bool:
    """Whether "of …" follows, with a word that is more."""
    if words[at : at + 1] != ("of",):
        return False
    named = next((each for each in range(at + 1, len(words)) if words[each] not in STOP), None)
    return named is not None and more[named]


def _ends_less(
    words: Sequence[str], bases: Sequence[str], more: Sequence[bool], at: int, held: Stems, apart: bool
) -> bool:
    """Whether "no longer" stands here and has a word that is more before it, as who it is that stopped, or behind it,
    before the last of what both have in common."""
    if words[at] != "no" or words[at + 1] != "longer":
        return False
    who = next((place for place in range(at - 1, -1, -1) if bases[place] not in _PLAIN), 0)
    shared = [place for place in range(at + 2, len(bases)) if bases[place] in held]
    return bool(at and more[who] and not apart) or bool(shared and any(more[at + 2 : shared[-1]]))
