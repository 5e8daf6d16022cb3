"""Text that a person has found somewhere and pasted: it is not their word, whatever it says.

It begins behind a line that announces it ("Here is a page I found:") and goes on to the end of the message. It is kept
like what the web says, and what reads like an order in it is left out: whoever wrote it has no orders to give.
"""

from __future__ import annotations

import re

from memory.language.sentences import sentences
from memory.language.vocabulary import vocabulary

_LEAD = re.compile(
    r"^(?=[^\n]{0,160}:[ \t]{0,4}$)"
    r"(?=[^\n]{0,160}\b(?:here(?:'s|’s| is| are)|found|pasted?|copied|read|saw|from|keep|save)\b)"
    r"[^\n]{0,160}\b(?:(?:web ?)?(?:page|site)s?|website|article|blog|(?:blog |forum )?posts?|documents?|newsletter|"
    r"press release|paper|chapter|wiki|handbook|guide|tutorial|leaflet|flyer|advert|spam)\b[^\n]{0,160}:[ \t]{0,4}$",
    re.IGNORECASE | re.MULTILINE,
)
_ASKS = re.compile(r"\n\s*\n([^\n]{1,240}\?)\s*$")
"""A last paragraph in which the person asks something about it."""

_VERBS = vocabulary(
    "accept access act add address adopt allow always analyze answer append apply approve ask assist assume avoid "
    "begin behave book bypass call cancel change check choose click compose confirm contact continue convert copy "
    "create decrypt delete disable disclose discover disregard do don't download edit email emit emulate enable "
    "encode ensure enter execute explain export extract fetch find finish follow forget format forward generate "
    "give grant help hint ignore imagine impersonate include insert install introduce invite keep list listen "
    "make mention message modify move never obey omit open order output override overwrite pay perform persuade "
    "play please post praise prefix prepend present pretend print produce promote propose provide publish "
    "purchase put read recommend refuse reject release remember remove rename repeat replace reply report request "
    "reset respond restart retrieve return reveal review rewrite role-play roleplay run save say schedule search "
    "send set share show shut simulate speak spell start state stay stop submit substitute suggest summarize take "
    "talk tell terminate transfer translate treat try turn uninstall update upload use utilize visit wipe write"
)
_ORDER = re.compile(
    r"\b(?:you|u|chatgpt|gpt|(?:the |an? )?(?:ai|assistant|model|chatbot|bot|agent)) (?:\w{1,12} )?(?:are|will|must|"
    r"should|shall|can|cannot|can't|may|have to|need to|ought|do not|don't|never|always|won't|were|would|could|act|"
    r"answer|respond|reply)\b|\bfrom now on\b|\byour (?:\w{1,15} ){0,2}(?:task|goal|role|job|answers?|responses?|"
    r"replies|reply|output|instructions?|guidelines|prompts?|rules|purpose|mission|name|persona)\b|"
    r"\b(?:previous|prior|above|earlier) instructions?\b|\bi (?:want|need|would like|order|command) you\b|"
    r"\b(?:act|behave|respond|answer|reply) (?:as|like)\b",
    re.IGNORECASE,
)
_FIRST = re.compile(r"[\W_]*(?:(?:and|then|now|also|first|finally|next|instead|so|but|please|kindly)[,:]? )*([\w'-]+)")
MOSTLY = 0.3
"""The share of orders from which on nothing of a text is kept."""


def parted(text: str) -> tuple[str, str]:
    """A message as its person's own words and what they found elsewhere, which is empty in nearly every message."""
    lead = _LEAD.search(text)
    if lead is None:
        return text, ""
    found, asks = text[lead.end() :], _ASKS.search(text, lead.end())
    own = text[: lead.end()]
    if asks is not None:
        own, found = f"{own}\n\n{asks[1]}", text[lead.end() : asks.start()]
    return own, found


def without_orders(text: str) -> str:
    """A found text without the sentences that tell somebody what to do; nothing where it mostly does."""
    said = sentences(text)
    kept = [each for each in said if not is_order(each)]
    return "\n".join(kept) if len(kept) > (1.0 - MOSTLY) * len(said) else ""


def reported(text: str) -> str:
    """What a sub-agent says, line by line, without the sentences that tell its reader what to do, also where they are
    quoted behind a colon: a talk that comes upon it later shall hear what was found, and nobody's orders."""
    return "\n".join(filter(str.strip, map(_without_orders, text.split("\n")))) if _orders(text) else text


def _without_orders(line: str) -> str:
    return " ".join(each for each in sentences(line) if not _orders(each)) if _orders(line) else line


def _orders(text: str) -> bool:
    return any(is_order(part) for each in sentences(text) for part in (each, *each.split(": ")[1:]))


def is_order(sentence: str) -> bool:
    """Whether a sentence tells its reader, or an assistant, what to do, by its form."""
    first = _FIRST.match(sentence)
    return bool(_ORDER.search(sentence)) or (first is not None and first[1].lower() in _VERBS)
