"""The overview of JSON: its own keys and short values in its own layout, long lists by their first items and a count.

The layout of the source is kept (indented or on one line, with or without spaces), because a line that is the same as
in the source is one that a later step can still use. JSON lines are read as one list. What was cut off by the tool
that printed it is no JSON any more, and answered with None.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from memory.tiers.lines import LEAST, clean, cut
from memory.tiers.shape import Hint

_NAMING: Final = ("id", "name", "path", "file", "key", "title", "url", "identifier", "number", "code", "symbol", "date")
_INDENT = re.compile(r"[\[{]\n( {1,8}|\t)")
# Items of a list, characters of a text, levels of nesting: the first row whose skeleton fits is taken.
_MEASURES: Final = (
    (12, 400, 12),
    (6, 240, 10),
    (4, 160, 8),
    (3, 100, 8),
    (2, 80, 6),
    (1, 60, 5),
    (1, 30, 3),
    (1, 12, 2),
)
_MOST_NODES: Final = 3000
"""Values that are visited for one skeleton, so that a huge text costs little more than its parsing."""
_MOST_KEYS: Final = 60
_MOST_LINES: Final = 2000
"""JSON lines that are parsed; the others are taken for the same."""


def json_skeleton(text: str, hint: Hint, limit: int) -> str | None:
    """JSON or JSON lines by its skeleton, None where the text is neither."""
    text = clean(text).strip()
    if limit < LEAST or text[:1] not in ("{", "["):
        return None
    several = False
    value = _read(text)
    if value is None:
        value, several = _read_lines(text), True
    if not isinstance(value, (dict, list)) or not value:
        return None
    layout = _layout(text)
    for items, characters, levels in _MEASURES:
        measure = _Measure(items, characters, levels)
        skeleton = (
            _json_lines_skeleton(list(value), measure, layout) if several else layout.written(measure.pruned(value, 0))
        )
        if len(skeleton) <= limit:
            return skeleton
    return cut(skeleton, limit)


def shape_of(text: str) -> str:
    """The outermost keys or the number of items, for a single line; empty where the text is no JSON."""
    value = _read(text)
    if isinstance(value, dict):
        return f"{{{len(value)} keys}} " + ", ".join(_titled(key, each) for key, each in list(value.items())[:12])
    if isinstance(value, list):
        return f"[{len(value)} items] " + ", ".join(_names_of_objects(value[:20]))
    return ""


def _titled(key: str, value: object) -> str:
    if isinstance(value, (str, int, float)) and len(str(value)) <= 40:
        return f"{key}: {value}"
    return f"{key}[{len(value)}]" if isinstance(value, (list, dict)) else key


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read_lines(text: str) -> list[object] | None:
    """JSON lines, None where one of those that are read is none; a lone value is not several."""
    rows = [row for row in text.split("\n") if row.strip()]
    if len(rows) < 2:
        return None
    values: list[object] = []
    for row in rows[:_MOST_LINES]:
        value = _read(row) if row.lstrip()[:1] in ("{", "[") else None
        if value is None:
            return None
        values.append(value)
    # The others are only counted.
    return values + [None] * (len(rows) - len(values))


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the source was written."""

    indent: str | None
    separators: tuple[str, str]

    def written(self, value: object) -> str:
        text = json.dumps(value, ensure_ascii=False, indent=self.indent, separators=self.separators, default=str)
        return clean(text)


def _layout(text: str) -> _Layout:
    indented = _INDENT.match(text)
    head = text[:4000]
    colon = ": " if '": ' in head else ":"
    if indented:
        return _Layout(indented[1], (",", colon))
    return _Layout(None, (", " if ', "' in head or ", {" in head else ",", colon))


@dataclass(slots=True)
class _Measure:
    """How much of a value is kept."""

    items: int
    characters: int
    levels: int
    left: int = field(default=_MOST_NODES)

    def pruned(self, value: object, level: int) -> object:
        """The value with its long lists, long texts and deep levels cut short."""
        self.left -= 1
        match value:
            case str():
                return self._text(value)
            case dict() if level >= self.levels or self.left <= 0:
                return f"… {len(value)} keys" if value else value
            case list() if level >= self.levels or self.left <= 0:
                return f"… {len(value)} items" if value else value
            case dict():
                return self._object(value, level)
            case list():
                return self._list(value, level)
            case _:
                return value

    def _text(self, value: str) -> str:
        if len(value) <= self.characters + 12:
            return value
        return f"{value[: self.characters]}… ({len(value)} characters)"

    def _object(self, value: Mapping[str, object], level: int) -> dict[str, object]:
        entries: dict[str, object] = {}
        for key, each in value.items():
            if len(entries) >= _MOST_KEYS or self.left <= 0:
                entries["…"] = f"{len(value) - len(entries)} more keys"
                break
            entries[self._text(key)] = self.pruned(each, level + 1)
        return entries

    def _list(self, value: Sequence[object], level: int) -> list[object]:
        # A list of short values says more per character than one of objects.
        flat = all(not isinstance(each, (dict, list)) for each in value[: self.items * 8])
        most = self.items * 4 if flat else self.items
        items = [self.pruned(each, level + 1) for each in value[:most]]
        if len(value) > most:
            items.append(self.rest(value[most:]))
        return items

    def rest(self, values: Sequence[object]) -> str:
        """How many items are left out, and their names as far as they fit."""
        remark = f"… {len(values)} more"
        for name in _names_of_objects(values[: self.items * 40]):
            if len(remark) > self.characters * 3:
                break
            remark += (": " if remark.endswith("more") else ", ") + name
        return remark


def _names_of_objects(values: Sequence[object]) -> Iterator[str]:
    """What each of these objects is called, where one of its keys says so."""
    for value in values:
        if not isinstance(value, dict):
            if isinstance(value, (str, int, float)) and len(str(value)) <= 60:
                yield str(value)
            continue
        named = next((value[key] for key in value if _is_name(key) and isinstance(value[key], (str, int))), None)
        if named is not None and 0 < len(str(named)) <= 80:
            yield str(named)


def _is_name(key: str) -> bool:
    lowered = key.lower()
    return lowered in _NAMING or lowered.endswith(("_id", "_name", "_number", "_path"))


def _json_lines_skeleton(values: Sequence[object], measure: _Measure, layout: _Layout) -> str:
    """JSON lines: the first ones, and the count of the others."""
    rows = [layout.written(measure.pruned(each, 1)) for each in values[: measure.items]]
    if len(values) > measure.items:
        rows.append(clean(measure.rest(values[measure.items :])))
    return "\n".join(rows)
