"""Which kind of text it is, and its two lower tiers.

Each maker of an overview knows its own kind and answers None to all others; the first that answers has its share of
the room, and the rest goes to the most telling lines that are not in it yet.

L0: what a text is, in one line: the file, the command and how it ended, the search and its count, a page's title.

What runtimes put around the output of a command or a tool, taken off: the exit code, and the output itself.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.tiers.code import code
from memory.tiers.diffs import diff
from memory.tiers.json_skeleton import json_skeleton, shape_of
from memory.tiers.lines import clean, cut, ends, led_by, lines, pieces
from memory.tiers.listings import is_listing, is_search, listing, searches
from memory.tiers.logs import first_error, is_log, log, outcome
from memory.tiers.pages import markdown, prose, table, title, web_page
from memory.tiers.shape import MAX_LINE_CHARS, Hint, Overview, Tiers, budget_of

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
    parts = [
        part for part in (_what_was_asked(body, hint), _ending(framed, hint), size, _gist_of_result(body, hint)) if part
    ]
    return _one_line(" · ".join(parts))


def _what_was_asked(body: str, hint: Hint) -> str:
    if hint.command:
        return f"$ {_short(hint.command, 80)}"
    argument = _search_argument(hint)
    if is_search(hint) or is_listing(hint):
        place = f" in {hint.path}" if hint.path else ""
        return _short(f"{hint.tool} {argument}{place}".strip(), 100)
    if hint.path:
        return _end_of_path(hint.path, 90)
    return _short(f"{hint.tool} {argument}".strip(), 80)


def _ending(framed: UnframedOutput, hint: Hint) -> str:
    if framed.exit is not None:
        return f"exit {framed.exit}"
    return "failed" if hint.failed else ""


def _gist_of_result(body: str, hint: Hint) -> str:
    """What it says: the first error, else how it ended, else its keys, else its title."""
    head = body[:_MOST_READ]
    if head.lstrip()[:1] in ("{", "[") and len(body) <= _MOST_READ and (keys := shape_of(body)):
        return keys
    rows = head.split("\n")
    if hint.failed or is_log(rows, hint):
        return first_error(rows) or outcome(rows) or _first_telling_line(rows)
    if hint.path or is_search(hint) or is_listing(hint):
        return _first_telling_line(rows)
    return title(head) or _first_telling_line(rows)


def _first_telling_line(rows: Sequence[str]) -> str:
    """The first line that says something, without a line number."""
    for row in rows[:200]:
        row = _NUMBER.sub("", row).strip()
        if sum(c.isalnum() for c in row[:200]) >= 4:
            return row
    return ""


def _search_argument(hint: Hint) -> str:
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


def _end_of_path(path: str, most: int) -> str:
    """A path's end: its beginning is the same for all files of a project."""
    path = _BLANKS.sub(" ", path[-most * 4 :]).strip()
    return path if len(path) <= most else "…" + path[-most + 1 :]


def _one_line(text: str) -> str:
    text = "".join(c if c.isprintable() else "\ufffd" for c in _short(text, MAX_LINE_CHARS))
    return text or "nothing"


WORTH_AN_OVERVIEW: Final = 600
"""Characters below which L0 is all there is."""
_SHORTEST: Final = 100
"""Characters below which an overview says no more than the line."""

# With their share of the room; what a maker does not use goes to the lines that tell most. Those that fill their room
# with such lines themselves have all of it. On transcripts a larger share of JSON's skeleton lost lines that were
# used again; for changes, searches and listings the share made little difference.
_FOUND: tuple[tuple[Overview, float], ...] = ((searches, 0.5), (listing, 0.6))
# In the order in which they are asked: the surest signs first, and among these the cheapest.
_MAKERS: tuple[tuple[Overview, float], ...] = (
    (diff, 0.5),
    (json_skeleton, 0.2),
    (web_page, 1.0),
    (log, 1.0),
    (code, 1.0),
    (markdown, 1.0),
    (table, 1.0),
    *_FOUND,
    (prose, 1.0),
)
_FULL: Final = 0.85
"""Of its room: an overview that has so much of it is left as it is."""


def tiers(text: str, hint: Hint) -> Tiers:
    """L0 and L1 of a text: deterministic, within their limits whatever the text is."""
    framed = unframed(clean(text))
    limit = budget_of(text)
    overview = _overview(framed, hint, limit) if len(text) >= WORTH_AN_OVERVIEW else ""
    return Tiers(headline(framed, hint), overview if len(overview) >= _SHORTEST else "")


def line(text: str, hint: Hint) -> str:
    """L0 alone."""
    return headline(unframed(clean(text)), hint)


def _overview(framed: UnframedOutput, hint: Hint, limit: int) -> str:
    head = f"Exit code {framed.exit}\n" if framed.exit else ""
    room = limit - len(head)
    body = framed.body
    for make, share in (*_FOUND, *_MAKERS) if is_search(hint) or is_listing(hint) else _MAKERS:
        overview = make(body, hint, int(room * share))
        if overview:
            return cut(head + filled(overview, body, hint, room), limit)
    return cut(head + lines(body, hint, room), limit)


def filled(overview: str, body: str, hint: Hint, limit: int) -> str:
    """An overview with what room is left used for the lines that tell most."""
    if len(overview) > limit * _FULL:
        return overview
    rows = pieces(ends(body))
    places = _places_in_text(overview.split("\n"), rows)
    if places is not None:
        return led_by(places, rows, hint, limit, 1.0)
    more = lines(body, hint, limit - len(overview) - 1, overview)
    return f"{overview}\n{more}" if more else overview


def _places_in_text(overview: Sequence[str], rows: Sequence[str]) -> list[int] | None:
    """Where the lines of an overview stand in the text, or None where it is more than a choice of lines."""
    at: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        at[row.strip()].append(number)
    places: list[int] = []
    filled_rows = [row.strip() for row in overview if row.strip() and not row.lstrip().startswith("…")]
    before = -1
    for row in filled_rows:
        numbers = at.get(row)
        if numbers is None:
            continue
        next_one = bisect_right(numbers, before)
        before = numbers[next_one] if next_one < len(numbers) else numbers[-1]
        places.append(before)
    return places if filled_rows and len(places) >= 0.9 * len(filled_rows) else None


_HEAD = re.compile(r"\A\s{0,4}(?:[A-Z][A-Za-z ]{2,30}[: ][^\n]{0,400}\n){0,8}?Output:[ ]?\n?")
_EXIT = re.compile(r"(?:[Ee]xit(?:ed with)? ?[Cc]ode:? |[Ee]xited with code |<returncode>|<exit_code>)(-?\d{1,6})\b")
_FIRST_LINE = re.compile(r"\A(?:Error: )?(?:Command failed with )?[Ee]xit code:? (-?\d{1,6})\n")
_TAIL = re.compile(
    r"\n(?:Exit Code|exit code|Exit code): (-?\d{1,6})\b[^\n]{0,200}(?:\n[A-Z][\w ]{2,30}: [^\n]{0,200}){0,4}\s{0,8}\Z"
)
# Claude Code and its kin put reminders of their own into results; the same words in every one of them.
_REMINDER: Final = ("<system-reminder>", "</system-reminder>")
_BLOCKS = re.compile(r'\A\s{0,8}(?:\[\s{0,8}\{\s{0,8}"(?:type|text)"|\{\s{0,8}"(?:output|stdout|content)")\s{0,4}:')
_MOST_PARSED: Final = 8_000_000


@dataclass(frozen=True, slots=True)
class UnframedOutput:
    """An output without its frame."""

    body: str
    exit: int | None
    """The exit code, None where none is told."""


def unframed(text: str) -> UnframedOutput:
    """The output in a tool's result, and how the command ended."""
    if _REMINDER[0] in text:
        text = _without_reminders(text)
    if _BLOCKS.match(text) and len(text) <= _MOST_PARSED and (inner := _output_in_json(text)) is not None:
        return inner
    if head := _HEAD.match(text):
        exit_line = _EXIT.search(head[0])
        body = text[head.end() :]
        if exit_line is None and (tail := _TAIL.search(body[-1200:])):
            return UnframedOutput(body, int(tail[1]))
        return UnframedOutput(body, int(exit_line[1]) if exit_line else None)
    if first := _FIRST_LINE.match(text):
        return UnframedOutput(text[first.end() :], int(first[1]))
    if exit_line := _EXIT.search(text[:200]) or _EXIT.search(text[-200:]):
        return UnframedOutput(text, int(exit_line[1]))
    return UnframedOutput(text, None)


def _without_reminders(text: str) -> str:
    """The text without the reminders of the runtime, unless it is nothing but these; one that does not end is text."""
    head, *others = text.split(_REMINDER[0])
    lines = [head]
    for other in others:
        _, end, rest = other.rpartition(_REMINDER[1])
        lines.append(rest if end else _REMINDER[0] + other)
    without = "".join(lines)
    return without if without.strip() else text


def _output_in_json(text: str) -> UnframedOutput | None:
    """The output where JSON is only its envelope: nothing else in it is large."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    match value:
        case list() if all(isinstance(each, dict) and isinstance(each.get("text"), str) for each in value):
            return UnframedOutput("\n".join(each["text"] for each in value), None)
        case dict():
            for key in ("output", "stdout", "content"):
                inner = value.get(key)
                if isinstance(inner, str) and len(inner) * 4 > len(text) * 3:
                    return UnframedOutput(inner, _code(value))
    return None


def _code(value: dict[str, object]) -> int | None:
    for holder in (value, value.get("metadata")):
        if isinstance(holder, dict):
            for key in ("exit_code", "exitCode", "returncode", "code"):
                if isinstance(holder.get(key), int):
                    return int(holder[key])
    return None
