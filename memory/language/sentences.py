"""Text into blocks, and blocks into sentences.

A *block* is a stretch of one shape: prose, a list item, a heading, a quote, code, a table. What people type to an
agent is loose Markdown, so a line break ends a sentence unless the line was plainly wrapped. One pass over the
lines, one over the characters; knows nothing of what the sentences mean.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from memory.language.vocabulary import vocabulary


class BlockShape(StrEnum):
    """What a block of text is."""

    PROSE = "prose"
    ITEM = "item"
    HEADING = "heading"
    QUOTE = "quote"
    CODE = "code"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A stretch of one shape. ``text`` is free of its marker; ``marker`` is ``2`` or ``b`` of a numbered item, ``-``
    of another, the language of a fence, and empty otherwise."""

    shape: BlockShape
    text: str
    marker: str = ""


_FENCE = re.compile(r" {0,12}(`{3,20}|~{3,20})\s{0,8}([\w+#.-]{0,30})")
_ITEM = re.compile(r"\s{0,16}(?:([-*•+–]|\d{1,3}(?=[.):])|[A-Za-z](?=\)))[.):]{0,1}|\((\d{1,2}|[a-z])\))\s{1,8}(?=\S)")
_HEADING = re.compile(r" {0,3}#{1,6}\s{1,4}")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")

# An end: marks of the end, what closes behind them, and then a space or the text's end.
_END = re.compile(r"[.!?…]{1,8}[\"'”’)\]*_`]{0,4}(?=\s)|[。！？]{1,4}[”’）」』]{0,2}|[:;](?=\s{0,2}\n)")
_BEFORE = re.compile(r"([A-Za-z.]{1,12})\.[\"'”’)\]]{0,4}$")
_ABBREVIATIONS = vocabulary(
    "e.g i.e etc vs mr mrs ms dr prof sr jr st no nr inc ltd co corp approx dept est fig cf al ca resp incl excl "
    "jan feb mar apr jun jul aug sep sept oct nov dec a.m p.m u.s u.k z.b d.h bzw usw ggf evtl bspw sog"
)
_ASKS = re.compile(r"\?[\"'”’)\]*_`]{0,4}$")
WRAPPED = 60
"""A line at least this long, without an end, before a line in lower case, was wrapped by an editor."""


def blocks(text: str) -> list[TextBlock]:
    """The blocks of a text in order; blank lines and markers are in none of them."""
    found: list[TextBlock] = []
    lines: list[str] = []
    shape, marker = BlockShape.PROSE, ""
    fence = ""
    blank = True

    def close() -> None:
        joined = "\n".join(lines).strip("\n") if shape is BlockShape.CODE else _joined(lines)
        if joined.strip():
            found.append(TextBlock(shape, joined, marker))
        lines.clear()

    for line in text.splitlines():
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence) and not line[opened.end(1) :].strip():
                close()
                shape, marker, fence, blank = BlockShape.PROSE, "", "", True
            else:
                lines.append(line)
            continue
        # An inline span of three backticks on one line is no fence.
        if opened and "`" not in line[opened.end(1) :]:
            close()
            shape, marker, fence = BlockShape.CODE, opened[2], opened[1]
            continue
        if not line.strip():
            if shape is not BlockShape.CODE:
                close()
                shape, marker = BlockShape.PROSE, ""
            blank = True
            continue
        new_shape, new_marker, body = _line(line, shape, blank)
        if new_shape is not shape or new_marker or new_shape is BlockShape.HEADING:
            close()
            shape, marker = new_shape, new_marker
        lines.append(body)
        blank = False
    close()
    return found


def _line(line: str, shape: BlockShape, blank: bool) -> tuple[BlockShape, str, str]:
    """The shape of one line outside a fence, its marker, and the line without it."""
    stripped = line.lstrip()
    if stripped.startswith(">"):
        return BlockShape.QUOTE, "", stripped.lstrip("> ")
    if _HEADING.match(line):
        return BlockShape.HEADING, "", stripped.lstrip("#").strip()
    if stripped.startswith("|") and stripped.count("|") > 1:
        return BlockShape.TABLE, "", stripped
    if item := _ITEM.match(line):
        return BlockShape.ITEM, item[1] or item[2], line[item.end() :]
    if _INDENTED.match(line) and (shape is BlockShape.CODE or (blank and shape is BlockShape.PROSE)):
        return BlockShape.CODE, "", line
    if shape is BlockShape.ITEM and not blank:
        return BlockShape.ITEM, "", line.strip()
    return BlockShape.PROSE, "", line.strip()


def _joined(lines: list[str]) -> str:
    """The lines of a block; wrapped ones run on, others stay apart."""
    joined = ""
    for line in lines:
        body = line.strip()
        if not joined:
            joined = body
        elif len(joined) - joined.rfind("\n") > WRAPPED and body[:1].islower() and joined[-1] not in ".!?:;":
            joined += " " + body
        else:
            joined += "\n" + body
    return joined


def sentences(text: str) -> list[str]:
    """The sentences of a piece of prose, trimmed, in order. Line breaks end a sentence.

    A full stop inside a name, a number, an abbreviation or a path is no end. A sentence may begin in lower case,
    as people type it.
    """
    found: list[str] = []
    for line in text.splitlines():
        start = 0
        for end in _END.finditer(line):
            if _is_end(line, start, end):
                _add(found, line[start : end.end()])
                start = end.end()
        _add(found, line[start:])
    return found


def asks(sentence: str) -> bool:
    """Whether a sentence ends with a question mark."""
    return _ASKS.search(sentence) is not None


def _is_end(line: str, start: int, end: re.Match[str]) -> bool:
    mark = end[0]
    if mark[0] != "." or mark.startswith(".."):
        return True
    before = _BEFORE.search(line[max(start, end.start() - 12) : end.end()])
    if before is None:
        # "1. First": a number that only counts.
        return not line[start : end.start()].strip().isdigit()
    word = before[1].lower().strip(".")
    if word in _ABBREVIATIONS:
        # "etc." may end a sentence: then the next one starts with a capital.
        return word in ("etc", "usw") and line[end.end() :].lstrip()[:1].isupper()
    # An initial: "J. Smith".
    return not (len(word) == 1 and word != "i" and before[1].isupper() and line[end.end() :].lstrip()[:1].isupper())


def _add(found: list[str], piece: str) -> None:
    if (piece := piece.strip()) and any(c.isalnum() for c in piece):
        found.append(piece)
