"""The overview of a tool *call*: the same JSON with its long strings shortened.

Whatever is not a long string stays as it was written, byte for byte: keys, their order, numbers, short values. So a
provider still accepts the call, and a model still sees which tool it called on what.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from memory.tiers.code import code
from memory.tiers.diffs import diff
from memory.tiers.lines import lines
from memory.tiers.shape import SHARE, Hint, hint_of

LONG: Final = 500
"""Characters from which on a string value is shortened."""
_MOST_READ: Final = 8_000_000
_LEAST: Final = 40
# Strings of JSON, and whether a colon follows: then it is a key.
_STRING = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"(\s*+:)?', re.DOTALL)
_MEMBER = re.compile(r'"([^"\\]{1,80})"\s*:\s*\Z')
# What an edit took away is gone: it tells less than what it put in its place.
_REPLACED = frozenset({"old_string", "old_str", "oldString", "oldText", "old_text", "search", "find", "old"})
_TRIES: Final = 6


@dataclass(frozen=True, slots=True)
class _Long:
    """A long string value: where its literal stands in the arguments, what it says, and the key that it has."""

    start: int
    end: int
    text: str
    key: str

    @property
    def weight(self) -> float:
        return len(self.text) * (0.4 if self.key in _REPLACED else 1.0)


def arguments(name: str, arguments: str, limit: int, handle: str = "") -> str | None:
    """The arguments of a call to this tool in at most `limit` characters, a valid JSON object of the same shape.

    A shortened string says in its first line how large it was and how to have the whole (`handle`, maybe empty).
    None where nothing is long, where the arguments are no JSON object, or where they cannot be made that short.
    """
    if len(arguments) < LONG or len(arguments) > _MOST_READ or not _is_object(arguments):
        return None
    found = _long(arguments)
    if not found:
        return None
    hint = hint_of(name, arguments)
    # The overviews see what the call was on, not the text itself a second time.
    hint = replace(hint, arguments="", command="")
    markers = [_marker(each.text, handle) for each in found]
    fixed = len(arguments) - sum(each.end - each.start - 2 for each in found)
    room = limit - fixed - sum(len(_json_string(marker)) - 2 for marker in markers)
    for _ in range(_TRIES):
        text = _arguments_with_shortened(arguments, found, markers, hint, max(room, 0))
        if len(text) <= limit:
            return text if len(text) < len(arguments) else None
        # Line ends, quotes and tabs take two characters each in JSON.
        room = min(room - (len(text) - limit), int(room * 0.9))
        if room < _LEAST:
            break
    text = _arguments_with_shortened(arguments, found, markers, hint, 0)
    return text if len(text) <= limit else None


def _is_object(arguments: str) -> bool:
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _long(arguments: str) -> list[_Long]:
    found = []
    for match in _STRING.finditer(arguments):
        if match[2] or len(match[1]) < LONG:
            continue
        text = json.loads(f'"{match[1]}"', strict=False)
        if len(text) >= LONG:
            before = _MEMBER.search(arguments, max(match.start() - 100, 0), match.start())
            found.append(_Long(match.start(), match.end(), text, before[1] if before else ""))
    return found


def _marker(text: str, handle: str) -> str:
    size = f"{text.count(chr(10)) + 1} lines, {len(text)} characters, shortened"
    return f"[{size}: {handle}]" if handle else f"[{size}]"


def _arguments_with_shortened(
    arguments: str, found: Sequence[_Long], markers: Sequence[str], hint: Hint, room: int
) -> str:
    """The arguments with every long string shortened; together the overviews have so many characters, before JSON."""
    total = sum(each.weight for each in found)
    parts = []
    at = 0
    for each, marker in zip(found, markers, strict=True):
        share = min(int(room * each.weight / total), len(each.text) // SHARE)
        overview = _overview(each.text, hint, share - 2)
        parts.append(arguments[at : each.start])
        parts.append(_json_string(f"{marker}\n{overview}" if overview else marker))
        at = each.end
    parts.append(arguments[at:])
    return "".join(parts)


def _overview(text: str, hint: Hint, limit: int) -> str:
    if limit < _LEAST:
        return ""
    for kind in (diff, code):
        overview = kind(text, hint, limit)
        if overview:
            return overview
    return lines(text, hint, limit)


def _json_string(text: str) -> str:
    """A JSON string; lone surrogates, which cannot be sent, stay escaped."""
    literal = json.dumps(text, ensure_ascii=False)
    try:
        literal.encode()
    except UnicodeEncodeError:
        return json.dumps(text)
    return literal
