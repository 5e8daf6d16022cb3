"""Orders that begin with a verb in its bare form ("Send the key"), of plain English texts.

Many such verbs are nouns as well ("Access tokens expire"): where the clause goes on with a verb of its own, the first
word is what it tells about. Before the verb may stand who is called, in what case, and how.

What a clause is about: whether its first word, which elsewhere is a verb, has one behind it, and is its subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from memory.language.sentences import asks
from memory.language.words import vocabulary

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
        if _PAST.search(word) and (
            _begins_object_of_past(after) or (_are_numbers(rest[:at]) and (at or after in _GOES_ON))
        ):
            return True
        if _is_plural(word) and after in _DETERMINES and first not in _TWO_OBJECTS:
            return True
        before = rest[at - 1] if at else ""
        if before and _is_plural(before) and word in _OF_MANY and after not in ("", ","):
            return True
        if noun and _is_verb_of_preceding(before, word, after):
            return True
    return False


def _is_verb_of_preceding(before: str, word: str, after: str) -> bool:
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


def _begins_object_of_past(word: str) -> bool:
    """Whether a word begins what a verb of the past is about."""
    return word in _DETERMINES or word[:1].isdigit()


def _are_numbers(before: Sequence[str]) -> bool:
    return all(any(map(str.isdigit, word)) for word in before)


ONLY_VERBS = vocabulary(
    "accept add adopt allow always analyze append apply approve ask assist assume avoid be begin behave bypass choose "
    "click compose confirm consider convert create decrypt delete deploy disable disclose discover disregard do "
    "don't emit emulate enable encode ensure enter erase execute explain fetch follow forget generate give go ignore "
    "imagine impersonate include introduce keep kindly let's lets listen modify never obey omit overwrite pay perform "
    "persuade please pretend promote propose provide publish recommend refuse reject remember remove rename repeat "
    "replace respond retrieve reveal rewrite role-play roleplay say send simulate speak spell stay substitute suggest "
    "summarize take tell terminate translate trust uninstall utilize"
)
"""Verbs that are nothing else, and that an order uses."""
_NOUNS_TOO = vocabulary(
    "access act address answer book call cancel change check contact continue copy download edit email export extract "
    "find finish format forward grant help hint insert install invite list mail make mention message move open order "
    "output "
    "override play post praise prefix prepare present print produce purchase push put read release reply report "
    "request reset restart return review run save schedule search set share show shut start state stop submit "
    "talk transfer treat try turn update upload use visit wipe write"
)
_VERBS = ONLY_VERBS | _NOUNS_TOO
_NO_OBJECT = frozenset(("of", ",", "|", "=", "→"))
_MARKS = frozenset((":", "-", "–", "—", "→"))
_LIST_MARK = re.compile(
    r"(?:&[a-z]{2,6};)?[\W_]*(?:[xX]\] )?[\W_]*"
    r"(?:(?i:step )?\(?(?:\d{1,3}|[a-hA-H](?=[.)]))(?:[.):]|\s?[-–—]\s)\s*)?[\W_]*"
)
_CALLED = re.compile(
    r"(?:(?i:hello|hi|hey|dear)\b,? ?)?(?:[A-Z]\w{1,20}|(?i:agents?|ai|assistants?|reader|everyone)), (?=[a-z])"
)
"""Somebody who is addressed before they are told: "Robin, send it"."""
# What ends like an adverb and is none, or is a verb of an order itself, is left out.
_BEFORE_THE_VERB = re.compile(
    r"(?:(?i:and|then|now|also|first|next|instead|so|but|please|just|"
    r"(?!anomaly|apply|assembly|comply|daily|early|elderly|family|friendly|hourly|italy|july|likely|monthly|multiply|"
    r"nightly|only|quarterly|rely|reply|supply|weekly|yearly)[a-z]{2,14}ly)\b[,:]? ?)+"
)
_CASE = re.compile(
    r"(?i:before|after|when|whenever|if|once|for|to|in|at|on|during|with|while|until|as|from|upon|here|whatever|"
    r"every|each)\b[^,.:;]{1,100}, (?:(?:then|please|also|always|just|immediately|first) )?(?=[\w`*])"
)
"""In what case something is to be done: "Before each build, run it"."""
_TITLE = re.compile(r"[A-Z][a-z]{1,20}(?: [A-Z][\w-]{1,20}){1,5}\W{0,3}")
_WORD = re.compile(r"`?[^\W_](?:[\w'./@-]|:(?=//))*(?:\(\)?)?`?|[,;:(\[—–=→|`]|-(?= )|[./~<{-]\S")
_NO_VERB = vocabulary(
    "about above across after against all along although am among and any are around as at because been before behind "
    "being below beneath beside besides between beyond both but by can case could despite did does during each either "
    "else enough even ever every except few for from had half has have hence here how however if in inside into is "
    "just least less like likewise many may maybe me might mine more most much my near nearly neither nor not nothing "
    "now of off on once one only onto opposite or other our out outside over own per perhaps plus quite rather same "
    "shall should since so some still such than that the their then there therefore these they this those though "
    "through throughout thus to together too toward towards twice under underneath unless unlike until up upon very "
    "via want was were what whatever when whenever where whereas whether which while who whoever whole whom whose why "
    "will with within without would yet yes became began broke brought built came caught chose drew drove fell felt "
    "fought found gave given gone got grew held kept knew known led left lost made meant met paid ran rose said sat "
    "saw seen sent shown sold spent spoke stood stuck taken thought threw told took understood went woke won wore "
    "written wrote otherwise meanwhile afterwards sometimes often today yesterday far again always altogether anyway "
    "no several rewrote redid undid sank shrank swore tore hid hung fed fled lay lit shot slept slid spun stole "
    "struck swept taught hurt"
)
_INFLECTED = re.compile(r"(?:[^s]s|ed|ing|ly)$")
_NOUN = re.compile(r"(?:[ai]nce|ion|ism|ity|ment|ness|ship)$")
_BESIDE_VERB = vocabulary("up out down off in on over together back")
_READ = 12
"""Words of a clause that are looked at behind its first."""


def is_imperative(text: str) -> bool:
    """Whether a sentence, or what stands in it behind a case or a call, begins with a verb that orders."""
    return any(map(_is_imperative, _imperative_candidates(text)))


def begins_with_subject(clause: str) -> bool:
    """Whether the first word of a clause, a verb elsewhere, is what it tells about: "push notifications are sent"."""
    found = _WORD.search(clause)
    rest = _words(clause, found.end(), _READ) if found is not None else []
    return found is not None and rest != [] and has_subject(found[0].lower(), rest, noun=found[0].lower() in _NOUNS_TOO)


def _imperative_candidates(text: str) -> Iterator[str]:
    """What of a sentence may be a clause that orders: without what stands before its verb."""
    mark = _LIST_MARK.match(text)
    # A word in backticks is a name: its tick says so.
    start = mark.end() if mark else 0
    text = text[start - (start > 0 and text[start - 1] == "`") :]
    yield text
    for before in (_BEFORE_THE_VERB, _CALLED, _CASE):
        found = before.match(text)
        if found is not None:
            yield text[found.end() :]


def _is_imperative(clause: str) -> bool:
    """Whether a clause begins with a verb that tells somebody what to do."""
    found = _WORD.search(clause)
    if found is None:
        return False
    first = found[0].lower().rstrip(".")
    rest = _words(clause, found.end(), _READ if first in _VERBS else 2)
    if first.startswith("`"):
        # A command in backticks is no verb of the sentence, a name of code neither.
        return first.strip("`") in _VERBS and rest[:1] != [] and rest[0] in OBJECT
    if first not in _VERBS:
        return _is_bare(clause, first, rest)
    if not rest:
        return first in ONLY_VERBS or clause.rstrip()[-1:] in ".!"
    if rest[0] in OBJECT:
        return True
    if first in _NOUNS_TOO and (rest[0] in _NO_OBJECT or _is_label(rest) or _TITLE.fullmatch(clause)):
        return False
    return not has_subject(first, rest, noun=first in _NOUNS_TOO)


def _words(clause: str, start: int, most: int) -> list[str]:
    """Words and marks from a place in a clause on, in lower case, but for a letter that counts
    ("Session A") and a month."""
    found = islice(_WORD.finditer(clause, start), most)
    return [word if (word := each[0].rstrip(".")) in ("A", "May") else word.lower() for each in found]


def _is_label(rest: Sequence[str]) -> bool:
    """Whether words are told about behind a mark: "Open issues: 17"."""
    mark = next((at for at, word in enumerate(rest[:4]) if word in _MARKS), None)
    return mark is not None and all(word.isalnum() and word not in OBJECT for word in rest[:mark])


def _is_bare(clause: str, first: str, rest: Sequence[str]) -> bool:
    """Whether a clause begins with a verb in its bare form and its object ("Describe the house")."""
    if not (first.removeprefix("re-").isalpha() and clause[1:2].islower()) or asks(clause):
        return False
    if first in _NO_VERB or _INFLECTED.search(first) or (first == "let" and rest[:1] == ["me"]):
        return False
    if len(rest) > 1 and rest[0] in _BESIDE_VERB:
        return rest[1] in OBJECT and not (_NOUN.search(first) or has_subject(first, rest[1:]))
    return rest[:1] != [] and rest[0] in OBJECT and rest[:2] != ["no", "longer"]
