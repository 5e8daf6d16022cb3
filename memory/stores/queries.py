"""The SQL, read from the .sql files beside this one and those that features bring: each query stands under a line
``-- name: what it gives``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from memory.stores.connection import Connection, Row

FOLDER = Path(__file__).parent / "sql"
FEATURES = Path(__file__).parents[1] / "features"
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


def load(paths: Iterable[Path]) -> dict[str, str]:
    """All queries of some files by their names.

    Raises:
        ValueError: when a name stands twice or a statement is missing.
    """
    found: dict[str, str] = {}
    for path in paths:
        for name, statement in parse(path.read_text(encoding="utf-8")).items():
            if name in found:
                raise ValueError(f"query {name!r} stands in two files")
            found[name] = statement
    return found


QUERIES: Mapping[str, str] = load(
    (*sorted((FOLDER / "queries").glob("*.sql")), *sorted(FEATURES.glob("*/queries.sql")))
)

_NAMES: Mapping[str, str] = {statement: name for name, statement in QUERIES.items()}


class Expanded(str):
    """A query written for a number of values or rows, which knows what it was made of. There are as many as there are
    numbers, so nothing but who uses one keeps it."""

    origin: tuple[str, int]


def origin_of(statement: str) -> tuple[str, int]:
    """Of which query a statement was made, and for how many values or rows: what another engine finds its own by."""
    if isinstance(statement, Expanded):
        return statement.origin
    return _NAMES.get(statement, ""), 1


_ROW = re.compile(r"(?<=VALUES )\([?, ]+\)")

FEW = 8
SEVERAL = 128
"""Rows that one statement writes at most."""


def write_several(connection: Connection, name: str, rows: Sequence[Sequence[object]]) -> None:
    """Run a query with ``VALUES (?, …)`` for each of some rows, with a statement for several of them: at the end of
    each the thread lets go of Python's lock, and may have to wait for it."""
    for piece in _row_batches(rows):
        connection.execute(_several(name, len(piece)), [value for row in piece for value in row])


def write_returning(connection: Connection, name: str, rows: Sequence[Sequence[object]]) -> list[Row]:
    """:func:`write_several` of a query that returns something: all of that."""
    given: list[Row] = []
    for piece in _row_batches(rows):
        given += connection.execute(_several(name, len(piece)), [value for row in piece for value in row])
    return given


def insert_several(connection: Connection, name: str, rows: Sequence[Sequence[object]]) -> int:
    """:func:`write_several`; the row that was inserted last on this connection."""
    last = 0
    for piece in _row_batches(rows):
        last = connection.execute(_several(name, len(piece)), [value for row in piece for value in row]).lastrowid or 0
    return last


def _row_batches(rows: Sequence[Sequence[object]]) -> Iterator[Sequence[Sequence[object]]]:
    """Few rows at once, many in pieces of a few lengths, whose plans are kept: of all lengths they are not."""
    start = 0
    while (left := len(rows) - start) > 0:
        size = left if left <= FEW else min(1 << (left.bit_length() - 1), SEVERAL)
        yield rows[start : start + size]
        start += size


@lru_cache(maxsize=256)
def _several(name: str, count: int) -> str:
    return _noted(name, count)


@lru_cache(maxsize=256)
def many(name: str, count: int) -> str:
    """A query in which ``(?*)`` stands for a list of ``count`` values."""
    return _noted(name, count)


def expanded(statement: str, count: int) -> str:
    """A statement for so many values in its list, or, where it has none, for so many rows."""
    if "(?*)" in statement:
        return statement.replace("(?*)", f"({','.join('?' * count)})")
    return statement if count == 1 else _ROW.sub(lambda row: ", ".join([row[0]] * count), statement, count=1)


def _noted(name: str, count: int) -> str:
    statement = Expanded(expanded(QUERIES[name], count))
    statement.origin = name, count
    return statement


def holding(text: str) -> str:
    """A pattern for LIKE with the escape character ``\\``."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
