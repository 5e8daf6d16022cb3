"""The overview of anything: its most telling whole lines, verbatim and in order.

What a later step needs is a name *and the line it stood on*: so every identifier of the text has one home, the line
that it stood on last, and a line is worth the identifiers at home on it against the characters it costs. An
identifier that occurs a hundred times thus counts once, and a line of repetitions counts nothing. On agents'
transcripts the last line of an identifier is the one that support was reckoned by; a first line as home keeps about as
many identifiers, and far fewer of those lines.

A text as the lines that a reader of a terminal would see, and lines put back together with marks of what is gone.

Which lines of a text to keep in a small place: whole, verbatim, in their order, by ranks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Final

from memory.tiers.shape import Hint

# ECMA-48: control sequences (CSI), operating system commands up to their terminator (bounded, since a cut-off one has
# none), and two-character escapes.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)?|[ -/]?[0-~])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u2028\u2029\x85]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")

_COUNTED: Final = 20
"""A gap of at least so many lines is told with its length; the counts of small ones cost more than they tell."""


def clean(text: str) -> str:
    """The text without escapes and control characters, with overwritten stretches gone, never longer than before."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = "\n".join(map(_visible_row, text.split("\n")))
    if text.isascii() and text.isprintable():
        return text
    if _CONTROLS.search(text):
        text = _CONTROLS.sub("", text)
    if not text.isascii():
        text = _SURROGATES.sub("\ufffd", text)
    return text


def _visible_row(row: str) -> str:
    """What is left of a row when each carriage return writes over what stood before."""
    if "\r" not in row:
        return row
    row = row.rstrip("\r")
    return row[row.rfind("\r") + 1 :]


def gap(lines: int) -> str:
    """The line that stands where so many lines were left out."""
    return f"… {lines} lines …" if lines >= _COUNTED else "…"


def joined(rows: Sequence[str], row_numbers: Iterable[int], spare: int) -> str:
    """The rows of these numbers in order, and a mark wherever rows are missing.

    A mark is one character; what is spare (characters) is spent on the lengths of the largest gaps.
    """
    numbers = sorted(row_numbers)
    befores = [-1, *numbers]
    missing = [number - before - 1 for before, number in zip(befores, [*numbers, len(rows)], strict=True)]
    marked: set[int] = set()
    for place in sorted(range(len(missing)), key=lambda each: -missing[each]):
        spare -= len(gap(missing[place])) - 1
        if missing[place] < _COUNTED or spare < 0:
            break
        marked.add(place)
    out: list[str] = []
    for place, number in enumerate([*numbers, -1]):
        if missing[place]:
            out.append(gap(missing[place]) if place in marked else "…")
        if number >= 0:
            out.append(rows[number])
    return "\n".join(out)


def cut(text: str, limit: int) -> str:
    """The text within a limit, cut at the end of a line where there is one in the second half."""
    if len(text) <= limit:
        return text
    if limit <= 1:
        return ""
    head = text[: limit - 1]
    end = head.rfind("\n")
    return (head[: end + 1] if end > limit // 2 else head) + "…"


_NAME = re.compile(r"[A-Za-z_][\w./:@-]{3,}|\d[\d.,:/-]{2,}\d")
_NAME_IN_ASCII = re.compile(r"[A-Za-z_][A-Za-z0-9_./:@-]{3,}|[0-9][0-9.,:/-]{2,}[0-9]")
"""The same where all is ASCII, and a third faster."""
_INFORMATIVE = re.compile(
    r"\b(?:func|def|class|type|interface|const|function|struct|fn|enum|trait|impl|[Ee]rror|ERROR|FAIL(?:ED|URE)?|"
    r"[Ff]ailed|fatal|panic|\w{1,40}(?:Error|Exception))\b"
)
_INFORMATIVE_WORDS: Final = (
    "func", "def", "class", "type", "interface", "const", "struct", "fn", "enum", "trait", "impl", "rror", "ERROR",
    "FAIL", "ailed", "fatal", "panic", "Exception",
)  # fmt: skip
"""One of these stands in whatever the pattern finds."""

LEAST: Final = 40
"""Characters below which no overview says anything."""
_LONG_ROW: Final = 400
"""Rows longer than this are taken in pieces: a minified file is one line."""
_PIECE: Final = 320
_MOST_READ: Final = 1_000_000
"""Of longer texts the head and the tail are read, half each."""
# What an identifier is worth: on transcripts its form told little about its use, so the weights are nearly flat; plain
# words were used again as often as identifiers, and stand behind them because they are found elsewhere more easily.
_SHORT, _WORD, _IDENTIFIER, _ENDLESS = 0.1, 0.85, 1.0, 0.3
_NAMED_BY_CALL_WEIGHT: Final = 2.0
"""How much more an identifier weighs that the call itself names."""
_EXTRA: Final = 1.2
"""How much more a line weighs that defines something or tells of an error."""
_MARK: Final = 2
"""What a short gap mark costs, with its newline."""


def lines(text: str, hint: Hint, limit: int, shown: str = "") -> str:
    """The most telling lines of a text, at most `limit` characters; what `shown` holds already counts as known."""
    if limit < LEAST:
        return ""
    text = clean(text)
    if len(text) <= limit and not shown:
        return text
    rows = pieces(ends(text))
    return fitted(rows, by_worth(rows, hint, shown), limit)


def led_by(urgent: Iterable[int], rows: Sequence[str], hint: Hint, limit: int, share: float) -> str:
    """These rows first, until their share of the limit is full, and then those that tell most; in the text's order."""
    room = limit * share
    first: list[int] = []
    for number in dict.fromkeys(urgent):
        room -= len(rows[number]) + 1
        if room < 0:
            break
        first.append(number)
    return fitted(rows, chain(first, by_worth(rows, hint)), limit)


def by_worth(rows: Sequence[str], hint: Hint, shown: str = "") -> list[int]:
    """The numbers of the rows that tell what `shown` does not, those that tell most for their length first."""
    known = {row.strip() for row in shown.split("\n")} if shown else frozenset[str]()
    values = _row_values(rows, hint, shown)
    order = sorted((-value / (len(rows[number]) + 20), number) for number, value in values.items())
    return [number for _, number in order if rows[number].strip() not in known]


def pieces(text: str) -> list[str]:
    """The lines of a text; very long ones in pieces, cut behind a sentence, else behind a space or a comma."""
    rows: list[str] = []
    for row in text.split("\n"):
        if len(row) <= _LONG_ROW:
            rows.append(row)
            continue
        start = 0
        while len(row) - start > _LONG_ROW:
            end = row.rfind(". ", start + _PIECE // 2, start + _LONG_ROW) + 1
            end = end or max(row.rfind(mark, start + _PIECE // 2, start + _PIECE) for mark in " ,;") + 1
            end = end or start + _PIECE
            rows.append(row[start:end])
            start = end
        rows.append(row[start:])
    return rows


def ends(text: str) -> str:
    """As much of a text's head and tail as is read at all."""
    if len(text) <= _MOST_READ:
        return text
    half = _MOST_READ // 2
    return text[:half] + "\n" + text[-half:]


def _row_values(rows: Sequence[str], hint: Hint, shown: str) -> dict[int, float]:
    homes: dict[str, int] = {}
    find = _NAME.findall
    of_ascii = _NAME_IN_ASCII.findall
    for number, row in enumerate(rows):
        for name in of_ascii(row) if row.isascii() else find(row):
            homes[name] = number
    for name in find(shown):
        homes.pop(name, None)
    named = {name.rstrip("./:-") for name in find(hint.arguments[:20_000].replace("\\n", " "))}
    values: dict[int, float] = {}
    for name, number in homes.items():
        size = len(name)
        if size < 8:
            worth = _SHORT
        elif size > 64:
            worth = _ENDLESS
        elif name.isalpha() and name[1:].islower():
            worth = _WORD
        else:
            worth = _IDENTIFIER
        if name in named:
            worth *= _NAMED_BY_CALL_WEIGHT
        values[number] = values.get(number, 0.0) + worth
    for number in with_any(rows, _INFORMATIVE_WORDS):
        if number in values and _INFORMATIVE.search(rows[number]):
            values[number] *= _EXTRA
    return values


def with_any(rows: Sequence[str], words: Iterable[str]) -> set[int]:
    """The numbers of the rows in which any of the words stands: many times faster than to look at each row."""
    whole = "\n" + "\n".join(rows)
    starts = list(accumulate((len(row) + 1 for row in rows), initial=0))
    found: set[int] = set()
    for word in words:
        at = whole.find(word)
        while at >= 0:
            number = bisect_right(starts, at) - 1
            found.add(number)
            at = whole.find(word, starts[number + 1])
    return found


def fitted(rows: Sequence[str], order: Iterable[int], limit: int) -> str:
    """The first rows of an order (which may name a row twice) that fit, in the text's own order, at most `limit`."""
    chosen: set[int] = set()
    spare = limit // 25
    left = limit - spare - _MARK
    for number in order:
        if number in chosen:
            continue
        cost = len(rows[number]) + 1
        if number - 1 not in chosen:
            cost += _MARK
        if number + 1 in chosen:
            cost -= _MARK
        if cost <= left:
            chosen.add(number)
            left -= cost
        elif left < 24:
            break
    if not chosen:
        return cut("\n".join(rows), limit)
    return joined(rows, chosen, spare + max(left, 0))


MAX_LINE_CHARS = 240
"""More of one line is not kept: the rest of it is data, generated or minified."""

_WORD_CHARACTER = re.compile(r"[\w./:-]")
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
