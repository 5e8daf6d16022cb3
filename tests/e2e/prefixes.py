"""What two successive requests of a session share, as they were forwarded and without what memory added to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

_ADDED = re.compile(r"(?:\s*<(memory-page|recalled-memory|earlier-research)\b.*?</\1>)+", re.DOTALL)


def shared(before: Sequence[Any], after: Sequence[Any]) -> int:
    """How many messages two requests begin with that are the same."""
    return next(
        (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )


def without_memory(value: Any) -> Any:
    """Messages as the client sent them: without what memory added, be it behind a text or as one of its own."""
    if isinstance(value, str):
        return _ADDED.sub("", value)
    if isinstance(value, dict):
        return {key: without_memory(inner) for key, inner in value.items()}
    if not isinstance(value, list):
        return value
    plain = [(without_memory(inner), inner) for inner in value]
    left = [stripped for stripped, inner in plain if stripped == inner or not _emptied(stripped)]
    # A text that memory put beside a lone one made a list of it.
    return left[0]["text"] if len(left) == 1 and left != value and set(left[0]) == {"type", "text"} else left


def _emptied(part: Any) -> bool:
    return isinstance(part, dict) and part.get("text") == ""
