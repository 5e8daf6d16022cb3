"""What the parts of the journal ask of a connection, whichever engine answers.

SQLite's own connections, cursors and rows are such as they are: nothing stands between them and the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

Parameters = Sequence[Any] | Mapping[str, Any]

T = TypeVar("T")


class Row(Protocol):
    """A row: its values in their order, and each by its name."""

    def __getitem__(self, key: Any, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]: ...

    def __len__(self) -> int: ...

    def keys(self) -> Any:
        """The names of its columns."""


class Cursor(Protocol):
    """What came of a statement."""

    @property
    def description(self) -> Sequence[Any] | None:
        """Its columns, the name of each first; None where it has none."""

    @property
    def rowcount(self) -> int:
        """How many rows it wrote."""

    @property
    def lastrowid(self) -> int | None:
        """The number of the row that it inserted last."""

    def fetchone(self) -> Any:
        """The next row, None where there is none."""

    def fetchall(self) -> list[Any]:
        """All rows that are left."""

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """Runs statements as they stand in the .sql files."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Cursor:
        """Run a statement."""

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Cursor:
        """Run a statement once for each of these."""


Work = Callable[[Connection], T]
