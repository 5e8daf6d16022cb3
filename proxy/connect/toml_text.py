"""Set values in a TOML text and leave the rest as it is. Every change is proved by the standard parser."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from proxy.connect.text import NotEditable, line_end

_KEY = re.compile(r"""[ \t]*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))[ \t]*""")


def obstacle(text: str, paths: Iterable[tuple[str, ...]]) -> tuple[int, str] | None:
    """The line, from 1, on which one of the paths is taken by something else than a table with a header of its own or a
    plain key, and what that is; None where none is found."""
    wanted = list(paths)
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        row = line.strip()
        if row.startswith("["):
            many = row.startswith("[[")
            table, _ = _key_parts(row[2 if many else 1 :])
            if many and any(path[: len(table)] == table for path in wanted):
                return number, f"{_dotted(table)} is a list of tables there"
            if table in wanted and not row.startswith(f"[{'.'.join(table)}]"):
                return number, f"the header of {_dotted(table)} is written in an unusual way there"
            continue
        keys, rest = _key_parts(row)
        if not keys or not rest.startswith("="):
            continue
        whole = (*table, *keys)
        for path in wanted:
            if whole == path[: len(whole)] and (len(path) > 1 or row != line or not row.startswith(path[0])):
                if rest[1:].lstrip().startswith("{"):
                    form = f"[{'.'.join((*whole, 'NAME')[: len(path)])}]"
                    return (
                        number,
                        f"{_dotted(whole)} is an inline table there: make it {form} with lines of its own first",
                    )
                kind = "no table" if len(path) > 1 else "written in an unusual way"
                return number, f"{_dotted(whole)} is {kind} there"
            if len(table) < len(path) < len(whole) and whole[: len(path)] == path:
                return number, f"{_dotted(path)} is made by a dotted key there"
    return None


def _key_parts(row: str) -> tuple[tuple[str, ...], str]:
    """The parts of a dotted key that a row begins with, and what follows it."""
    keys: list[str] = []
    while found := _KEY.match(row):
        keys.append(next(each for each in found.groups() if each is not None))
        row = row[found.end() :]
        if not row.startswith("."):
            break
        row = row[1:]
    return tuple(keys), row


def _dotted(keys: tuple[str, ...]) -> str:
    return f"`{'.'.join(keys)}`"


_TABLE = re.compile(r"[ \t]*\[")


def set_values(text: str, values: Mapping[tuple[str, ...], Any]) -> str:
    """The text with top-level keys set (before the first table) and whole tables replaced or added at the end.

    Raises:
        NotEditable: when the text is no TOML, or the change cannot be made line by line; with the line that is in the
            way, where one is found.
    """
    try:
        expected: dict[str, Any] = tomllib.loads(text.lstrip("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(f"the text is not TOML: {error}") from None
    try:
        return _changed(text, values, expected)
    except NotEditable:
        found = obstacle(text, values)
        if found is None:
            raise
        line, what = found
        raise NotEditable(what, line) from None


def _changed(text: str, values: Mapping[tuple[str, ...], Any], expected: dict[str, Any]) -> str:
    eol = line_end(text)
    changed = text
    for path, value in values.items():
        if isinstance(value, Mapping):
            changed = _with_table(changed, ".".join(path), value, eol)
            _put(expected, path, _table_merged(expected, path, value))
        elif len(path) == 1:
            changed = _with_key(changed, path[0], value, eol)
            _put(expected, path, value)
        else:
            raise NotEditable("only top-level keys and whole tables can be set")
    try:
        found = tomllib.loads(changed.lstrip("\ufeff"))
    except tomllib.TOMLDecodeError:
        found = {}
    if found != expected:
        raise NotEditable("the text could not be changed with certainty")
    return changed


def _with_key(text: str, key: str, value: Any, eol: str) -> str:
    lines = text.splitlines(keepends=True)
    written = f"{key} = {_literal(value)}{eol}"
    first_table = next((at for at, line in enumerate(lines) if _TABLE.match(line)), len(lines))
    own = re.compile(rf"{re.escape(key)}[ \t]*=")
    for at in range(first_table):
        if own.match(lines[at]):
            lines[at] = written
            return "".join(lines)
    at = first_table
    if at == len(lines):
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += eol
        lines.append(written)
    else:
        # The blank lines before a table stay between the key and the table.
        while at > 0 and not lines[at - 1].strip():
            at -= 1
        gap = "" if at < first_table else eol
        lines.insert(at, written + gap)
    return "".join(lines)


def _with_table(text: str, name: str, values: Mapping[str, Any], eol: str) -> str:
    block = [f"[{name}]{eol}", *(f"{key} = {_literal(value)}{eol}" for key, value in values.items())]
    lines = text.splitlines(keepends=True)
    header = re.compile(rf"[ \t]*\[[ \t]*{re.escape(name)}[ \t]*\][ \t]*(?:#.*)?$")
    for at, line in enumerate(lines):
        if header.match(line.rstrip("\r\n")):
            end = next((next_ for next_ in range(at + 1, len(lines)) if _TABLE.match(lines[next_])), len(lines))
            while end > at + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
                end -= 1
            return "".join([*lines[:at], *block, *lines[end:]])
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += eol
    gap = [eol] if lines and lines[-1].strip() else []
    return "".join([*lines, *gap, *block])


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    # JSON's escapes are TOML's, too, but for DEL, which no setting of ours holds.
    return json.dumps(str(value), ensure_ascii=False)


def _table_merged(data: Mapping[str, Any], path: tuple[str, ...], value: Mapping[str, Any]) -> dict[str, Any]:
    """The table with its sub-tables, which keep their place in the text."""
    inner: Any = data
    for key in path:
        inner = inner.get(key, {}) if isinstance(inner, Mapping) else {}
    tables = {key: held for key, held in inner.items() if isinstance(held, Mapping)} if inner else {}
    return {**tables, **value}


def _put(data: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for key in path[:-1]:
        inner = data.setdefault(key, {})
        if not isinstance(inner, dict):
            raise NotEditable(f"{key} is not a table")
        data = inner
    data[path[-1]] = value
