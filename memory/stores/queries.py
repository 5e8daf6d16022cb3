"""The SQL, read from the .sql files beside this one: each query stands under a line ``-- name: what it gives``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).parent / "sql"
_HEAD = re.compile(r"^-- (\w+): \S.*$", re.MULTILINE)


def parse(text: str) -> dict[str, str]:
    """Name → statement.

    Raises:
        ValueError: when a name stands twice or a statement is missing.
    """
    heads = list(_HEAD.finditer(text))
    found: dict[str, str] = {}
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        name = head[1]
        statement = text[head.end() : following.start() if following else len(text)].strip().rstrip(";")
        if name in found or not statement:
            raise ValueError(f"query {name!r} is named twice or is empty")
        found[name] = statement
    return found


def _load() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for path in sorted((FOLDER / "queries").glob("*.sql")):
        for name, statement in parse(path.read_text(encoding="utf-8")).items():
            if name in found:
                raise ValueError(f"query {name!r} stands in two files")
            found[name] = statement
    return found


QUERIES: Mapping[str, str] = _load()


@lru_cache(maxsize=256)
def many(name: str, count: int) -> str:
    """A query in which ``(?*)`` stands for a list of ``count`` values."""
    return QUERIES[name].replace("(?*)", f"({','.join('?' * count)})")
