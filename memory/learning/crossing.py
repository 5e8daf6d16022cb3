"""Whether a research may leave its project for the others of its organisation.

Nothing that is guarded, and nothing about people. By written rules, which miss things; what is too long to be judged
stays where it is.
"""

from __future__ import annotations

import re
from typing import Final

from memory.language.sentences import sentences
from memory.learning.rule_findings import person_finding, personal
from memory.learning.sensitivity import is_guarded
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


def may_cross(research: Research) -> bool:
    """Whether what was asked and reported may be offered in another project."""
    texts = (research.description, research.question, *research.reports)
    if sum(map(len, texts)) > LARGEST:
        return False
    return not any(is_guarded(text) or _is_of_people(text) for text in texts)


def _is_of_people(text: str) -> bool:
    if _OF_PEOPLE.search(text):
        return True
    said = (SpokenSentence(sentence, "", 0, False) for line in text.splitlines() for sentence in sentences(line))
    return any(personal(each) or person_finding(each) for each in said)
