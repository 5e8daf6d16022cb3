"""The overview of a change: which files, where in them, how much, and the lines that name things.

Reads unified diffs (git's with their heads, and plain ones) and the envelopes of `apply_patch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from memory.tiers.lines import Rank, RankedLine, clip, narrow, select_lines
from memory.tiers.shape import Hint

_MOST_READ: Final = 400_000
_LEAST_LIMIT: Final = 40
_MOST_ROWS: Final = 4000
# Up to which share of the room heads of files, then definitions, then heads of hunks go first.
_HEADS, _DEFINITIONS, _HUNKS = 0.25, 0.35, 0.4
_FILE = re.compile(
    r"diff --git \S|diff --(?:cc|combined) |\*\*\* (?:Add|Update|Delete|Move to|Begin Patch)|Index: \S|"
    r"rename (?:from|to) |deleted file|new file"
)
_OLD = re.compile(r"--- (?:[ab]/|/dev/null|\S+\s*(?:\d{4}-|\Z))")
_NEW = re.compile(r"\+\+\+ (?:[ab]/|/dev/null|\S+\s*(?:\d{4}-|\Z))")
_HUNK = re.compile(r"@@")
_COMMIT = re.compile(r"commit [0-9a-f]{7,40}\b|Author: |Date: |Subject: |From: ")
_DEFINES = re.compile(
    r"[+-]\s*(?:(?:export|public|private|protected|static|async|pub|default|abstract|final|override)\s+)*"
    r"(?:def|class|func|function|fn|type|interface|struct|enum|trait|impl|const|module|namespace)\b"
)


def diff(text: str, hint: Hint, limit: int) -> str | None:
    """Heads of files and hunks with counts of lines added and removed, then changed lines; None if it is no diff."""
    if limit < _LEAST_LIMIT:
        return None
    lines = [line.rstrip("\r") for line in text[:_MOST_READ].replace("\x00", "").split("\n")]
    heads = list(_head_rows(lines))
    kinds = {kind for _, kind in heads}
    # A patch that only adds or deletes whole files has no hunks.
    whole = any(lines[row].startswith(("*** Add File", "*** Delete File")) for row, _ in heads)
    if "file" not in kinds or not (whole or "hunk" in kinds):
        return None
    if heads[0][0] > max(40, len(lines) // 2):
        return None
    return _render(lines, heads, hint, limit) or None


def _head_rows(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The rows that head a file, a hunk or a commit."""
    for row, line in enumerate(lines):
        if not line or line[0] not in "d*Ir-+n@cADSF":
            continue
        if _HUNK.match(line):
            yield row, "hunk"
        elif _FILE.match(line):
            yield row, "file"
        elif _NEW.match(line) and row and _OLD.match(lines[row - 1]):
            # Under a head of git's own, the two lines say the same again.
            yield row, "again" if any(_FILE.match(above) for above in lines[max(row - 6, 0) : row]) else "file"
        elif _COMMIT.match(line):
            yield row, "commit"


def _render(lines: Sequence[str], heads: Sequence[tuple[int, str]], hint: Hint, limit: int) -> str:
    marked = dict(heads)
    counts = _counts(lines, marked)
    files = [_head(lines, row, counts) for row, kind in heads if kind == "file" and row in counts]
    again = {row for row, kind in heads if kind == "again"} | {row - 1 for row, kind in heads if kind == "again"}
    rest = [row for row in range(len(lines)) if row not in counts and row not in again]
    hunks = [row for row, kind in heads if kind == "hunk" and len(lines[row]) > 4]
    changed = [row for row in rest if lines[row][:1] in ("+", "-") and row not in marked]
    defining = [row for row in changed if _DEFINES.match(lines[row])]

    def verbatim(rows: Sequence[int], share: float = 1.0) -> Rank:
        return Rank(
            [RankedLine(row, lines[row][:1] + narrow(lines[row][1:])) for row in rows if len(lines[row].strip()) > 3],
            share,
        )

    def ranks() -> Iterator[Rank]:
        yield Rank(files, _HEADS)
        yield verbatim(defining, _DEFINITIONS)
        yield verbatim(hunks, _HUNKS)
        yield verbatim(rest[:_MOST_ROWS])

    return select_lines(ranks(), hint, limit)


def _head(lines: Sequence[str], row: int, counts: dict[int, tuple[int, int]]) -> RankedLine:
    line = lines[row]
    name = _named(line)
    added, removed = counts[row]
    whole = clip(f"{line.strip()} (+{added} -{removed})" if added or removed else line.strip())
    return RankedLine(row, whole, name=clip(f"{name} +{added} -{removed}") if name and len(name) < len(line) else "")


def _named(line: str) -> str:
    match = re.match(r"diff --git a/(.+?) b/|\+\+\+ (?:b/)?(\S+)|\*\*\* \w+ File: (.+)", line)
    return next((group.strip() for group in match.groups() if group), "") if match else ""


def _counts(lines: Sequence[str], marked: dict[int, str]) -> dict[int, tuple[int, int]]:
    """How many lines were added to and removed from each file, by the row of its head."""
    counts: dict[int, tuple[int, int]] = {}
    file = -1
    inside = False
    for row, line in enumerate(lines):
        kind = marked.get(row)
        if kind == "file":
            if not line.startswith(("rename", "deleted", "new file", "*** Begin", "*** Move")):
                file, inside = row, line.startswith("*** ")
            counts.setdefault(row, (0, 0))
        elif kind == "hunk":
            inside = True
        elif kind == "commit":
            inside = False
        elif inside and file >= 0 and kind is None:
            added, removed = counts[file]
            if line[:1] == "+":
                counts[file] = added + 1, removed
            elif line[:1] == "-":
                counts[file] = added, removed + 1
    return {
        row: count
        for row, count in counts.items()
        if not lines[row].startswith(("new file", "*** Begin"))
        and (count != (0, 0) or not lines[row].startswith("deleted"))
    }
