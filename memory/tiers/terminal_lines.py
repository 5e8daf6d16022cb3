"""A text as the lines that a reader of a terminal would see, and lines put back together with marks of what is gone.

Colours, cursor movements and what a progress bar wrote over are no content; lone surrogates cannot be sent as UTF-8.
Knows nothing of what the lines mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

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
        text = "\n".join(map(_seen, text.split("\n")))
    if text.isascii() and text.isprintable():
        return text
    if _CONTROLS.search(text):
        text = _CONTROLS.sub("", text)
    if not text.isascii():
        text = _SURROGATES.sub("\ufffd", text)
    return text


def _seen(row: str) -> str:
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
