"""The overview of program text: its definitions as they stand, with the file's own line numbers.

Whole signature lines first, of what stands at the top and then of members; constants, fields, first lines of
documentation and imports after them; what room is left goes to the lines of bodies whose names stand nowhere else.
Parsing is by tree-sitter, which recovers from errors: a part of a file has an outline too.

The line numbers that a file tool puts before a file's lines: found, taken off, and kept for the overview.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from typing import Final

from tree_sitter import Language, Node, Parser

from memory.tiers.languages import Grammar, by_lines, by_path, defining, is_named, load, shown_by, without_bodies
from memory.tiers.lines import MAX_LINE_CHARS, Rank, RankedLine, narrow, select_lines
from memory.tiers.listings import is_search
from memory.tiers.shape import Hint

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


MOST_PARSED: Final = 250_000
"""Characters of a text that are looked at; what comes behind them is left out of the overview.

Where a text is garbage, recovering from its errors takes some grammars a time that grows with the square of this.
"""
_LEAST_LIMIT: Final = 40
# A row longer than this is generated or minified; a whole text of them is data and has no outline worth its time.
_LONG_ROW: Final = 2000
_MAX_SIGNATURE_LINES: Final = 8
_MAX_COMMENT_LINES: Final = 40
_DEEPEST: Final = 12
_NUMBERING: Final = 7
_LONG_TEXT: Final = 60_000
# From so many rows on it is worth the time to leave out what is not looked into before it is parsed.
_MANY_ROWS: Final = 600
_SIGNATURES: Final = 0.8
_MOST_BODY: Final = 1500
_COMMENT = re.compile(r"//|#(?!\[|include|define|if|endif|else|pragma|region)|/?\*|--|\"\"\"|'''|;;|%|<!--")
_ATTRIBUTE = re.compile(r"@\w|#\[|\[\w[\w.]*(?:\(|\])")
_PARTIAL = re.compile(r"\"(?:offset|start_line|startLine|line_start|view_range|line_range|start)\"\s*:\s*[\[\d\"]")
_DOCSTRING = re.compile(r"\s*[rRuUbB]{0,2}(?:\"\"\"|''')")
_OPENING = frozenset("{}()[];,")


class _Rank(IntEnum):
    TOP = 0
    MEMBER = 1
    VALUE = 2
    DETAIL = 3
    IMPORT = 4
    BODY = 5


@dataclass(slots=True)
class _Found:
    """The rows of an outline by rank, and the names of definitions."""

    ranks: dict[int, int]
    names: dict[int, str]
    documented: list[tuple[int, int]]
    """First and last row of each signature, above and below which documentation stands."""

    def add(self, row: int, rank: _Rank) -> None:
        self.ranks[row] = min(rank, self.ranks.get(row, rank))


def code(text: str, hint: Hint, limit: int) -> str | None:
    """The outline of a program text in at most `limit` characters; None where the text is not program text."""
    if limit < _LEAST_LIMIT or hint.failed or is_search(hint):
        return None
    shown = split(_bounded(text))
    path = hint.path or shown_by(hint.command)
    language = by_path(path)
    if language is None and (is_named(path) or not (language := by_lines(shown.lines))):
        return None
    found = _outline(language, shown.lines)
    if not found.ranks and not by_path(path):
        return None
    # A part that was read without numbers has unknown ones: wrong numbers are worse than none.
    numbered = shown.own or bool(hint.path and not _PARTIAL.search(hint.arguments[:2000]))
    return _render(shown, found, hint, limit, numbered) or None


def _bounded(text: str) -> str:
    if len(text) <= MOST_PARSED:
        return text
    end = text.rfind("\n", 0, MOST_PARSED)
    return text[: end if end > 0 else MOST_PARSED]


def _outline(language: str, lines: Sequence[str]) -> _Found:
    found = _Found({}, {}, [])
    loaded = load(language) if max(map(len, lines)) <= _LONG_ROW else None
    if loaded:
        _by_tree(loaded[0], _parsed(language, loaded[1], lines), lines, found)
    else:
        _by_pattern(language, lines, found)
    return found


def _parsed(name: str, language: Language, lines: Sequence[str]) -> Node:
    text = "\n".join(lines)
    if len(lines) >= _MANY_ROWS:
        text = without_bodies(name, text)
    # A parser of its own for each text: parsers may not be shared between threads, and cost nothing to make.
    return Parser(language).parse(text.encode("utf-8", "replace")).root_node


def _by_pattern(language: str, lines: Sequence[str], found: _Found) -> None:
    for row, depth in defining(language, [line[:_LONG_ROW] for line in lines]):
        found.add(row, (_Rank.TOP, _Rank.MEMBER, _Rank.DETAIL)[min(depth, 2)])
        if depth == 0:
            found.documented.append((row, row))


def _by_tree(grammar: Grammar, root: Node, lines: Sequence[str], found: _Found) -> None:
    for node, depth in _outline_of_tree(root, grammar):
        kind = node.type
        row = node.start_point[0]
        if kind in grammar.types or kind in grammar.routines:
            rank = _Rank.MEMBER if depth else _Rank.TOP
            last = _signature_end(node, lines)
            found.add(row, rank)
            found.names[row] = _definition_name(node)
            for each in range(row + 1, last + 1):
                found.add(each, _Rank.VALUE)
            found.documented.append((row, last))
        elif kind in grammar.imports:
            for each in range(row, min(_end(node), row + 60) + 1):
                found.add(each, _Rank.IMPORT)
        elif kind in grammar.values:
            found.add(row, _Rank.DETAIL if depth else _Rank.VALUE)
            if kind == "type_definition":
                found.add(_end(node), _Rank.VALUE)
            if not depth:
                found.documented.append((row, row))
        else:
            found.add(row, _Rank.DETAIL)


def _outline_of_tree(root: Node, grammar: Grammar) -> Iterator[tuple[Node, int]]:
    """What the outline has of a tree, with its depth in definitions. Bodies of routines are not gone into."""
    heads = grammar.routines | grammar.imports
    waiting = [(root, 0, 0)]
    while waiting:
        node, depth, level = waiting.pop()
        for child in node.named_children:
            kind = child.type
            if kind in grammar.types:
                yield child, depth
                if level < _DEEPEST:
                    waiting.append((child, depth + 1, level + 1))
            elif kind in heads or (kind in grammar.values and _gives_a_value(child)):
                yield child, depth
            elif kind in grammar.through:
                if level < _DEEPEST:
                    waiting.append((child, depth, level + 1))
            elif depth and node.type in grammar.through and kind != "comment":
                yield child, depth


def _gives_a_value(node: Node) -> bool:
    """A statement counts where it assigns; a call at the top level (of Ruby) where it takes in another file."""
    if node.type == "expression_statement":
        inner = node.named_child(0)
        return inner is not None and "assignment" in inner.type
    return True


def _signature_end(node: Node, lines: Sequence[str]) -> int:
    """The last row of a definition's head: where its body opens, else where it ends."""
    start = node.start_point[0]
    body = node.child_by_field_name("body")
    if body is None:
        last = _end(node) if node.named_child_count and not _holds_a_body(node) else start
    else:
        last, column = body.start_point
        before = lines[last].encode("utf-8", "replace")[:column] if last < len(lines) else b""
        if last > start and not before.strip():
            last -= 1
    return min(last, start + _MAX_SIGNATURE_LINES, len(lines) - 1)


def _holds_a_body(node: Node) -> bool:
    last = node.named_child(node.named_child_count - 1)
    return last is not None and last.end_point[0] > last.start_point[0]


def _end(node: Node) -> int:
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _definition_name(node: Node) -> str:
    """What a definition is called, as far as its tree tells; C hides the name in nested declarators."""
    named = node.child_by_field_name("name")
    inner = node
    for _ in range(6):
        if named is not None:
            break
        declarator = inner.child_by_field_name("declarator")
        if declarator is None:
            named = inner if inner is not node else None
            break
        inner = declarator
    if named is None or named.end_byte - named.start_byte > MAX_LINE_CHARS or named.text is None:
        return ""
    return named.text.decode("utf-8", "replace").split("\n")[0].strip()


def _documentation(lines: Sequence[str], found: _Found) -> list[int]:
    """The first lines of what is said about definitions: in a comment above one, or in the string below its head."""
    rows: set[int] = set()
    for first, last in found.documented:
        row = first - 1
        top = None
        while row >= 0 and first - row <= _MAX_COMMENT_LINES and row not in found.names:
            bare = lines[row].lstrip()
            if _ATTRIBUTE.match(bare):
                rows.add(row)
            elif not _COMMENT.match(bare):
                break
            elif any(map(str.isalpha, bare)):
                top = row
            row -= 1
        if top is not None:
            rows.add(top)
        if last + 1 < len(lines) and _DOCSTRING.match(lines[last + 1]):
            rows.add(last + 1 if lines[last + 1].strip("rRuUbB\"' \t") else min(last + 2, len(lines) - 1))
    return sorted(rows - found.ranks.keys())


def _render(shown: Numbered, found: _Found, hint: Hint, limit: int, numbered: bool) -> str:
    lines = shown.lines
    rows: dict[int, list[int]] = {rank: [] for rank in _Rank}
    for row, rank in sorted(found.ranks.items()):
        rows[rank].append(row)
    if numbered and not shown.own:
        heads = [row for rank in (_Rank.TOP, _Rank.MEMBER, _Rank.VALUE) for row in rows[rank]]
        numbered = sum(min(len(lines[row]), MAX_LINE_CHARS) + _NUMBERING for row in heads) <= limit

    def line(row: int) -> RankedLine:
        mark = shown.marks[row] if shown.own else f"{row + 1}: " if numbered else ""
        name = found.names.get(row)
        return RankedLine(row, mark + narrow(lines[row]), name=f"{mark}{name}" if name else "")

    def ranked(chosen: Iterable[int], share: float = 1.0) -> Rank:
        return Rank([line(row) for row in chosen if _says_something(lines[row])], share)

    def ranks() -> Iterator[Rank]:
        # In a long text signatures may fill it all; of a part or a short one there is more to tell.
        long = sum(map(len, lines)) > _LONG_TEXT
        share = 1.0 if long else _SIGNATURES
        yield ranked(rows[_Rank.TOP], share)
        yield ranked(rows[_Rank.MEMBER], share)
        yield ranked(rows[_Rank.VALUE], share)
        details = [*rows[_Rank.DETAIL], *_documentation(lines, found)]
        if long:
            yield ranked(details)
            yield ranked(rows[_Rank.IMPORT])
        yield ranked([*found.ranks, *_bodies(lines, found)])

    return select_lines(ranks(), hint, limit)


def _bodies(lines: Sequence[str], found: _Found) -> list[int]:
    rest = (row for row, line in enumerate(lines) if len(line) > 8 and row not in found.ranks)
    return list(islice(rest, _MOST_BODY))


def _says_something(line: str) -> bool:
    bare = line.strip()
    return len(bare) > 2 or not set(bare) <= _OPENING
