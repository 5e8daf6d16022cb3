"""Whether a research may leave its project for the others of its organisation.

Nothing that is guarded, and nothing about people, as far as written rules know: they miss what they do not know. A
word of somebody's private life is enough, whoever it is about: rather too little crosses. What is too long to be judged
stays where it is.
"""

from __future__ import annotations

import re
from typing import Final

from memory.language.sentences import sentences
from memory.learning.rule_findings import person_finding, personal
from memory.learning.sensitivity import is_guarded, is_of_private_life
from memory.learning.speech import SpokenSentence
from memory.research import Research

LARGEST: Final = 100_000
"""Characters of a question and its reports together that are judged."""

_OF_PEOPLE: Final = re.compile(
    r"\b(?:he|she|his|her|hers|him|himself|herself|date of birth|(?:parental|sick|maternity) leave)\b"
    r"|\bbirthday\b(?! (?:attack|bound|paradox|problem))"
    r"|(?<![\w.+-])(?!git@|noreply@)[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\b"
    r"|(?<!\w)\+[1-9]\d{0,2}[ ()/-]{0,2}\d[\d ()/-]{6,16}\d",
    re.IGNORECASE,
)
"""Somebody who is spoken of, what is in their life, their address, their telephone."""

_NAMED = re.compile(
    r"\b(?:Frau|Herrn?|Mrs?|Ms|Miss|Dr)\b\.? [A-ZÀ-Þ][^\W\d_]"
    r"|\b(?!(?:It|This|That|Each|Nothing|None|Neither|Everything|Event|Hook|Webhook|Callback|Handler|Trigger|Signal|"
    r"Timer|Alert|Alarm)\b)[A-ZÀ-Þ][a-zà-ÿ]{1,20} (?:(?:was|got|has been) (?:\w{1,12} )?(?:fired|diagnosed|abused|"
    r"prescribed)|(?:has )?voted for)\b"
    r"|\b(?:AIDS|STDs?)\b"
)
"""Somebody with a title or a name, and what happened to them; names begin large."""

_OF_A_LIFE = re.compile(
    r"\b(?:physically|mentally|severely|visually) (?:disabled|impaired|handicapped)\b"
    r"|\b(?:earn(?:s|ed|ing)?|verdien(?:t|te|en|st))\b[^.\n]{0,30}\d"
    r"|\b(?:makes?|made|gets?|paid) (?:about |around |over )?[€$£]?\d[\d.,]{0,12}k?"
    r"(?: ?(?:[€$£]|euros?|dollars?|pounds?|eur|usd|gbp))? (?:a|per) (?:year|annum)\b"
    r"|\b(?:schwanger\w{0,8}|gehalts?|krebs|depressi(?:v|onen)|krankgeschrieben|behindert|geschieden|entlassen)\b",
    re.IGNORECASE,
)
"""What somebody earns or suffers, also in German."""

_NUMBERS = re.compile(
    r"(?<![\w.,:/+-])(?:"
    # With the digit of a trunk call or of a call abroad, in groups or in one.
    r"\(?0[1-9]\d{1,4}\)?[ /-]{1,3}\d{3,8}(?:[ -]\d{2,6}){0,3}"
    r"|(?!0123456789)0[1-9]\d{8,10}"
    r"|(?<!\d[ .-])0[1-79](?:([ .-])\d\d)(?:\1\d\d){3}(?!\1\d)"
    r"|00[1-9]\d{0,2}[ /-]\d{2,5}[ /-]?\d{4,9}(?:[ -]\d{2,6}){0,3}"
    # As in North America.
    r"|\([2-9]\d\d\) ?\d{3}[ .-]\d{4}|[2-9]\d\d([.-])\d{3}\2\d{4}"
    r")(?![\w-]|[.:]\d)"
    r"|\b(?:[Tt]ele(?:ph|f)one?|[Pp]hone|[Tt]el|[Hh]andy|[Mm]obil(?:e|nummer)?)\b[^\w\n]{0,4}"
    r"(?:number |is |at )?\(?\d(?:[ ()/-]{0,2}\d){5,14}\b"
    # An account's: its country, two digits, and four signs at a time.
    r"|\b[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b"
)
"""A telephone within its country, and what has the shape of an IBAN."""


def may_cross(research: Research) -> bool:
    """Whether what was asked and reported may be offered in another project."""
    texts = (research.description, research.question, *research.reports)
    if sum(map(len, texts)) > LARGEST:
        return False
    return not any(is_guarded(text) or _is_of_people(text) for text in texts)


def _is_of_people(text: str) -> bool:
    if any(each.search(text) for each in (_OF_PEOPLE, _NAMED, _OF_A_LIFE, _NUMBERS)) or is_of_private_life(text):
        return True
    said = (SpokenSentence(sentence, "", 0, False) for line in text.splitlines() for sentence in sentences(line))
    return any(personal(each) or person_finding(each) for each in said)
