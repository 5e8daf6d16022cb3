"""What an answer answers, and what somebody chose, stands behind their words in brackets: "The second [chosen: …]"."""

from __future__ import annotations

import re
from typing import Final

STANDS_ALONE: Final = 8
"""Words from which on an answer is understood without what it answers."""

_ANSWERED: Final = re.compile(r" \[(?:on|chosen): .*\]$", re.DOTALL)
_CHOSEN: Final = re.compile(r" \[chosen: (.*?)(?:; asked: .*)?\]$", re.DOTALL)


def behind_answer(answered: str, asked: str = "") -> str:
    """What stands behind an answer: what it answers, and what the person had asked before that, where they had."""
    return f" [on: {answered}; asked: {asked}]" if asked else f" [on: {answered}]"


def without_answered(text: str) -> str:
    """A statement without what it answers."""
    return _ANSWERED.sub("", text)


def chosen(text: str) -> str:
    """What a statement names behind it as what it chooses, as it was offered; empty where it chooses nothing."""
    found = _CHOSEN.search(text)
    return found[1] if found else ""


def stands_alone(answer: str) -> bool:
    """Whether an answer is long enough to be understood without what it answers."""
    return len(answer.split()) >= STANDS_ALONE
