"""Which lines of a text to keep in a small place: whole, verbatim, in their order, by ranks.

What a text is asked for first (its definitions, the heads of its files) is in the first ranks; within a rank a line is
kept for the names that are at home on it (:func:`memory.tiers.lines.by_worth`). Where the lines of a rank do not fit,
their names do. Knows nothing of what kind of text the lines are from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory.tiers.lines import by_worth
from memory.tiers.shape import Hint

MAX_LINE_CHARS = 240
"""More of one line is not kept: the rest of it is data, generated or minified."""

_WORD_CHARACTER = re.compile(r"[\w./:-]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
# Less room than this holds no line worth looking for.
_LEAST = 12


@dataclass(frozen=True, slots=True)
class RankedLine:
    """A line that may be kept."""

    row: int
    """Its place in the text, from 0; also the order of what is kept."""
    text: str
    """As it will stand, verbatim but for its indentation."""
    name: str = ""
    """What is kept of it where the whole line has no place; empty where it is whole or nothing."""


@dataclass(frozen=True, slots=True)
class Rank:
    """Lines that are equally wanted, and the share of the limit up to which they may fill it (names go beyond)."""

    lines: Sequence[RankedLine]
    share: float = 1.0


def clip(line: str, most: int = MAX_LINE_CHARS) -> str:
    """The line's beginning, at most so many characters, never cut in a word."""
    if len(line) <= most:
        return line
    end = max(most - 2, 0)
    while end and _WORD_CHARACTER.match(line, end) and _WORD_CHARACTER.match(line, end - 1):
        end -= 1
    head = line[:end].rstrip()
    return f"{head} …" if head else ""


def narrow(line: str) -> str:
    """The line as it stands, four spaces of its indentation as one: what is saved there goes to other lines.

    Tabs stay as they are: they are short, and in JSON they are part of the text.
    """
    bare = line.strip()
    if line[:1] not in (" ", "\t"):
        return clip(bare)
    indent = line[: len(line) - len(line.lstrip())]
    return "\t" * min(indent.count("\t"), 8) + " " * min((indent.count(" ") + 3) // 4, 4) + clip(bare)


def select_lines(ranks: Iterable[Rank], hint: Hint, limit: int) -> str:
    """The best lines within `limit` characters, in the order of their rows; maybe an empty text.

    No rank is asked for when there is no room left for it.
    """
    taken: dict[int, str] = {}
    left = limit + 1
    for rank in ranks:
        left = _take(rank, taken, left, limit, hint)
        if left < _LEAST:
            break
    text = "\n".join(taken[row] for row in sorted(taken))
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def _take(rank: Rank, taken: dict[int, str], left: int, limit: int, hint: Hint) -> int:
    """Take what fits of lines of one rank; returns how many characters are left."""
    fresh = [line for line in rank.lines if len(taken.get(line.row, "")) < len(line.text)]
    floor = limit - int(limit * rank.share)
    if sum(len(line.text) + 1 for line in fresh) <= left - floor:
        for line in fresh:
            left -= _put(line.row, line.text, taken)
        return left
    for line in fresh:
        if line.name and line.row not in taken and len(line.name) < left:
            left -= _put(line.row, line.name, taken)
    rows = [line.text for line in fresh]
    for place in by_worth(rows, hint, "\n".join(taken.values())):
        line = fresh[place]
        cost = len(line.text) - len(taken[line.row]) if line.row in taken else len(line.text) + 1
        if cost <= left - floor:
            left -= _put(line.row, line.text, taken)
        elif left - floor < _LEAST:
            break
    return left


def _put(row: int, text: str, taken: dict[int, str]) -> int:
    cost = len(text) - len(taken[row]) if row in taken else len(text) + 1
    taken[row] = text
    return cost
