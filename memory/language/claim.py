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
    r"nicht mehr|ab jetzt|statt)\b"
)
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
    r"\b(?:do|does|did)(?:n't| not) (?P<old9>(?:[^,.;]|\.(?=\w)){1,60}?) any ?more(?=[,.;!]|$)|"
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
_WHY = re.compile(r"\b(?:because|since|due to)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;:.–—]|\b(?:so|but|and|because)\b")
_NUMBER = re.compile(r"(?<![\w.])[$€£]?\d{1,20}(?:[.,:/-]\d{1,20}){0,6}%?(?![\w])")
_OVER = re.compile(r"(?P<a>[^,.;]{1,80}?) (?:over|instead of|rather than) (?P<b>[^,.;]{1,80})")
# One of these stands in whatever the patterns match; to look for them is much cheaper.
_BESIDE_OLD = (
    "from ", "instead of ", "rather than ", "replace", "no longer ", "renamed ", "succeed", "handed ", "passed ",
    "stopped ", "quit ", "anymore", "any more", "supersed",
)  # fmt: skip
_BETWEEN = (" over ", " instead of ", " rather than ")
_REPORTED = re.compile(
    r"^(?:and |but |also )?(?!i |we )(?:\S{1,30} ){1,3}?(?:says?|said|thinks?|thought|claims?|claimed|told (?:me|us)|"
    r"mentioned|reckons?|believes?|heard|suggests?|suggested|assumes?)\b(?! (?:yes|ok))|"
    r"^(?:according to|apparently|supposedly|allegedly|rumou?r has it|maybe|perhaps|probably)\b|"
    r"\bi (?:heard|think|guess|believe|assume)\b"
)
_UNITS = r"(?:week|month|year|quarter|sprint|release|spring|summer|autumn|fall|winter|\w{3,6}day)"
_MONTHS = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_TO_COME = re.compile(
    rf"\b(?:tomorrow|soon|next {_UNITS}|(?:starting|beginning|as of) (?:on |in )?(?:\w{{3,6}}day|{_MONTHS})|"
    r"from \w{3,6}day on|"
    r"(?:plan(?:s|ned|ning)?|going|about|intend(?:s|ing)?|hop(?:es?|ing)|wants?|would like) (?:to|on) \w|"
    r"(?:considering|thinking (?:of|about)) \w|"
    r"(?:will|'ll|shall) (?:switch|move|migrate|change|replace|rename|convert|upgrade|downgrade|stop)\b|"
    r"(?:are|am|is|'re|'m|'s|start(?:ed|ing)?) (?:currently |slowly |still )?(?:switch|mov|migrat|convert|upgrad)ing\b)"
)
_UNSURE = re.compile(
    r"\b(?:might|tried|tested|could(?! you\b)|(?:we|i|they|it) may)\b|^if\b|"
    r"\bbut (?:\w{1,15} ){0,2}(?:reverted|failed|(?:went|rolled|switched|moved) (?:it )?back)\b|"
    r"^(?:should|shall|do|does|did) (?:we|i|they|it)\b|^(?!(?:can|could|would|will) you\b).{0,600}\?\W{0,3}$"
)
_PASSING = re.compile(
    rf"\b(?:for now|for the time being|temporarily|until|this once|just once|"
    r"(?<!as of )(?<!since )(?<!starting )(?<!from )(?:today|tonight|"
    rf"this (?:{_UNITS}|morning|afternoon|evening|time)))\b|^(?:on|in) (?:the week of )?(?:19|20)\d\d-\d\d|"
    r"\b(?:is|are) [^,;]{1,40} (?:on|in the week of) (?:19|20)\d\d-\d\d-\d\d\W{0,3}$"
)
_HAS_CHANGED = re.compile(
    r"\b(?:switched|moved|migrated|changed|went|renamed|rewrote|upgraded|downgraded|converted|replaced|dropped|"
    r"stopped|took|succeeded|handed|passed|removed|now)\b"
)
_LASTING = re.compile(r"\b(?:for now|for the time being|temporarily|until|this once|just once)\b")
_AT_ONCE = re.compile(r"\b(?:from now on|going forward|effective immediately|(?:as of|starting|from) (?:now|today))\b")
# Attributes of which a thing has one at a time.
_COPULA = re.compile(
    r"^(?P<subject>.{2,100}?)\b(?:(?:is|are|was|were) (?:now )?(?:written|hosted|based|owned|located|led|managed|"
    r"maintained|run|due|scheduled) (?:in|on|at|by|for)|"
    r"(?:is|are|was|were) (?:now )?called|is|are|was|were|=|lives? (?:in|at|on)|runs? on|works? (?:at|for|as)|"
    r"listens? on|costs?|starts? (?:at|on)|ends? (?:at|on)|defaults? to|should be|must be|will be|heiße|heißt|"
    r"(?:goe?s?|ships?|happens?|deploys?|meets?|releases?|opens?|closes?|expires?|begins?|runs?)(?: out)? (?:on|at)|"
    r"ist)\b(?P<value>.{1,160})$"
)
_PLACED = re.compile(r" ?(?:now )?(?:on|at|in|behind|under|near|between)\b")
_ROLE = re.compile(r" (?:now )?(?:the|our|my) (?:\S{1,30} ?){1,4}$")
_DETERMINED = re.compile(r"(?:the|our|my|your|his|her|their|its|this|that|these|those|a|an|it|there|what|which)\b")
"""What "the lead" is said to be, and no "Bob", who is "the lead"."""
_OF_A_KIND = re.compile(r"(?!(?:the|our|my|your|his|her|their|its|this|that|it)\b)\S+ (?:is|was) (?:now )?an? ")
_USED_FOR = re.compile(
    r"^(?:we|i|our [\w-]{1,30}|the [\w-]{1,30})(?: now| currently)? uses? (?P<value>[^,;]{1,60}?) (?:for|as) "
    r"(?P<subject>[^,;]{2,80})$"
)
_NUMBER_WORDS = vocabulary(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand"
)
_SWEEPING = vocabulary("currently now actually always usually really also just still only very")


class Attribute(NamedTuple):
    """An attribute of something and its value: the stems of both, and the words before the value; ``placed`` says
    whether the value is somewhere, or some time: "on AWS", "at ten"."""

    subject: Stems
    value: Stems
    before: list[str]
    placed: bool = False


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
    def moved_to(self) -> bool:
        """Whether it says what came for what has gone."""
        return any(came for _, came in self._moved)

    @cached_property
    def hands_over(self) -> bool:
        """Whether it says that somebody took another one's place, who may be much else besides."""
        return any(each["old7"] or each["old8"] or each["old10"] for each in self._found)

    @cached_property
    def held(self) -> Stems:
        """The stems of what it holds to be so: not of what it says has gone."""
        came = frozenset[str]().union(*(came for _, came in self._moved))
        return (self.content - self.left) | came

    @cached_property
    def reported(self) -> bool:
        """Whether it is said to be what somebody else says, or only what is guessed."""
        return _REPORTED.search(self._plain) is not None

    @cached_property
    def to_come(self) -> bool:
        """Whether it says in so many words that it will be so only later."""
        return _TO_COME.search(self._plain) is not None and _AT_ONCE.search(self._plain) is None

    @cached_property
    def unsure(self) -> bool:
        """Whether it only asks, or says what might be so, or under a condition."""
        return _UNSURE.search(self._plain) is not None

    @cached_property
    def passing(self) -> bool:
        """Whether it says that it is so for a while: "today", "this week", and no change that came to pass then."""
        text = self._plain
        return _PASSING.search(text) is not None and not (_HAS_CHANGED.search(text) and not _LASTING.search(text))

    @property
    def tentative(self) -> bool:
        """Whether it is not said to be so by who says it, or not yet, or not for long."""
        return self.reported or self.to_come or self.unsure or self.passing

    @cached_property
    def shared(self) -> Stems:
        """What both what has gone and what came for it are: "mode" in "from dark mode to light mode"."""
        return frozenset[str]().union(*(left & came for left, came in self._moved))

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
        subject, value = _content(found["subject"]), _content(found["value"])
        if subject and _ROLE.match(found["value"]) and not _DETERMINED.match(text):
            subject, value = value, subject
        return Attribute(subject, value, before, _PLACED.match(found["value"]) is not None)

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
        return Attribute(_content(found["subject"]), _content(found["value"]), text[: found.start("value")].split())

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words in order, cut as those of :attr:`content`."""
        return tuple(words(self._plain))

    @cached_property
    def circumstances(self) -> Mapping[str, Stems]:
        """The circumstances in which it holds."""
        return scopes.circumstances(_WHY.split(self.text, maxsplit=1)[0])

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
        return tuple((_side(each, "old"), _side(each, "new")) for each in self._found)

    @cached_property
    def _found(self) -> tuple[re.Match[str], ...]:
        text = self._plain
        if not any(phrase in text for phrase in _BESIDE_OLD):
            return ()
        # "We have not switched" tells of no change.
        return tuple(
            each
            for each in _FROM_TO.finditer(text)
            if not _NOT.search(_CLAUSE.split(text[: each.end("new2") if each["new2"] else each.start()])[-1])
        )

    @property
    def _plain(self) -> str:
        return self.text.lower().replace("’", "'")


def _side(found: re.Match[str], side: str) -> Stems:
    """What stands on one side of a change, in whichever form it was found."""
    said = found.groupdict()
    pair, text = next(((pair, text) for pair in _PAIRS if (text := said.get(side + pair))), ("", ""))
    if side + pair == "new2":
        return _content(_UP_TO_VERB.sub("", text)) or _content(text)
    return (_content(_BEHIND.sub("", text)) if side + pair in _ENDING else frozenset()) or _content(text)


def _content(text: str) -> Stems:
    return frozenset(stem(word) for word in words(text) if word not in STOP and word not in _SWEEPING)
