"""Set top-level values in a YAML text and leave the rest as it is. Every change is proved by the parser."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import yaml

from proxy.connect.text import NotEditable, line_end


def set_values(text: str, values: Mapping[tuple[str, ...], Any]) -> str:
    """The text with each top-level key set on a line of its own.

    Raises:
        NotEditable: when the text is no YAML mapping, or a value stands there over several lines.
    """
    expected = _mapping(text)
    eol = line_end(text)
    changed = text
    for path, value in values.items():
        if len(path) != 1:
            raise NotEditable("only top-level keys can be set")
        changed = _with_key(changed, path[0], value, eol)
        expected[path[0]] = value
    if _mapping(changed) != expected:
        raise NotEditable("the text could not be changed with certainty")
    return changed


def _with_key(text: str, key: str, value: Any, eol: str) -> str:
    written = f"{key}: {json.dumps(value, ensure_ascii=False)}{eol}"
    lines = text.splitlines(keepends=True)
    own = re.compile(rf"{re.escape(key)}[ \t]*:(?:\s|$)")
    for at, line in enumerate(lines):
        if own.match(line):
            lines[at] = written
            return "".join(lines)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += eol
    return "".join([*lines, written])


def _mapping(text: str) -> dict[str, Any]:
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise NotEditable(f"the text is not YAML: {' '.join(str(error).split())}") from None
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise NotEditable("the text is not a YAML mapping")
    return data
