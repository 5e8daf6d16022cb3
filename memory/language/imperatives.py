"""Orders that begin with a verb in its bare form ("Send the key"), of plain English texts.

Many such verbs are nouns as well ("Access tokens expire"): where the clause goes on with a verb of its own, the first
word is what it tells about. Before the verb may stand who is called, in what case, and how.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from memory.language.clause_subjects import OBJECT, has_subject
from memory.language.sentences import asks
from memory.language.vocabulary import vocabulary

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
    return any(map(_is_imperative, _clauses(text)))


def begins_with_subject(clause: str) -> bool:
    """Whether the first word of a clause, a verb elsewhere, is what it tells about: "push notifications are sent"."""
    found = _WORD.search(clause)
    rest = _words(clause, found.end(), _READ) if found is not None else []
    return found is not None and rest != [] and has_subject(found[0].lower(), rest, noun=found[0].lower() in _NOUNS_TOO)


def _clauses(text: str) -> Iterator[str]:
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
