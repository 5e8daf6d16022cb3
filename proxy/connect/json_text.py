"""Set values in a JSON text and leave the rest as it is: comments, order, spacing, unknown keys.

Runtimes read JSON with comments, trailing commas, single quotes and bare keys, so that the text is scanned here
by rules that know these; a text in plain JSON is read back by the standard parser to prove the change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proxy.connect.text import NotEditable, line_end

_INDENT = 2
_BARE = re.compile(r"[A-Za-z_$][\w$]*")
_SCALAR = re.compile(r"[^\s,\]}/]+")
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\r\n]*)?(?=\r?\n)")
_DEEPEST = 100


def set_values(text: str, values: Mapping[tuple[str, ...], Any]) -> str:
    """The text with each value set at its path of keys; objects on the way are made where they are missing.

    Raises:
        NotEditable: when the text is no JSON object, or a path leads through something else than objects.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = "{}\n"
    changed = text
    for path, value in values.items():
        changed = _set(changed, path, value)
    _check_rest_is_unchanged(text, changed, values)
    return changed


@dataclass(frozen=True, slots=True)
class _Member:
    key: str
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Object:
    """An object in the text: its braces, its members, and the comma behind the last one, if there is one."""

    start: int
    end: int
    members: tuple[_Member, ...]
    comma: int | None


def _set(text: str, path: tuple[str, ...], value: Any) -> str:
    found = _object_at(text, _skip_blanks(text, 1 if text.startswith("\ufeff") else 0))
    rest = text[found.end :]
    if _skip_blanks(rest, 0) != len(rest):
        raise NotEditable("there is something behind the outermost object")
    for depth, key in enumerate(path):
        member = next((member for member in reversed(found.members) if member.key == key), None)
        inner = path[depth + 1 :]
        if member is None:
            return _insert_member(text, found, key, _nested(inner, value))
        if not inner:
            written = _written(value, _indent_of(text, member.start), line_end(text))
            return text[: member.value] + written + text[member.end :]
        if text[member.value] != "{":
            raise NotEditable(f"{'.'.join(path[: depth + 1])} is not an object")
        found = _object_at(text, member.value)
    raise NotEditable("a path of keys is empty")


def _insert_member(text: str, found: _Object, key: str, value: Any) -> str:
    """The text with a new last member in an object."""
    eol = line_end(text)
    outer = _indent_of(text, found.start)
    last = found.members[-1] if found.members else None
    spread = last is None or "\n" in text[found.start : last.start]
    if last is None:
        indent = outer + " " * _INDENT
        new = f"{json.dumps(key)}: {_written(value, indent, eol)}"
        return text[: found.start + 1] + f"{eol}{indent}{new}{eol}{outer}" + text[found.start + 1 :].lstrip(" \t\r\n")
    indent = _indent_of(text, last.start) if spread else outer
    new = f"{json.dumps(key)}: {_written(value, indent, eol)}"
    comma, at = (",", last.end) if found.comma is None else ("", found.comma + 1)
    # A comment on the last member's line stays with that member.
    line = _REST_OF_LINE.match(text, at)
    end = line.end() if spread and line else at
    return text[:at] + comma + text[at:end] + (f"{eol}{indent}" if spread else " ") + new + text[end:]


def _nested(path: tuple[str, ...], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _written(value: Any, indent: str, eol: str) -> str:
    return json.dumps(value, indent=_INDENT, ensure_ascii=False).replace("\n", eol + indent)


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _object_at(text: str, at: int, depth: int = 0) -> _Object:
    """The object that begins at a place."""
    if text[at : at + 1] != "{":
        raise NotEditable("the text is not a JSON object")
    members: list[_Member] = []
    comma = None
    place = _skip_blanks(text, at + 1)
    while text[place : place + 1] != "}":
        start = place
        key, place = _key(text, place)
        place = _skip_blanks(text, place)
        if text[place : place + 1] != ":":
            raise NotEditable(f"a colon is missing behind {key!r}")
        value = _skip_blanks(text, place + 1)
        place = _value_end(text, value, depth + 1)
        members.append(_Member(key, start, value, place))
        place = _skip_blanks(text, place)
        comma = None
        if text[place : place + 1] == ",":
            comma = place
            place = _skip_blanks(text, place + 1)
        elif text[place : place + 1] != "}":
            raise NotEditable(f"a comma is missing behind {key!r}")
    return _Object(at, place + 1, tuple(members), comma)


def _value_end(text: str, at: int, depth: int) -> int:
    if depth > _DEEPEST:
        raise NotEditable("the text is nested too deeply")
    opening = text[at : at + 1]
    if opening == "{":
        return _object_at(text, at, depth).end
    if opening == "[":
        place = _skip_blanks(text, at + 1)
        while text[place : place + 1] != "]":
            place = _skip_blanks(text, _value_end(text, place, depth + 1))
            if text[place : place + 1] == ",":
                place = _skip_blanks(text, place + 1)
            elif text[place : place + 1] != "]":
                raise NotEditable("a comma is missing in a list")
        return place + 1
    if opening in ('"', "'"):
        return _string_end(text, at)
    scalar = _SCALAR.match(text, at)
    if scalar is None:
        raise NotEditable("a value is missing")
    return scalar.end()


def _key(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] in ('"', "'"):
        end = _string_end(text, at)
        quoted = text[at:end]
        try:
            key = json.loads(quoted if quoted[0] == '"' else json.dumps(quoted[1:-1]))
        except ValueError:
            raise NotEditable("a key is not a string") from None
        return str(key), end
    bare = _BARE.match(text, at)
    if bare is None:
        raise NotEditable("a key is missing")
    return bare[0], bare.end()


def _string_end(text: str, at: int) -> int:
    quote, place = text[at], at + 1
    while place < len(text):
        if text[place] == "\\":
            place += 2
        elif text[place] == quote:
            return place + 1
        elif text[place] == "\n":
            break
        else:
            place += 1
    raise NotEditable("a string is not closed")


def _skip_blanks(text: str, at: int) -> int:
    """Past white space and comments."""
    while at < len(text):
        if text[at].isspace():
            at += 1
        elif text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            if end < 0:
                raise NotEditable("a comment is not closed")
            at = end + 2
        else:
            break
    return at


def _check_rest_is_unchanged(before: str, after: str, values: Mapping[tuple[str, ...], Any]) -> None:
    """Where both texts are plain JSON, they differ in the values that were set and in nothing else."""
    try:
        expected, found = json.loads(before.lstrip("\ufeff")), json.loads(after.lstrip("\ufeff"))
    except ValueError:
        return
    for path, value in values.items():
        inner = expected
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = value
    if expected != found:
        raise NotEditable("the text could not be changed with certainty")
