"""The overviews of names: what a folder holds, and where a search found something.

A folder's listing is grouped by directory, a search's finds by file; what does not fit is counted.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memory.tiers.lines import Rank, RankedLine, clip, select_lines
from memory.tiers.shape import Hint

_MOST_READ: Final = 400_000
_LEAST_LIMIT: Final = 40
_LEAST_NAMES: Final = 8
_MAX_FIND_CHARS: Final = 400
_FOLDERS: Final = 0.25
"""The share of the room that folders with their counts have."""
_LINES: Final = 0.9
"""The share of the room that finds have; the rest is for the names of files of which none is kept."""
_SHARE: Final = 0.7
"""The share of lines that must be of a kind for the text to be."""

_LISTING_TOOLS = re.compile(
    r"(?i)^(?:mcp__\w+__)?(?:ls|list|glob|find_?files?|list_?(?:dir|files|directory)\w*|tree|find)$"
)
_SEARCH_TOOLS = re.compile(r"(?i)(?:grep|search_?(?:files|code|text|dir|file)|ripgrep|codebase_search|rg)$")
_LISTING_COMMAND = re.compile(
    r"(?:^|[;&|(\n])[^\S\n]*+(?:sudo )?"
    r"(?:ls|find|tree|fd|git ls-files|git status|rg --files|du|unzip -l|tar -?tz?v?f)\b"
)
_SEARCH_COMMAND = re.compile(r"(?:^|[;&|(\n])[^\S\n]*+(?:sudo )?(?:xargs (?:-\S+ )*)?(?:e?grep|rg|ag|ack|git grep)\b")

# `-rw-r--r-- 1 owner group 1234 Jan 1 12:00 name`
_LONG_ENTRY = re.compile(
    r"[-dlcbps][-rwxsStT]{9}[.+@]?\s+\d+\s+\S+\s+(?:\S+\s+)?([\d.,]+[KMGT]?)\s+.{5,18}?\s+(\S.*)\Z"
)
_TREE_ENTRY = re.compile(r"([\s│├└─`|+-]*)([^\s│├└].*)\Z")
_NAME_LINE = re.compile(r"(?=\W*\w)[^\s:;,(){}<>\"'=]+[/\\:@*=|]?\Z")
# `path:12:text`, `path-12-text` (context), also of Windows; the path has no spaces or is long.
_FOUND = re.compile(r"((?:[A-Za-z]:)?[^\s:][^:\n]{0,300}?):(\d{1,7}):(.*)\Z")
_CONTEXT = re.compile(r"((?:[A-Za-z]:)?[^\s:][^:\n]{0,300}?)-(\d{1,7})-(.*)\Z")
_BARE_FOUND = re.compile(r"\s*(?:Line )?(\d{1,7})([:-])(.*)\Z")
_HEADING = re.compile(r"(?:[A-Za-z]:)?[\w.@~/\\()\[\]+-][\w.@~/\\()\[\]+ -]*:?\Z")


def is_search(hint: Hint) -> bool:
    """Whether the tool or the command looked for something in files."""
    if _SEARCH_TOOLS.search(hint.tool):
        return True
    match = _SEARCH_COMMAND.search(hint.command[:2000])
    return match is not None and "|" not in hint.command[: match.start() + 1]


def is_listing(hint: Hint) -> bool:
    """Whether the tool or the command lists files."""
    return bool(_LISTING_TOOLS.search(hint.tool) or _LISTING_COMMAND.search(hint.command[:2000]))


@dataclass(frozen=True, slots=True)
class _ListedName:
    """A name in a listing: the folder it is in (empty where none is told) and how it stands in its line."""

    folder: str
    name: str


def listing(text: str, hint: Hint, limit: int) -> str | None:
    """The names in a listing by folder; None where the text is no list of names."""
    if limit < _LEAST_LIMIT or is_search(hint):
        return None
    lines = [line.rstrip() for line in text[:_MOST_READ].replace("\x00", "\n").split("\n")]
    names = _json_names(text)
    if names is not None:
        lines = names
    entries = list(_entries(lines))
    filled = sum(1 for line in lines if line.strip())
    needed = _SHARE if is_listing(hint) else 0.9
    if len(entries) < _LEAST_NAMES or len(entries) < filled * needed:
        return None
    if sum("/" in line or "\\" in line for line in lines) > filled // 2 and any(entry.folder for entry in entries):
        return _by_path(lines, entries, hint, limit) or None
    return _by_folder(entries, limit) or None


def _by_path(lines: Sequence[str], entries: Sequence[_ListedName], hint: Hint, limit: int) -> str:
    """Paths that are whole in their lines stay whole, since a next step names the whole; the rest is counted."""
    first = f"{len(entries)} paths"
    folders = Counter(entry.folder or "." for entry in entries)
    left = int(limit * _FOLDERS) - len(first)
    heads = []
    for folder, count in folders.most_common():
        head = f"{folder}/ ({count})"
        if count > 1 and len(head) < left:
            heads.append(head)
            left -= len(head) + 1
    counted = clip("\n".join([first, *heads]), limit)
    paths = [RankedLine(row, clip(line.strip(), _MAX_FIND_CHARS)) for row, line in enumerate(lines) if line.strip()]
    selected = select_lines([Rank(paths)], hint, limit - len(counted) - 1)
    return f"{counted}\n{selected}" if selected else counted


def _json_names(text: str) -> list[str] | None:
    """The names of a listing given as a JSON array of strings."""
    if text.lstrip()[:1] != "[" or len(text) > _MOST_READ:
        return None
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return read if isinstance(read, list) and all(isinstance(name, str) for name in read) else None


def _entries(lines: Sequence[str]) -> Iterator[_ListedName]:
    folder = ""
    path: list[tuple[int, str]] = []
    for line in lines:
        bare = line.strip()
        if not bare or len(bare) > 400 or re.match(r"total [\d.]+\w?\Z", bare):
            continue
        long = _LONG_ENTRY.match(bare)
        if long:
            if long[2] not in (".", ".."):
                yield _ListedName(folder, f"{long[2]}{'/' if bare[0] == 'd' else ''} {long[1]}")
            continue
        if bare.endswith(":") and _NAME_LINE.match(bare) and "://" not in bare:
            folder, path = bare[:-1], []
            continue
        nested = _nested_entry(line, path)
        if nested is not None:
            yield nested
        elif _NAME_LINE.match(bare):
            head, slash, name = bare.rstrip("/\\").replace("\\", "/").rpartition("/")
            yield _ListedName(head or folder, name + ("/" if bare.endswith("/") else "") if slash or head else bare)


def _nested_entry(line: str, path: list[tuple[int, str]]) -> _ListedName | None:
    """An entry of a drawn or an indented tree, whose folders are those above it that stand less deep."""
    match = _TREE_ENTRY.match(line)
    if match is None:
        return None
    if not match[1]:
        if line.rstrip().endswith("/") and _NAME_LINE.match(line.strip()):
            path[:] = [(0, line.strip().rstrip("/"))]
        return None
    name = match[2].strip()
    drawn = any(mark in match[1] for mark in "│├└|+`")
    if len(name) > 120 or not (drawn or _NAME_LINE.match(name)):
        return None
    depth = len(match[1])
    while path and path[-1][0] >= depth:
        path.pop()
    folder = "/".join(part for _, part in path)
    path.append((depth, name.rstrip("/")))
    return _ListedName(folder, name)


def _by_folder(entries: Sequence[_ListedName], limit: int) -> str:
    """Every folder with its count, then as many names as fit, evenly: a large folder must not hide the small ones."""
    folders: dict[str, list[str]] = {}
    for entry in entries:
        folders.setdefault(entry.folder, []).append(entry.name)
    heads = {folder: f"{folder or '.'}/ ({len(names)})" for folder, names in folders.items()}
    first = f"{len(entries)} entries in {len(folders)} folders"
    if len(folders) == 1:
        heads = {folder: (f"{folder}/ " if folder else "") + f"({len(names)})" for folder, names in folders.items()}
        first = ""
    shown: dict[str, int] = {}
    left = limit - len(first) - 1
    for folder in sorted(folders, key=lambda each: (-len(folders[each]), each)):
        cost = len(heads[folder]) + 2
        if cost <= left - 20:
            shown[folder] = 0
            left -= cost
    left -= 24
    growing = list(shown)
    while growing:
        still = []
        for folder in growing:
            names, count = folders[folder], shown[folder]
            cost = len(names[count]) + 1 if count < len(names) else left + 1
            if cost <= left:
                shown[folder] += 1
                left -= cost
                still.append(folder)
        growing = still
    rows = [first] if first else []
    for folder, names in folders.items():
        if folder in shown:
            count = shown[folder]
            rest = " …" if 0 < count < len(names) else ""
            rows.append(f"{heads[folder]}: {' '.join(names[:count])}{rest}" if count else heads[folder])
    hidden = len(folders) - len(shown)
    if hidden:
        rows.append(f"… {hidden} more folders")
    text = "\n".join(rows)
    while len(text) > limit and rows:
        rows.pop()
        text = "\n".join(rows)
    return text


def searches(text: str, hint: Hint, limit: int) -> str | None:
    """What a search found, by file: every file with its count, then the finds with the rarest names, verbatim."""
    if limit < _LEAST_LIMIT:
        return None
    lines = [line.rstrip("\r") for line in text[:_MOST_READ].replace("\x00", "").split("\n")]
    finds = list(_finds(lines, hint.path))
    filled = sum(1 for line in lines if line.strip() and line.strip() != "--")
    needed = 0.5 if is_search(hint) else 0.8
    if len(finds) < 2 or len(finds) < filled * needed:
        return _file_names_only(lines, hint, limit) if is_search(hint) else None
    return _by_file(lines, finds, hint, limit) or None


@dataclass(frozen=True, slots=True)
class _Find:
    row: int
    file: str
    matched: bool
    """False for the lines around a find."""


def _finds(lines: Sequence[str], path: str) -> Iterator[_Find]:
    heading = ""
    for row, line in enumerate(lines):
        if not line.strip() or line == "--":
            continue
        match = _FOUND.match(line)
        if match:
            yield _Find(row, match[1], True)
            continue
        bare = _BARE_FOUND.match(line)
        if bare:
            yield _Find(row, heading or path, bare[2] == ":")
            continue
        match = _CONTEXT.match(line)
        if match:
            yield _Find(row, match[1], False)
        elif _HEADING.match(line.strip()):
            heading = line.strip().rstrip(":")


def _by_file(lines: Sequence[str], finds: Sequence[_Find], hint: Hint, limit: int) -> str:
    files = Counter(find.file for find in finds if find.matched) or Counter(find.file for find in finds)
    total = sum(files.values())
    first = f"{total} finds in {len(files)} files" if len(files) > 1 else ""
    room = int((limit - len(first) - 1) * (_LINES if len(files) > 1 else 1.0))

    texts = [
        RankedLine(find.row, clip(" ".join(lines[find.row].split()), _MAX_FIND_CHARS))
        for find in finds
        if lines[find.row].strip()
    ]
    selected = select_lines([Rank(texts)], hint, room)
    left = limit - len(selected) - len(first) - 2
    others = []
    for file, count in files.most_common():
        head = f"{file} ({count})"
        if file and len(files) > 1 and f"{file}:" not in selected and len(head) < left:
            others.append(head)
            left -= len(head) + 1
    return "\n".join(part for part in (first, selected, *others) if part)[:limit]


def _file_names_only(lines: Sequence[str], hint: Hint, limit: int) -> str | None:
    """Finds without lines: only the files' names."""
    names = [line.strip() for line in lines if line.strip()]
    named = [name for name in names if _HEADING.match(name) and re.search(r"[/\\.]", name)]
    if len(named) < 3 or len(named) < len(names) * _SHARE:
        return None
    entries = []
    for name in named:
        head, _, last = name.replace("\\", "/").rpartition("/")
        entries.append(_ListedName(head, last))
    return _by_path(lines, entries, hint, limit) or None
