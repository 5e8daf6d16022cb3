"""What a client has wrapped into one line of JSON, by its own lines: Cline does so with what its tools printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson

LONGEST: Final = 400_000
"""Characters of a text that is looked into."""


def lines_of(text: str) -> str:
    """A text as lines: where it is JSON that wraps a text of several lines, as some clients wrap what a tool printed,
    those lines."""
    if len(text) > LONGEST or not text.startswith(("{", "[")) or "\\n" not in text or text.count("\n") > 1:
        return text
    try:
        told = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    wrapped = "\n".join(_long_strings(told))
    return wrapped if 2 * len(wrapped) > len(text) else text


def _long_strings(told: Any) -> Iterator[str]:
    open_ = [told]
    while open_:
        each = open_.pop()
        if isinstance(each, str):
            if "\n" in each:
                yield each
        elif isinstance(each, dict | list):
            open_.extend(reversed(tuple(each.values()) if isinstance(each, dict) else each))
