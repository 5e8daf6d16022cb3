"""What a tool printed, where its runtime hands it in as JSON: the lines in it are lines again."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

MOST = 2**20
"""Characters of a result that is read as JSON: a request waits for it."""


def printed(text: str) -> str:
    """The texts of a JSON value one behind the other, where one of them has several lines; any other text as it is."""
    if not text.startswith(("{", "[")) or "\\n" not in text or len(text) > MOST:
        return text
    try:
        found = list(_texts(orjson.loads(text)))
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        return text
    return "\n".join(found) if any("\n" in each for each in found) else text


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
