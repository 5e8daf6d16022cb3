"""What an answer answers, and what somebody chose, stands behind their words in brackets: "The second [chosen: …]"."""

from __future__ import annotations

import re
from typing import Final

STANDS_ALONE: Final = 8
"""Words from which on an answer is understood without what it answers."""

_ANSWERED: Final = re.compile(r" \[(?:on|chosen): .*\]$", re.DOTALL)
_CHOSEN: Final = re.compile(r" \[chosen: .*\]$", re.DOTALL)


def without_answered(text: str) -> str:
    """A statement without what it answers."""
    return _ANSWERED.sub("", text)


def chooses(text: str) -> bool:
    """Whether a statement names what it chooses behind it only."""
    return _CHOSEN.search(text) is not None


def stands_alone(answer: str) -> bool:
    """Whether an answer is long enough to be understood without what it answers."""
    return len(answer.split()) >= STANDS_ALONE
