"""What a sentence claims, read once: who compares many sentences with each other keeps these.

Each part is read when it is first asked for, and most comparisons ask for one or two of them.

What a sentence says has changed: "switched from A to B", "B instead of A", "no longer A", "Ida replaced Bo".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from memory.language import conditions
from memory.language.entities import RELATION
from memory.language.leaving import CUE, leavers
from memory.language.polarity import is_passing, is_reported, is_to_come, is_unsure, sides
from memory.language.words import Stems, content, vocabulary, words

_VERBS = (
    r"switch(?:e[sd]|ing)?|mov(?:e[sd]?|ing)|migrat(?:e[sd]?|ing)|chang(?:e[sd]?|ing)|(?<!\bi )went|renamed|rewrote|"
    r"rewritten|upgrad(?:e[sd]?|ing)|downgrad(?:e[sd]?|ing)|convert(?:s|ed|ing)?|raised|lowered|increased|decreased|"
    r"reduced|bumped"
)
_FROM_TO = re.compile(
    r"\b(?:"
    + _VERBS
    + r") (?:\S{1,40} ){0,4}?from (?P<old>(?:[^,.;]|\.(?=\w)){1,80}?) to (?P<new>(?:[^,.;]|\.(?=\w)){1,80})|"
    r"\b(?P<new2>(?:[^,.;]|\.(?=\w)){1,80}?) (?:instead of|rather than) (?P<old2>(?:[^,.;]|\.(?=\w)){1,80})|"
    r"\breplaced (?P<old3>(?:[^,.;]|\.(?=\w)){1,60}?) (?:with|by) (?P<new3>(?:[^,.;]|\.(?=\w)){1,60})|"
    r"\b(?:no longer|(?:stopped|quit)(?= \w{2,20}ing\b)) (?:\w{1,15} ){0,2}?(?P<old4>(?:[^,.;]|\.(?=\w)){1,80}?)"
    r"(?= (?:because|since|so|as of|due to|"
    r"and (?:now |we |i |have ){0,3}(?:us|switch|mov|migrat|replac|chang)\w{0,6})\b|[,.;]|$)|"
    r"\b(?:"
    + _VERBS
    + r") (?:\S{1,40} ){0,4}?to (?P<new5>(?:[^,.;]|\.(?=\w)){1,60}?) from (?P<old5>(?:[^,.;]|\.(?=\w)){1,60})|"
    r"\brenamed (?P<old6>(?:[^,.;]|\.(?=\w)){1,60}?) (?:to|as) (?P<new6>(?:[^,.;]|\.(?=\w)){1,60})|"
    r"^(?!(?:we|i|they|he|she|you|it) )(?P<new7>(?:[^,.;]|\.(?=\w)){1,60}?) (?:has |have |now )?(?:"
    r"(?:replaced|replaces|succeeded|succeeds)(?! (?:.{1,60} )?(?:with|by) )|"
    r"(?:took|takes|taken) over (?:\S{1,40} ){0,5}?from) (?P<old7>(?:[^,.;]|\.(?=\w)){1,60}?)(?= as |[,.;]|$)|"
    r"^(?!(?:we|i|they|he|she|you|it) )(?P<old8>(?:[^,.;]|\.(?=\w)){1,60}?) (?:has |have |now )?(?:handed|passed) "
    r"(?:\S{1,40} ){0,6}?to (?P<new8>(?:[^,.;]|\.(?=\w)){1,60})|"
    r"\b(?:(?:do|does|did)(?:n't| not)|(?:(?:am|is|are|'m|'s|'re) not|(?:is|are)n't)) "
    r"(?P<old9>(?:[^,.;]|\.(?=\w)){1,60}?) any ?more(?=[,.;!]|$)|"
    r"^(?P<old10>(?:[^,.;]|\.(?=\w)){1,60}?) (?:has been|have been|was|were|is|are|got) (?:now )?"
    r"(?:replaced|superseded|succeeded) (?:by|with) (?P<new10>(?:[^,.;]|\.(?=\w)){1,60})"
)
_PAIRS = ("", "2", "3", "4", "5", "6", "7", "8", "9", "10")
"""Behind the names of both sides in each of these forms; the fourth and the ninth have no new one."""
_ENDING = frozenset(("new", "new3", "new6", "new8", "new10", "old2", "old5", "old7"))
"""Sides behind which the sentence may go on."""
_BEHIND = re.compile(
    r"(?<=\S) (?:for|in|on|at|as|because|since|so|when|while|after|before|with|by|last|this|yesterday|now|today)\b.*$"
)
_UP_TO_VERB = re.compile(
    r"^.{0,80}?\b(?:uses?|used|using|needs?|wants?|prefers?|with|is|are|be|has|have|runs?|writes?|takes?)\b (?=\S)"
)
"""What stands before "B" in "we use B instead of A", and is nothing that came."""
_NOT = re.compile(r"(?:n't|\b(?:not|never|no plans?|refuse[sd]?|against))\b(?! (?:only|just)\b)")
_CLAUSE = re.compile(r"[,;:.–—]|\b(?:so|but|and|because)\b")
# One of these stands in whatever the patterns match; to look for them is much cheaper.
_BESIDE_OLD = (
    "from ", "instead of ", "rather than ", "replace", "no longer ", "renamed ", "succeed", "handed ", "passed ",
    "stopped ", "quit ", "anymore", "any more", "supersed",
)  # fmt: skip


class StatedChange(NamedTuple):
    """The stems of what has gone and of what came for it, either of which may be empty. ``hands_over``: somebody took
    another one's place, who may be much else besides."""

    left: Stems
    came: Stems
    hands_over: bool


def changes(text: str) -> tuple[StatedChange, ...]:
    """The changes that a sentence in lower case tells of; "we have not switched" tells of none."""
    if not any(phrase in text for phrase in _BESIDE_OLD):
        return ()
    return tuple(
        StatedChange(
            _side_of_change(each, "old"),
            _side_of_change(each, "new"),
            bool(each["old7"] or each["old8"] or each["old10"]),
        )
        for each in _FROM_TO.finditer(text)
        if not _NOT.search(_CLAUSE.split(text[: each.end("new2") if each["new2"] else each.start()])[-1])
    )


def _side_of_change(found: re.Match[str], side: str) -> Stems:
    """What stands on one side of a change, in whichever form it was found."""
    groups = found.groupdict()
    pair, text = next(((pair, text) for pair in _PAIRS if (text := groups.get(side + pair))), ("", ""))
    if side + pair == "new2":
        return content(_UP_TO_VERB.sub("", text)) or content(text)
    return (content(_BEHIND.sub("", text)) if side + pair in _ENDING else frozenset()) or content(text)


MAX_SENTENCE_CHARS = 600
"""Characters of a sentence that are looked at."""

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|can't|won't|don't|doesn't|didn't|isn't|aren't|wasn't|weren't|"
    r"shouldn't|mustn't|wouldn't|haven't|hasn't|hadn't|hardly|stop(?:ped)?|avoid(?:s|ing)?|against|nicht|kein\w{0,2}|nie)\b"
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
    r"actually|correction|scrap that|changed my mind|going forward|deprecated|removed|again|back (?:to|on|in|at|with)|"
    r"(?:was|were|been|we(?:'ve| have)?|i(?:'ve| have)?|they(?:'ve| have)?) (?:\w+ )?"
    r"(?:raised|lowered|bumped|increased|decreased|reduced|shortened) (?:\w+ ){0,6}to(?=\s+\S{0,4}\d)|"
    r"nicht mehr|ab jetzt|ab sofort|jetzt(?! nicht)|statt|erhöht|gesenkt|angehoben|verlängert|verkürzt|umgestellt|"
    r"umgezogen|gewechselt|geändert|ya no|ahora(?! (?:no|mismo))|en (?:vez|lugar) de|"
    r"hemos (?:subido|bajado|cambiado|pasado|migrado))(?!\w)"
)
_DIGIT = re.compile(r"\d")
_WHY = re.compile(r"\b(?:because|since|due to)\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])[$€£]?\d{1,20}(?:[.,:/-]\d{1,20}){0,6}%?(?![\w])")
_OVER = re.compile(r"(?P<a>[^,.;]{1,80}?) (?:over|instead of|rather than) (?P<b>[^,.;]{1,80})")
_BETWEEN = (" over ", " instead of ", " rather than ")
_COPULA = re.compile(
    r"^(?P<subject>.{2,100}?)\b(?:(?:is|are|was|were) (?:now )?(?:written|hosted|based|owned|located|led|managed|"
    r"maintained|run|due|scheduled) (?:in|on|at|by|for)|"
    r"(?:is|are|was|were) (?:now )?called|is|are|was|were|=|lives? (?:in|at|on)|runs? on|works? (?:at|for|as)|"
    r"listens? on|costs?|starts? (?:at|on)|ends? (?:at|on)|defaults? to|should be|must be|will be|heiße|heißt|"
    r"(?:goe?s?|ships?|happens?|deploys?|meets?|releases?|opens?|closes?|expires?|begins?|runs?)(?: out)? (?:on|at)|"
    r"ist)\b(?P<value>.{1,160})$"
)
_MOVED = re.compile(
    r"^(?P<who>i|he|she|[a-z]{2,20})(?:'ve| have|'s| has)? (?:(?:just|recently|finally) )?(?:moved|relocated) to "
    r"(?!(?:the|an?|my|our|his|her|another|this|that|next|use|using)\b)(?=\S)"
)
"""Who moves to a place lives there."""
_PRONOUNS = frozenset(("we", "they", "it", "this", "that", "you"))
_PLACED = re.compile(r" ?(?:now )?(?:on|at|in|behind|under|near|between)\b")
_ROLE = re.compile(r" (?:now )?(?:the|our|my) (?:\S{1,30} ?){1,4}$")
_DETERMINED = re.compile(r"(?:the|our|my|your|his|her|their|its|this|that|these|those|a|an|it|there|what|which)\b")
"""What "the lead" is said to be, and no "Bob", who is "the lead"."""
_MEASURED = re.compile(r" (?:now )?(?:(?:about|only|around) )?[$€£]?\d[\d.,]*(?: ?%| ?[a-zµ]\w*\b)")
"""A number with what it counts: "60 seconds", "14 GB"."""
_NAMED = re.compile(r" (?:now )?(?:[A-Z][a-z]|an? )")
_OF_ME = re.compile(r"(?:(?:by the way|btw|so|and|but|also|no|yes|actually),? )*i(?:'m|'ve|'d)?\b")
_OF_ANOTHER = re.compile(
    rf"(?i:(?:my|our|his|her|their|the) (?:[\w-]{{1,20}} ){{0,2}}?{RELATION}\b(?! and i\b))(?! (?:is|was) [A-Z])"
)
"""Somebody of whom it is said what they do; who they are ("my boss is Ida") is said of whose they are."""
_OF_A_KIND = re.compile(r"(?!(?:the|our|my|your|his|her|their|its|this|that|it)\b)\S+ (?:is|was) (?:now )?an? ")
_USED_FOR = re.compile(
    r"^(?:we|i|our [\w-]{1,30}|the [\w-]{1,30})(?: now| currently)? uses? (?P<value>[^,;]{1,60}?) (?:for|as) "
    r"(?P<subject>[^,;]{2,80})$"
)
_NUMBER_WORDS = vocabulary(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand"
)


class Attribute(NamedTuple):
    """An attribute of something and its value: the stems of both, and the words before the value; ``placed`` says
    whether the value is somewhere, or some time: "on AWS", "at ten"; ``measured``
    whether it is a number of something, and ``named`` whether a name or one of a kind: "Postgres", "a hard limit"."""

    subject: Stems
    value: Stems
    before: list[str]
    placed: bool = False
    measured: bool = False
    named: bool = False


def may_tell_of_change(text: str) -> bool:
    """Whether a text may tell of a change, a number, or somebody who has left: a cheap look before it is read so."""
    plain = text.lower()
    return any(each.search(plain) for each in (_DIGIT, _CHANGE, CUE))


class Claim:
    """A sentence, and what stands in it."""

    def __init__(self, text: str) -> None:
        self.text = text[:MAX_SENTENCE_CHARS]

    @cached_property
    def content(self) -> Stems:
        """The stems of what it is about."""
        return content(self._plain)

    @cached_property
    def counted(self) -> Stems:
        """Those of them that are numbers."""
        return frozenset(each for each in self.content if conditions.counts(each) or each in _NUMBER_WORDS)

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
        return tuple((each.left - each.came, each.came) for each in self._changes if each.left - each.came)

    @cached_property
    def left(self) -> Stems:
        """All the words of what has gone, also those that what came has: "from dark mode to light mode"."""
        return frozenset[str]().union(*(each.left for each in self._changes))

    @cached_property
    def moved_to(self) -> bool:
        """Whether it says what came for what has gone."""
        return any(each.came for each in self._changes)

    @cached_property
    def hands_over(self) -> bool:
        """Whether it says that somebody took another one's place, who may be much else besides."""
        return any(each.hands_over for each in self._changes)

    @cached_property
    def held(self) -> Stems:
        """The stems of what it holds to be so: not of what it says has gone."""
        came = frozenset[str]().union(*(each.came for each in self._changes))
        return (self.content - self.left) | came

    @cached_property
    def reported(self) -> bool:
        """Whether it is said to be what somebody else says, or only what is guessed."""
        return is_reported(self._plain)

    @cached_property
    def to_come(self) -> bool:
        """Whether it says in so many words that it will be so only later."""
        return is_to_come(self._plain)

    @cached_property
    def unsure(self) -> bool:
        """Whether it only asks, or says what might be so, or under a condition."""
        return is_unsure(self._plain)

    @cached_property
    def passing(self) -> bool:
        """Whether it says that it is so for a while: "today", "this week", and no change that came to pass then."""
        return is_passing(self._plain)

    @property
    def tentative(self) -> bool:
        """Whether it is not said to be so by who says it, or not yet, or not for long."""
        return self.reported or self.to_come or self.unsure or self.passing

    @cached_property
    def shared(self) -> Stems:
        """What both what has gone and what came for it are: "mode" in "from dark mode to light mode"."""
        return frozenset[str]().union(*(each.left & each.came for each in self._changes))

    @cached_property
    def over(self) -> tuple[Stems, Stems] | None:
        """Both sides of "A over B"."""
        text = self._plain
        if not any(phrase in text for phrase in _BETWEEN):
            return None
        found = _OVER.search(text)
        return (content(found["a"]), content(found["b"])) if found else None

    @cached_property
    def attribute(self) -> Attribute | None:
        """A claim that an attribute of something has a value."""
        text = self._plain.strip(" .!")
        if (moved := self._settled) is not None:
            text = f"{moved['who']} {'live' if moved['who'] == 'i' else 'lives'} in {text[moved.end() :]}"
        found = _COPULA.match(text)
        if found is None:
            return None
        before = text[: found.start("value")].split()
        stated = found["value"]
        subject, value = content(found["subject"]), content(stated)
        if subject and _ROLE.match(stated) and not _DETERMINED.match(text):
            subject, value = value, subject
        written = self.text.strip(" .!")[-len(stated) :]
        return Attribute(
            subject,
            value,
            before,
            placed=_PLACED.match(stated) is not None,
            measured=_MEASURED.match(stated) is not None,
            named=_NAMED.match(written) is not None,
        )

    @property
    def settles(self) -> bool:
        """Whether it says that somebody has moved to a place, and so where they live."""
        return self._settled is not None

    @cached_property
    def _settled(self) -> re.Match[str] | None:
        found = _MOVED.match(self._plain)
        return found if found is not None and found["who"] not in _PRONOUNS else None

    @cached_property
    def of_me(self) -> bool:
        """Whether it is said of whoever says it: "I'm not a vegetarian any more"."""
        return _OF_ME.match(self._plain) is not None

    @cached_property
    def of_another(self) -> bool:
        """Whether it is said of somebody who is not the one that says it: "my son is a vegetarian", "Bo is away"."""
        if _OF_ANOTHER.match(self.text):
            return True
        attribute = self.attribute
        return (
            attribute is not None
            and bool(attribute.subject)
            and len(attribute.before) == 2
            and self.text[:1].isupper()
            and attribute.before[0] not in _PRONOUNS
            and attribute.before[0] != "user"
        )

    @cached_property
    def of_a_kind(self) -> bool:
        """Whether it says that somebody is one of many ("Priya is a manager"), which leaves room for much else."""
        return _OF_A_KIND.match(self._plain) is not None

    @cached_property
    def purpose(self) -> Attribute | None:
        """A claim that something is used for a purpose: the purpose and what is used."""
        text = self._plain.strip(" .!")
        found = _USED_FOR.match(text)
        if found is None:
            return None
        return Attribute(content(found["subject"]), content(found["value"]), text[: found.start("value")].split())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words in order, cut as those of :attr:`content`."""
        return tuple(words(self._plain))

    @cached_property
    def circumstances(self) -> Mapping[str, Stems]:
        """The circumstances in which it holds."""
        return conditions.circumstances(_WHY.split(self.text, maxsplit=1)[0])

    @cached_property
    def names(self) -> Stems:
        """The names of what it is about."""
        return conditions.names(self.text)

    @cached_property
    def leavers(self) -> frozenset[str]:
        """Who has left, as it says."""
        return leavers(self.text)

    @cached_property
    def sides(self) -> tuple[Stems, Stems]:
        """What it stands for, and what it rejects."""
        return sides(self.text)

    @cached_property
    def _changes(self) -> tuple[StatedChange, ...]:
        return changes(self._plain)

    @property
    def _plain(self) -> str:
        return self.text.lower().replace("’", "'")
