"""A sentence about a project, and the lines of its files that it rests on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memory.checkout import Citation, CitationKind
from memory.fact import Category
from memory.features.checkouts.finding import mark_of

LONGEST: Final = 40
"""Characters of a name out of a file."""

_NAME: Final = re.compile(rf"[A-Za-z][\w.:-]{{0,{LONGEST - 1}}}")
_VALUE: Final = re.compile(r"[\w.^~<>=!*|, -]{1,30}")


@dataclass(frozen=True, slots=True)
class Observation:
    """``cites``: where it stands, each with the mark of its line."""

    text: str
    category: Category
    cites: tuple[Citation, ...]


def at_line(file: str, text: str, pattern: str) -> Citation:
    """The first line of a file that a pattern is found in; the file, where it is in none."""
    found = re.search(pattern, text)
    return cited(file, text, text.count("\n", 0, found.start() + _leading_newline(found[0])) + 1 if found else 0)


def cited(file: str, text: str, line: int) -> Citation:
    """A line of a file, counted from 1; the file, for 0."""
    return Citation(CitationKind.FILE, file, file, line, mark_of(text.encode(), line) if line else "", seen=True)


def is_name(text: object) -> bool:
    """Whether a text is a plain name."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def value(text: object) -> str:
    """A version or a number out of a file; empty where it is anything else."""
    said = text.strip() if isinstance(text, str) else str(text) if isinstance(text, int) else ""
    return said if _VALUE.fullmatch(said) and any(map(str.isdigit, said)) else ""


def listed(words: Sequence[str]) -> str:
    """Words in a row: a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def once(cites: Iterable[Citation]) -> tuple[Citation, ...]:
    """Each place once."""
    return tuple(dict.fromkeys(cites))


def _leading_newline(found: str) -> int:
    """A pattern may begin with the end of the line before."""
    return len(found) - len(found.lstrip("\r\n"))
