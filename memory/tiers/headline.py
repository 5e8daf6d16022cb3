"""L0: what a text is, in one line: the file, the command and how it ended, the search and its count, a page's title.

Names and numbers first, because the line may be cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final

from memory.tiers.json_skeleton import shape_of
from memory.tiers.listings import is_listing, is_search
from memory.tiers.logs import first_error, is_log, outcome
from memory.tiers.pages import title
from memory.tiers.shape import MAX_LINE_CHARS, Hint
from memory.tiers.tool_output_frame import UnframedOutput

_MOST_READ: Final = 200_000
_MOST_ARGUMENTS: Final = 20_000
_PATTERNS: Final = ("pattern", "query", "regex", "search", "q", "url", "prompt", "description", "name", "id")
_BLANKS = re.compile(r"\s+")
_NUMBER = re.compile(r"\A\s{0,8}L?\d{1,6}(?:→|\t|[:|] ?| {2,})")


def headline(framed: UnframedOutput, hint: Hint) -> str:
    """The one line, at most :data:`MAX_LINE_CHARS` characters; never empty."""
    body = framed.body
    many = body.count("\n") + (not body.endswith("\n")) if body else 0
    size = f"{many} lines" if many != 1 else f"{len(body)} characters"
    parts = [part for part in (_what(body, hint), _ending(framed, hint), size, _gist(body, hint)) if part]
    return _one_line(" · ".join(parts))


def _what(body: str, hint: Hint) -> str:
    """What was asked for."""
    if hint.command:
        return f"$ {_short(hint.command, 80)}"
    argument = _argument(hint)
    if is_search(hint) or is_listing(hint):
        place = f" in {hint.path}" if hint.path else ""
        return _short(f"{hint.tool} {argument}{place}".strip(), 100)
    if hint.path:
        return _tail(hint.path, 90)
    return _short(f"{hint.tool} {argument}".strip(), 80)


def _ending(framed: UnframedOutput, hint: Hint) -> str:
    if framed.exit is not None:
        return f"exit {framed.exit}"
    return "failed" if hint.failed else ""


def _gist(body: str, hint: Hint) -> str:
    """What it says: the first error, else how it ended, else its keys, else its title."""
    head = body[:_MOST_READ]
    if head.lstrip()[:1] in ("{", "[") and len(body) <= _MOST_READ and (keys := shape_of(body)):
        return keys
    rows = head.split("\n")
    if hint.failed or is_log(rows, hint):
        return first_error(rows) or outcome(rows) or _first(rows)
    if hint.path or is_search(hint) or is_listing(hint):
        return _first(rows)
    return title(head) or _first(rows)


def _first(rows: Sequence[str]) -> str:
    """The first line that says something, without a line number."""
    for row in rows[:200]:
        row = _NUMBER.sub("", row).strip()
        if sum(c.isalnum() for c in row[:200]) >= 4:
            return row
    return ""


def _argument(hint: Hint) -> str:
    """The one argument that says what was looked for."""
    if not 2 < len(hint.arguments) <= _MOST_ARGUMENTS:
        return ""
    try:
        read = json.loads(hint.arguments)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(read, Mapping):
        return ""
    for name in _PATTERNS:
        value = read.get(name)
        if isinstance(value, str) and value.strip():
            return json.dumps(value, ensure_ascii=False)
    values = [
        f"{key}={value}" for key, value in read.items() if isinstance(value, (str, int)) and len(str(value)) <= 60
    ]
    return " ".join(values[:4])


def _short(text: str, most: int) -> str:
    text = _BLANKS.sub(" ", text[: most * 4]).strip()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _tail(path: str, most: int) -> str:
    """A path's end: its beginning is the same for all files of a project."""
    path = _BLANKS.sub(" ", path[-most * 4 :]).strip()
    return path if len(path) <= most else "…" + path[-most + 1 :]


def _one_line(text: str) -> str:
    text = "".join(c if c.isprintable() else "\ufffd" for c in _short(text, MAX_LINE_CHARS))
    return text or "nothing"
