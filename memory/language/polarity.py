"""The two sides of a sentence: what it stands for, and what it rejects.

"Use pnpm, not npm", "Don't use npm" and "No. Stop using npm" reject the same thing: that one of them has a word of
negation more than another does not make them contradict each other.
"""

from __future__ import annotations

import re

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
    return "" if not wrong or _stems(wrong) <= sides(text)[1] else wrong


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
