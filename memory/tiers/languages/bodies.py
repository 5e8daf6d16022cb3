"""Program text without the bodies of its routines, row by row: an outline does not look into them, and a parser takes
most of its time for them.

Goes by how program text is laid out: a body stands deeper than its head, and in languages with braces ends with one
that stands where the head does. What is not laid out so is left as it is, so that it costs time and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

_MAX_HEAD_CHARS: Final = 2_000
"""Characters of a head."""

_DEF = re.compile(r"^(([ \t]*)(?:async[ \t]+)?def[ \t]+\w+)[^\n]*", re.MULTILINE)
_FIRST = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\n)*([ \t]*)")
_QUOTES = ('"""', "'''")
_OPENS = re.compile(r"^([ \t]*+)([^\n]*)\{[ \t]*\n", re.MULTILINE)
_CONTROL = re.compile(r"(?:\}\s*)?(?:if|for|foreach|while|switch|do|else|try|catch|with|match|loop|when)\b")
# Their members belong to the outline.
_TYPE = re.compile(
    r"\b(?:class|interface|struct|enum|union|trait|impl|mod|module|namespace|package|object|record|extension|protocol|"
    r"extern|companion|annotation)\b"
)
_AT_THE_EDGE = re.compile(r"#\s*\w|[A-Za-z_]\w*:[ \t]*(?://[^\n]*)?$", re.MULTILINE)
"""What stands at the left edge inside a body: a directive of the C preprocessor, a label."""
_BRACES = frozenset(
    "javascript typescript tsx go rust java c cpp csharp php kotlin swift scala".split()  # noqa: SIM905
)

Body = tuple[int, int, str, int]
"""Where a body begins and ends, what stands in its place, and how many ends of line that has."""


def without_bodies(language: str, text: str) -> str:
    """The text with as many rows, but with nothing in those of routines' bodies; as it is where the language has no
    rule for it."""
    if language == "python":
        return _emptied(text, _DEF, _python)
    return _emptied(text, _OPENS, _braces) if language in _BRACES else text


def _emptied(text: str, heads: re.Pattern[str], body: Callable[[str, re.Match[str]], Body | None]) -> str:
    pieces, at = list[str](), 0
    head = heads.search(text)
    while head is not None:
        found = body(text, head)
        end = head.end()
        if found is not None:
            first, end, instead, rows = found
            pieces += [text[at:first], instead, "\n" * (text.count("\n", first, end) - rows)]
            at = end
        head = heads.search(text, end)
    return "".join([*pieces, text[at:]])


def _python(text: str, head: re.Match[str]) -> Body | None:
    behind = _behind_head(text, head)
    first = _FIRST.match(text, behind) if behind else None
    if first is None or len(first[1]) <= len(head[2]):
        return None
    begin, end, quotes = head.end(1), first.end(), 0
    for edge in _edges(len(head[2])).finditer(text, end):
        # A long string may have rows of any indentation.
        quotes += sum(text.count(each, end, edge.start()) for each in _QUOTES)
        end = edge.start()
        if quotes % 2 == 0:
            # What a routine takes and gives is not looked into either.
            rows = text.count("\n", begin, first.end())
            return begin, end, "():" + "\n" * rows + first[1] + "...", rows
    return None


def _behind_head(text: str, head: re.Match[str]) -> int | None:
    """Where the row behind a head begins; nothing where the head has no end, or its body in its own row."""
    end = head.end()
    while end - head.start() < _MAX_HEAD_CHARS:
        text_behind = text[head.start() : end]
        if text_behind.count("(") <= text_behind.count(")") and text_behind.count("[") <= text_behind.count("]"):
            last = text_behind[text_behind.rfind("\n") + 1 :]
            return end + 1 if last.partition(" #")[0].rstrip().endswith(":") else None
        end = text.find("\n", end + 1)
        if end < 0:
            return None
    return None


def _braces(text: str, opens: re.Match[str]) -> Body | None:
    indent, head = opens[1], opens[2]
    if not head:
        # The brace stands in a row of its own, under its head.
        above = text[max(opens.start() - _MAX_HEAD_CHARS, 0) : opens.start()].rstrip()
        head = above[above.rfind("\n") + 1 :].lstrip()
    if ")" not in head or _CONTROL.match(head) or _TYPE.search(head):
        return None
    for edge in _edges(len(indent)).finditer(text, opens.end() - 1):
        if text[edge.end()] == "}" and edge[1] == indent:
            return opens.end(), edge.start() + 1, "", 0
        if not _AT_THE_EDGE.match(text, edge.end()):
            return None
    return None


@cache
def _edges(deep: int) -> re.Pattern[str]:
    """Finds rows that stand no deeper than so many characters: their ends of line, and what they are indented by."""
    return re.compile(rf"\n([ \t]{{0,{deep}}})(?=[^ \t\n])")
