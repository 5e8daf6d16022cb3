"""The two sides of a sentence: what it stands for, and what it rejects.

"Use pnpm, not npm", "Don't use npm" and "No. Stop using npm" reject the same thing: that one of them has a word of
negation more than another does not make them contradict each other.

Whether a sentence is said to be so by who says it, already, and for long. All take a sentence in lower case.
"""

from __future__ import annotations

import re

from memory.language.calendar import MONTH_NAME
from memory.language.words import stem, stems, words

Sides = tuple[frozenset[str], frozenset[str]]

_ASIDE = re.compile(
    r"^(?:(?:no|nope|nah|wrong|stop|not (?:quite|like that)|(?:as )?i (?:already )?(?:told|said)(?: to)? you|"
    r"(?:that|this|it)(?:'s| is| was) (?:wrong|not (?:right|correct|what i \w+)|incorrect))\s*[,.!:;-]+\s*)+",
    re.IGNORECASE,
)
"""What somebody begins a correction with: it denies what the other one did, and nothing of the sentence."""

_REJECTED = re.compile(
    r"\b(?:instead of|rather than|no longer|not|never|(?:don't|do not|doesn't|does not|didn't|won't|will not|shouldn't|"
    r"should not|mustn't|must not|can't|cannot)|stop(?:ped)?|avoid(?:s|ing)?|without|no)\b\s*"
    r"(?P<what>[^,.;:!?]{1,80}?)"
    r"(?=[,.;:!?]|$|\s(?:for|in|on|at|to|when|while|as|but|and|because|since|if|from|with|by|use|prefer)\b)",
    re.IGNORECASE,
)
_CHOOSING = frozenset(stem(word) for word in ("use", "using", "used", "ever", "again", "want", "please", "just", "any"))
"""Words of choosing, of which neither side is about."""


def without_aside(text: str) -> str:
    """A sentence without the "No," or "That's wrong." that it begins with, where something is left then."""
    rest = _ASIDE.sub("", text)
    return text if rest == text or not words(rest) else rest[:1].upper() + rest[1:]


def unsaid(wrong: str, text: str) -> str:
    """The other side of a correction, where its text does not reject that itself."""
    if not wrong or re.search(rf"\b(?:not|never) {re.escape(wrong)}(?!\w)", text, re.IGNORECASE):
        # Word for word: what is rejected may be a phrase of which a side has only the beginning.
        return ""
    return "" if _stems(wrong) <= sides(text)[1] else wrong


def sides(text: str) -> Sides:
    """The stems of what a sentence stands for, and of what it rejects; the latter is empty where it rejects nothing."""
    clean = without_aside(text.replace("’", "'"))
    rejected = frozenset[str]().union(*(_stems(found["what"]) for found in _REJECTED.finditer(clean)))
    return _stems(_REJECTED.sub(" ", clean)) - rejected, rejected


def on_one_side(one: Sides, other: Sides) -> bool:
    """Whether two sentences reject the same and neither stands for what the other rejects; or, where only one of them
    rejects something, whether the other has nothing to do with that."""
    (first, first_rejected), (second, second_rejected) = one, other
    if not first_rejected and not second_rejected:
        return False
    if first & second_rejected or second & first_rejected:
        return False
    return bool(first_rejected & second_rejected) or not (first_rejected and second_rejected)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stems(text)) - _CHOOSING


_REPORTED = re.compile(
    r"^(?:and |but |also )?(?!i |we )(?:\S{1,30} ){1,3}?(?:says?|said|thinks?|thought|claims?|claimed|told (?:me|us)|"
    r"mentioned|reckons?|believes?|heard|suggests?|suggested|assumes?)\b(?! (?:yes|ok))|"
    r"^(?:according to|apparently|supposedly|allegedly|rumou?r has it|maybe|perhaps|probably)\b|"
    r"\bi (?:heard|think|guess|believe|assume)\b"
)
_UNITS = r"(?:week|month|year|quarter|sprint|release|spring|summer|autumn|fall|winter|\w{3,6}day)"
_TO_COME = re.compile(
    rf"\b(?:tomorrow|soon|next {_UNITS}|(?:starting|beginning|as of) (?:on |in )?(?:\w{{3,6}}day|{MONTH_NAME})|"
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


def is_reported(text: str) -> bool:
    """Whether it is said to be what somebody else says, or only what is guessed."""
    return _REPORTED.search(text) is not None


def is_to_come(text: str) -> bool:
    """Whether it says in so many words that it will be so only later."""
    return _TO_COME.search(text) is not None and _AT_ONCE.search(text) is None


def is_unsure(text: str) -> bool:
    """Whether it only asks, or says what might be so, or under a condition."""
    return _UNSURE.search(text) is not None


def is_passing(text: str) -> bool:
    """Whether it says that it is so for a while: "today", "this week", and no change that came to pass then."""
    return _PASSING.search(text) is not None and not (_HAS_CHANGED.search(text) and not _LASTING.search(text))
