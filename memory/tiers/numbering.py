"""The line numbers that a file tool puts before a file's lines: found, taken off, and kept for the overview.

Knows nothing of what the lines say.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

# `     1→import os`, `  12<tab>foo` (cat -n, nl), `1: foo`, `11:foo`, `00012| foo`, ` 12 │ foo`.
_NUMBER = re.compile(r"[ \t]*(?:L|line )?(\d{1,7})(→|\t|[ \t]?[|│][ ]?|: ?)")
_SEPARATOR = re.compile(r"[→\t|│:]")
# What stands before a command's output in some runtimes: a head of `name: value` lines that ends with this one.
_OUTPUT = re.compile(r"(?:Output|stdout):?[ \t]*\r?\Z", re.IGNORECASE)
_HEAD = 10
_LOOKED_AT = 60


@dataclass(frozen=True, slots=True)
class Numbered:
    """A text's lines, what stood before each (`12→`, empty where nothing did), and the file's own numbers."""

    lines: list[str]
    marks: list[str]
    own: bool
    """Whether the numbers are the file tool's own; else the marks are empty."""


def split(text: str) -> Numbered:
    """The lines of the text without their numbers. Lines that a tool said about a numbered file are left empty."""
    lines = text.replace("\r\n", "\n").replace("\x00", "").split("\n")
    separator = _separator(lines)
    if separator is None:
        start = _after_head(lines)
        bare = [""] * start + lines[start:]
        return Numbered(bare, [""] * len(lines), False)
    codes, marks = [], []
    for line in lines:
        match = _NUMBER.match(line)
        if match and separator in match[2]:
            codes.append(line[match.end() :])
            marks.append(match[1] + match[2])
        else:
            codes.append("")
            marks.append("")
    return Numbered(codes, marks, True)


def _separator(lines: list[str]) -> str | None:
    """What stands between number and line, where most lines are numbered and the numbers grow."""
    seen: Counter[str] = Counter()
    last: dict[str, int] = {}
    looked = 0
    for line in lines:
        if not line.strip():
            continue
        looked += 1
        match = _NUMBER.match(line)
        if match:
            sign = _SEPARATOR.search(match[2])
            kind = sign[0] if sign else ""
            number = int(match[1])
            if number > last.get(kind, -1):
                seen[kind] += 1
            last[kind] = number
        if looked == _LOOKED_AT:
            break
    if not seen:
        return None
    kind, count = seen.most_common(1)[0]
    return kind if count >= max(2, looked * 0.6) else None


def _after_head(lines: list[str]) -> int:
    for row, line in enumerate(lines[:_HEAD]):
        if _OUTPUT.match(line):
            return row + 1
    return 0
