"""What a sentence claims, read once: who compares many sentences with each other keeps these.

Each part is read when it is first asked for, and most comparisons ask for one or two of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from memory.language import scopes
from memory.language.sides import sides
from memory.language.vocabulary import vocabulary
from memory.language.words import STOP, stem, words

LONGEST = 600
"""Characters of a sentence that are looked at."""

Stems = frozenset[str]

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|can't|won't|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|"
    r"shouldn't|mustn't|wouldn't|hardly|stop(?:ped)?|avoid(?:s|ing)?|against|nicht|kein\w{0,2}|nie)\b"
)
# "Use tabs, not spaces" says what it says of tabs.
_CONTRAST = re.compile(r",\s*(?:and |but )?not [^,.;:]{1,60}(?=[,.;:!]|$)")
_DISLIKE = re.compile(
    r"\b(?:hate|dislike|loathe|detest|despise|can't stand|cannot stand|refuse|oppose|reject|ban(?:ned)?|"
    r"forbid(?:den)?|disable[ds]?)\w{0,2}\b"
)
_LIKE = re.compile(r"\b(?:like|love|enjoy|prefer|adore|favou?r|want|support|allow|enable)\w{0,2}\b")
_CHANGE = re.compile(
    r"\b(?:no longer|not any ?more|any ?more|instead of|instead|rather than|from now on|as of|switched|moved|"
    r"migrated|changed|replaced|renamed|upgraded|downgraded|dropped|stopped|quit|used to|now|new|turned out|"
    r"actually|correction|scrap that|changed my mind|going forward|deprecated|removed|nicht mehr|ab jetzt|statt)\b"
)
_FROM_TO = re.compile(
    r"\b(?:switched|switching|moved|moving|migrated|migrating|changed|changing|went|renamed|upgraded|downgraded|"
    r"converted) (?:\S{1,40} ){0,4}?from (?P<old>[^,.;]{1,80}?) to (?P<new>[^,.;]{1,80})|"
    r"\b(?P<new2>[^,.;]{1,80}?) (?:instead of|rather than) (?P<old2>[^,.;]{1,80})|"
    r"\breplaced (?P<old3>[^,.;]{1,60}?) (?:with|by) (?P<new3>[^,.;]{1,60})|"
    r"\bno longer (?:\w{1,15} ){0,2}?(?P<old4>[^,.;]{1,80})"
)
_NUMBER = re.compile(r"(?<![\w.])[$€£]?\d{1,20}(?:[.,:/-]\d{1,20}){0,6}%?(?![\w])")
_OVER = re.compile(r"(?P<a>[^,.;]{1,80}?) (?:over|instead of|rather than) (?P<b>[^,.;]{1,80})")
# One of these stands in whatever the patterns match; to look for them is much cheaper.
_BESIDE_OLD = ("from ", "instead of ", "rather than ", "replaced ", "no longer ")
_BETWEEN = (" over ", " instead of ", " rather than ")
# Attributes of which a thing has one at a time.
_COPULA = re.compile(
    r"^(?P<subject>.{2,100}?)\b(?:is|are|was|were|=|lives? (?:in|at|on)|runs? on|works? (?:at|for|as)|is called|"
    r"listens? on|costs?|starts? (?:at|on)|ends? (?:at|on)|defaults? to|should be|must be|will be|heiße|heißt|"
    r"ist)\b(?P<value>.{1,160})$"
)
_NUMBER_WORDS = vocabulary(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand"
)
_SWEEPING = vocabulary("currently now actually always usually really also just still only very")


class Attribute(NamedTuple):
    """An attribute of something and its value: the stems of both, and the words before the value."""

    subject: Stems
    value: Stems
    before: list[str]


class Claim:
    """A sentence, and what stands in it."""

    def __init__(self, text: str) -> None:
        self.text = text[:LONGEST]

    @cached_property
    def content(self) -> Stems:
        """The stems of what it is about."""
        return _content(self._plain)

    @cached_property
    def counted(self) -> Stems:
        """Those of them that are numbers."""
        return frozenset(each for each in self.content if scopes.counts(each) or each in _NUMBER_WORDS)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """The numbers, as they are written."""
        return frozenset(_NUMBER.findall(self._plain))

    @cached_property
    def tells_of_change(self) -> bool:
        """Whether it says that something has changed."""
        return _CHANGE.search(self._plain) is not None

    @cached_property
    def affirms(self) -> bool:
        """Whether it affirms; two negations do."""
        text = _CONTRAST.sub("", self._plain)
        negative = len(_NEGATION.findall(text)) % 2 == 1
        averse = bool(_DISLIKE.search(text)) and not _LIKE.search(_NEGATION.sub("", _DISLIKE.sub("", text)))
        return negative == averse

    @cached_property
    def moves(self) -> tuple[tuple[Stems, Stems], ...]:
        """What has gone and what came for it, of each "switched from A to B"."""
        return tuple((left - came, came) for left, came in self._moved if left - came)

    @cached_property
    def left(self) -> Stems:
        """All the words of what has gone, also those that what came has: "from dark mode to light mode"."""
        return frozenset[str]().union(*(left for left, _ in self._moved))

    @cached_property
    def over(self) -> tuple[Stems, Stems] | None:
        """Both sides of "A over B"."""
        text = self._plain
        if not any(phrase in text for phrase in _BETWEEN):
            return None
        found = _OVER.search(text)
        return (_content(found["a"]), _content(found["b"])) if found else None

    @cached_property
    def attribute(self) -> Attribute | None:
        """A claim that an attribute of something has a value."""
        text = self._plain.strip(" .!")
        found = _COPULA.match(text)
        if found is None:
            return None
        before = text[: found.start("value")].split()
        return Attribute(_content(found["subject"]), _content(found["value"]), before)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words in order, cut as those of :attr:`content`."""
        return tuple(words(self._plain))

    @cached_property
    def circumstances(self) -> Mapping[str, Stems]:
        """The circumstances in which it holds."""
        return scopes.circumstances(self.text)

    @cached_property
    def names(self) -> Stems:
        """The names of what it is about."""
        return scopes.names(self.text)

    @cached_property
    def sides(self) -> tuple[Stems, Stems]:
        """What it stands for, and what it rejects."""
        return sides(self.text)

    @cached_property
    def _moved(self) -> tuple[tuple[Stems, Stems], ...]:
        text = self._plain
        if not any(phrase in text for phrase in _BESIDE_OLD):
            return ()
        return tuple(
            (
                _content(each["old"] or each["old2"] or each["old3"] or each["old4"]),
                _content(each["new"] or each["new2"] or each["new3"] or ""),
            )
            for each in _FROM_TO.finditer(text)
        )

    @property
    def _plain(self) -> str:
        return self.text.lower().replace("’", "'")


def _content(text: str) -> Stems:
    return frozenset(stem(word) for word in words(text) if word not in STOP and word not in _SWEEPING)
