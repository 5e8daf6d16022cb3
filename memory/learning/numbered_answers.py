"""Answers by number: "1. jOOQ 2. flyway 3. no" behind a list of questions.

Each is a few words that only its own question explains, so each is read as an answer to that one, whether the numbers
stand on lines of their own or in one line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_QUESTION: Final = re.compile(
    r"^[ \t>*-]*\(?(?P<label>\d{1,2})[.):](?:\*\*)?[ \t]+(?P<asked>[^?\n]*\?)[*_)\"' \t]*$", re.MULTILINE
)
_LINE: Final = re.compile(
    r"^(?P<indent>[ \t]*)\(?(?P<label>\d{1,2})(?:[.):][ \t]{1,3}(?=\S)| ?[-–=][ \t]{1,3}(?=[^\s\d]))", re.MULTILINE
)
_INLINE: Final = re.compile(r"(?:^|(?<=[\s,;]))(?P<indent>)\(?(?P<label>\d{1,2})[.)][ \t]{1,3}(?=[^\W\d])")
_BARE: Final = re.compile(r"(?:^|(?<=[,;] ))(?P<indent>)(?P<label>\d{1,2}):? (?=[^\W\d])", re.MULTILINE)
"""Numbers without a mark, or with a colon: "1 kotest, 2 the first". They count where every question has one."""
_PARAGRAPH: Final = re.compile(r"\n\s*\n")
_LINE_AFTER: Final = re.compile(r"\n(?![ \t])")
_LEAD: Final = 7
"""Words before the first answer at most: who says more there begins something else."""
_NOT_ONLY_SAID: Final = re.compile(r"^\s*(?:```|~~~|>)", re.MULTILINE)
"""What a message holds that is not its author's own words alone."""
_FEWEST: Final = 2
_LONGEST: Final = 6000
"""Characters of a message that may answer by number."""


class NumberedAnswer(NamedTuple):
    """What a person said, and the numbered question of the reply that it answers."""

    said: str
    asked: str


class NumberedReply(NamedTuple):
    """A message that answers by number, and what else stands in it, in its order."""

    answers: tuple[NumberedAnswer, ...]
    beside: str


def numbered_reply(text: str, before: str) -> NumberedReply | None:
    """The answers of a message to the numbered questions of the reply ``before``; nothing where fewer than two of its
    numbers name a question, or one names none. Never raises on any text."""
    asked = [(each["label"], " ".join(each["asked"].split())) for each in _QUESTION.finditer(before[-_LONGEST:])]
    questions = dict(asked)
    # Two lists of questions, or what is no list of answers: nobody can say which answers which.
    if not _FEWEST <= len(questions) == len(asked) or len(text) > _LONGEST or _NOT_ONLY_SAID.search(text):
        return None
    marks = (
        _numbers_on_lines(text)
        or _numbers_in_text(_INLINE, text)
        or _each_of(len(questions), _numbers_in_text(_BARE, text))
    )
    if len(marks) < _FEWEST or any(str(int(mark["label"])) not in questions for mark in marks):
        return None
    if len(text[: marks[0].start()].split()) > _LEAD:
        return None
    answers, beside = [], [text[: marks[0].start()]]
    for at, mark in enumerate(marks):
        own = text[mark.end() : marks[at + 1].start() if at + 1 < len(marks) else len(text)]
        said, *rest = (_LINE_AFTER if mark is marks[-1] else _PARAGRAPH).split(own, maxsplit=1)
        answers.append(NumberedAnswer(said.strip().rstrip(",;"), questions[str(int(mark["label"]))]))
        beside += rest
    return NumberedReply(tuple(answers), "\n".join(part for part in map(str.strip, beside) if part))


def _numbers_on_lines(text: str) -> list[re.Match[str]]:
    """The numbers that begin lines, as far in as the first one; nothing where they do not rise or there is only one."""
    found = list(_LINE.finditer(text))
    marks = [mark for mark in found if mark["indent"] == found[0]["indent"]]
    return marks if len(marks) >= _FEWEST and _rise(marks) else []


def _each_of(many: int, marks: list[re.Match[str]]) -> list[re.Match[str]]:
    return marks if len(marks) == many else []


def _numbers_in_text(form: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """The numbers of a list in running text, which counts from one without a gap and begins its line."""
    marks: list[re.Match[str]] = []
    for mark in form.finditer(text):
        if int(mark["label"]) != len(marks) + 1:
            return []
        marks.append(mark)
    begins = bool(marks) and not text[text.rfind("\n", 0, marks[0].start()) + 1 : marks[0].start()].strip()
    return marks if begins else []


def _rise(marks: Sequence[re.Match[str]]) -> bool:
    labels = [int(mark["label"]) for mark in marks]
    return labels == sorted(set(labels))
