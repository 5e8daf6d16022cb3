"""What a clause is about: whether its first word, which elsewhere is a verb, has one behind it, and is its subject.

English words, in lower case, and marks; no grammar is known, only endings and which words stand beside each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.language.vocabulary import vocabulary

OBJECT = vocabulary(
    "the a an this that these those all any each every some your my our his her their its it me us him them yourself "
    "both more another no"
)
"""Words that begin an object: no noun stands before them without a verb in between."""
_TELLS = vocabulary("assume confirm ensure imagine pretend remember say suggest tell")
"""Verbs before a sentence of its own: "pretend tests have passed"."""
_TWO_OBJECTS = vocabulary("ask give grant make offer pay send show tell write")
_ENDS = vocabulary(
    ", ; : ( [ — – - = → | and or but if when whenever while because so that which who whom whose what whatever where "
    "wherever until unless as since once before than how why i you we they he she everything everyone anything"
)
"""Where a clause ends, or another one begins in it."""
_FINITE = vocabulary(
    "is are was were has have had isn't aren't wasn't weren't hasn't haven't hadn't does doesn't did didn't can can't "
    "cannot could couldn't will won't would wouldn't may might "
    "allows appears arrives becomes begins belongs causes comes consists contains creates depends describes differs "
    "exceeds exists expects expires fails gets gives goes grows happens holds ignores includes keeps knows lags lands "
    "lasts leaves lies listens lives loses makes matters means occurs prevents provides receives refers relies remains "
    "requires resides seems sends serves stays supports takes tells wants "
    "became began broke came drew fell gave grew ran rose shrank threw took went wrote"
)
"""Verbs that only a subject has, and that are hardly nouns."""
_OF_MANY = vocabulary(
    "accept allow appear apply arrive become begin belong block break cause come consist consume contain cost cover "
    "create depend describe differ do drop exceed exist expect expire fail follow get give go grow happen hold ignore "
    "include keep know lag land last lead leave lie live look lose make match matter mean need occur overlap pass "
    "point preserve prevent provide reach receive refer rely remain require reside return run serve share show sit "
    "start stay stop support survive take tend use vary wait want work"
)
"""Verbs as they stand behind a subject of several: "access tokens expire"."""
_PAST = re.compile(r"(?:\w\wed|made|found|held|left|lost|led|built|sent|kept|got|said|met|hit|brought|caught|dealt)$")
_TELLS_WHICH = vocabulary(
    "attached based called contained created found generated given included labeled labelled listed located marked "
    "mentioned named needed provided required saved shown stored tagged titled used written"
)
"""What a noun may be told by: "the files stored in it"."""
_BEHIND_OBJECT = vocabulary(
    "about above across after again against all alone along also always among and anyway around as at away back "
    "before behind below beside between by directly down early either elsewhere everywhere except first for forever "
    "free from here home if immediately in inside instead into last late later less like long more near never next "
    "not now of off offline on once online only onto or out outside over per raw right straight than then there "
    "through to together too twice under unless until up upstream via when whenever where while with within without"
)
"""What goes on behind the object of an order: "push changes straight to main"."""
_HOLDERS = vocabulary(
    "data database directory file files folder folders key keys list lists page pages panel report reports section "
    "table tables token tokens"
)
"""What is often called by several of what it holds: "copy credentials file to the share"."""
_GOES_ON = vocabulary("the a an its every no each to into from by")
_DETERMINES = vocabulary("the a an its every no each all both two three four five six")


def has_subject(first: str, rest: Sequence[str], *, noun: bool = False) -> bool:
    """Whether the ``first`` word of a clause, a verb elsewhere, is a noun in it: the ``rest`` holds a verb of its own.
    ``noun`` is true of a word that is as often one: then the endings of the words behind it are looked at too."""
    if rest[0] in _FINITE:
        return True
    if first in _TELLS:
        return False
    for at, word in enumerate(rest):
        if word in _ENDS:
            return False
        if word in _FINITE:
            return True
        after = rest[at + 1] if at + 1 < len(rest) else ""
        if _PAST.search(word) and (_counts(after) or (_are_numbers(rest[:at]) and (at or after in _GOES_ON))):
            return True
        if _is_plural(word) and after in _DETERMINES and first not in _TWO_OBJECTS:
            return True
        before = rest[at - 1] if at else ""
        if before and _is_plural(before) and word in _OF_MANY and after not in ("", ","):
            return True
        if noun and _goes_on(before, word, after):
            return True
    return False


def _goes_on(before: str, word: str, after: str) -> bool:
    """Whether a word is the verb of what stands before it, by their endings: "call volume doubled after the release",
    "change detection compares hashes", "cancel events bubble up"."""
    if not (before.isalpha() and word.isalpha() and after) or before in _BEHIND_OBJECT:
        return False
    if word.endswith("ed"):
        return word not in _TELLS_WHICH and after.isalpha()
    if word in _BEHIND_OBJECT or word in OBJECT or word in _HOLDERS or word.endswith(("ly", "er", "ing")):
        return False
    if _is_plural(word):
        goes_on = after in _BEHIND_OBJECT or after in _ENDS or after.endswith("ly")
        return not _is_plural(before) and after.isalpha() and not goes_on
    return _is_plural(before) and after not in _ENDS


def _is_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _counts(word: str) -> bool:
    """Whether a word begins what a verb of the past is about."""
    return word in _DETERMINES or word[:1].isdigit()


def _are_numbers(before: Sequence[str]) -> bool:
    return all(any(map(str.isdigit, word)) for word in before)
