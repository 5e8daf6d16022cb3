"""The person asks in so many words that something be kept: "remember that…", "for the record", "for ever".

"Do you remember" and "I remember" ask and tell; they order nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.language.words import vocabulary
from memory.learning.speech import SpokenSentence

_ORDER = re.compile(
    r"^(?:and |but |please |also |always |just |you (?:should|must|need to) |can you |could you |would you |"
    r"will you |i (?:want|need|would like|'d like) you to ){0,3}(?:remember(?! when\b| how\b| the (?:time|days?)\b|"
    r" me\b)|keep (?:this |that |it )?in mind|have in mind|bear in mind|(?:make a |"
    r"take )?(?:mental )?note(?: down)?(?= that\b|:| this\b| it\b|,)|don't (?:ever )?forget|never forget|"
    r"memori[sz]e|save (?:this|that|it) (?:to|in|for)|store (?:this|that) (?:in memory|for)|add (?:this |that |"
    r"it )?to (?:your )?memory|for (?:the record|(?:your |future )reference)|merke? dir|vergiss nicht|"
    r"denk (?:bitte )?daran)\b[\s,:.-]{0,4}(?:(?:that|dass|this|it)\b[\s,:.-]{0,4})?"
)
_LAST = re.compile(
    r"\b(?:please )?(?:remember (?:this|that|it)|keep (?:this|that) in mind|don't forget (?:this|that|it)|"
    r"merk dir das)\b[^a-z]{0,4}$"
)
_CUES = vocabulary(
    "remember mind note forget memorize memorise memory record reference merk merke vergiss denk save store"
)
_FOR_EVER = re.compile(r"\b(?:for ?ever|permanently|always remember|never forget|for good|für immer|dauerhaft)\b")


@dataclass(frozen=True, slots=True)
class RememberRequest:
    """``text`` is what shall be kept, in the person's words; ``pinned`` that it is for ever; ``before`` that what is
    meant was said in the sentence before."""

    text: str
    pinned: bool
    before: bool = False


def remember_request(clause: SpokenSentence) -> RememberRequest | None:
    """What a clause asks to keep, or None."""
    plain = clause.plain
    if _CUES.isdisjoint(clause.words):
        return None
    pinned = bool(_FOR_EVER.search(plain))
    order = _ORDER.search(plain)
    if order is None:
        if _LAST.search(plain) and not clause.question:
            return RememberRequest(clause.text, pinned, before=len(clause.words) < 6)
        return None
    if (
        re.match(r"(?:can|could|would|will) you ", plain)
        and "remember" in plain
        and " that " not in plain
        and ":" not in plain
    ):
        return None
    rest = plain[order.end() :]
    rest = _FOR_EVER.sub("", rest).strip(" ,.:;!?")
    return RememberRequest(clause.text, pinned, before=len(rest.split()) < 2)
