"""A report without what tells nothing: greetings to oneself, rules, empty frames, lines without a specific.

What is left are its own lines in their own words and order, so that more of it has room. Nothing is summed up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from memory.language.sentences import sentences
from memory.language.words import stems

LEAST = 4
"""Stems that a sentence must have to tell something."""

_FENCE = re.compile(r"\s*(?:```|~~~)")
_RULE = re.compile(r"[\s\-=*_|:+#.]*\Z")
_MARKUP = re.compile(r"\*\*|__")
_SPACES = re.compile(r"\s+")
_SPECIFIC = re.compile(r"\d|`|[A-Za-z_][A-Za-z0-9_./:-]{7,}|[a-z][A-Z]|[\u3040-\u9fff]")
"""A number, a name, a path, a long word: what a sentence without any of them says could be said of anything."""


def condensed(report: str) -> list[str]:
    """The lines of a report that tell something, in order. A heading stays only before what it heads."""
    return list(_headed(_lines(report)))


def _lines(report: str) -> Iterator[tuple[bool, str]]:
    """Whether each line is a heading, and its text."""
    fenced = False
    seen: set[str] = set()
    for line in report.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if _RULE.match(line):
            continue
        stripped = line.strip()
        if stripped.startswith("#") and not fenced:
            yield True, "# " + _plain(stripped.lstrip("# "))
            continue
        for sentence in [stripped] if fenced or stripped.startswith("|") else sentences(stripped) or [stripped]:
            text = sentence if fenced else _plain(sentence)
            if text and text not in seen and _tells(text, fenced):
                seen.add(text)
                yield False, text


def _tells(text: str, code: bool) -> bool:
    text_stems = set(stems(text))
    return len(text_stems) >= LEAST and (code or _SPECIFIC.search(text) is not None)


def _headed(lines: Iterable[tuple[bool, str]]) -> Iterator[str]:
    heading = ""
    for is_heading, text in lines:
        if is_heading:
            heading = text
            continue
        if heading:
            yield heading
            heading = ""
        yield text


def _plain(text: str) -> str:
    return _SPACES.sub(" ", _MARKUP.sub("", text)).strip().strip("|").strip()
