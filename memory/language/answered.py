"""What an answer answers, and what somebody chose, stands behind their words in brackets: "The second [chosen: …]"."""

from __future__ import annotations

import re
from typing import Final

STANDS_ALONE: Final = 8
"""Words from which on an answer is understood without what it answers."""

_ANSWERED_WITH: Final = re.compile(r" \[on: (?P<answered>.*?)(?:; asked: (?P<asked>.*))?\]$", re.DOTALL)
_CHOSEN_WITH: Final = re.compile(r" \[chosen: (?P<answered>.*?)(?:; asked: (?P<asked>.*))?\]$", re.DOTALL)
_ANSWERED: Final = re.compile(r" \[(?:on|chosen): .*\]$", re.DOTALL)


def behind_answer(answered: str, asked: str = "") -> str:
    """What stands behind an answer: what it answers, and what the person had asked before that, where they had."""
    return f" [on: {answered}; asked: {asked}]" if asked else f" [on: {answered}]"


def without_answered(text: str) -> str:
    """A statement without what it answers."""
    return _ANSWERED.sub("", text)


def chosen(text: str) -> str:
    """What a statement names behind it as what it chooses, as it was offered; empty where it chooses nothing."""
    found = _CHOSEN_WITH.search(text)
    return found["answered"] if found else ""


def in_words(text: str) -> str:
    """A statement for a reader: what stands in brackets behind it as people write it."""
    if not text.endswith("]"):
        return text
    for pattern, verb in ((_ANSWERED_WITH, "answering"), (_CHOSEN_WITH, "chosen")):
        if found := pattern.search(text):
            asked = f"; the question was: {found['asked']}" if found["asked"] else ""
            return f"{text[: found.start()]} ({verb}: {found['answered']}{asked})"
    return text


def stands_alone(answer: str) -> bool:
    """Whether an answer is long enough to be understood without what it answers."""
    return len(answer.split()) >= STANDS_ALONE
