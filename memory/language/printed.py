"""What a tool printed, where its runtime hands it in as JSON: the lines in it are lines again."""

from __future__ import annotations

from typing import Final

import orjson

MAX_CHARS: Final = 2**16
"""Of a result that is read as JSON: a request waits for it."""
MAX_DEPTH: Final = 20
"""Values inside one another that are looked into."""


def printed(text: str) -> str:
    """The texts of a JSON value one behind the other, where one of them has several lines; any other text as it is."""
    if not text.startswith(("{", "[")) or "\\n" not in text or len(text) > MAX_CHARS:
        return text
    try:
        found = _texts(orjson.loads(text))
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return text
    return "\n".join(found) if any("\n" in each for each in found) else text


def _texts(value: object) -> list[str]:
    found: list[str] = []
    waiting = [(value, 0)]
    while waiting:
        inner, depth = waiting.pop()
        if isinstance(inner, str):
            found.append(inner)
        elif depth < MAX_DEPTH and isinstance(inner, (dict, list)):
            parts = inner.values() if isinstance(inner, dict) else inner
            waiting += [(each, depth + 1) for each in reversed([*parts])]
    return found
