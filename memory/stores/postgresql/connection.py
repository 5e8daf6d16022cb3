"""psycopg's connection, in the shape that the parts of the journal ask for.

Statements of a ``pipelined`` connection are sent at once and their results are waited for when somebody reads one: what
was sent until then is answered on one way there and back. What a statement reports may therefore be raised by one that
comes after it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any, cast

import psycopg
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.types.string import StrDumperUnknown

from memory.stores.connection import Parameters
from memory.stores.errors import ResultsLost, StoreFaultKind
from memory.stores.postgresql.dialect import translated
from memory.stores.postgresql.row_security import ALL, NAME_OWNERS, needs_owners


class _Text(StrDumperUnknown):
    def dump(self, obj: str) -> Buffer | None:
        # PostgreSQL's texts hold no NUL.
        return super().dump(obj.replace("\0", "\ufffd") if "\0" in obj else obj)


class _Number(Dumper):
    oid = 0

    def dump(self, obj: Any) -> Buffer | None:
        return repr(obj).encode()

    def quote(self, obj: Any) -> Buffer:
        # In statements that psycopg makes itself a number is a number.
        return repr(obj).encode()


class _Flag(Dumper):
    oid = 0

    def dump(self, obj: Any) -> Buffer | None:
        # Taken by a column of yes or no and by a number's.
        return b"1" if obj else b"0"


class _Numeric(Loader):
    """A sum of whole numbers."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data).decode()
        return float(text) if "." in text or "N" in text else int(text)


def adapt(connection: psycopg.Connection[Any]) -> None:
    """Have a connection send and read values so."""
    adapters = connection.adapters
    adapters.register_dumper(str, _Text)
    adapters.register_dumper(int, _Number)
    adapters.register_dumper(float, _Number)
    adapters.register_dumper(bool, _Flag)
    adapters.register_loader("numeric", _Numeric)


_DEFAULTS: dict[str, Any] = {
    "application_name": "palimpsest",
    "connect_timeout": 3,
    # A server that is gone without a word is noticed within seconds.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""What a connection is made with where the URL says nothing else."""


class PostgresRow(tuple[Any, ...]):
    """A row: its values in their order, and each by its name. Its class has the ``places`` of the names."""

    __slots__ = ()
    places: dict[str, int] = {}

    def __getitem__(self, key: Any) -> Any:
        return tuple.__getitem__(self, self.places[key] if isinstance(key, str) else key)

    def keys(self) -> Iterable[str]:
        """The names of its columns."""
        return self.places.keys()


class PostgresCursor:
    """What came of a statement. Its results can be read after its transaction, too.

    Raises:
        ResultsLost: when it is asked for results that were never received.
    """

    __slots__ = ("_connection", "_number", "_sent")

    def __init__(self, sent: psycopg.RawCursor[Any], connection: PostgresConnection, number: int) -> None:
        self._sent = sent
        self._connection = connection
        self._number = number

    @property
    def _cursor(self) -> psycopg.RawCursor[Any]:
        self._connection.receive(self._number)
        if self._sent.pgresult is None and self._sent.statusmessage is None:
            raise ResultsLost("the results of a statement were lost with the connection", StoreFaultKind.FAILING)
        return self._sent

    @property
    def description(self) -> Sequence[Any] | None:
        """Its columns, the name of each first; None where it has none."""
        return self._cursor.description

    @property
    def status(self) -> str:
        """What the server says that it has done: ``COMMIT``, ``INSERT 0 1``."""
        return self._cursor.statusmessage or ""

    @property
    def rowcount(self) -> int:
        """How many rows it wrote."""
        return self._cursor.rowcount

    @property
    def lastrowid(self) -> int | None:
        """The number of the row that it inserted last, which the statement returns; None where it inserted none."""
        rows = self.fetchall()
        return int(rows[-1]["number"]) if rows else None

    def fetchone(self) -> Any:
        """The next row, None where there is none."""
        cursor = self._cursor
        return cursor.fetchone() if cursor.description else None

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        cursor = self._cursor
        return cursor.fetchall() if cursor.description else []

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fetchall())


class PostgresConnection:
    """A connection of its own for one thread. Transactions are begun and ended by their statements.

    Whose rows are seen is named with each statement of one that ``reads``. A transaction of any other names everybody
    where it begins.
    """

    def __init__(self, url: str, *, reads: bool = False, pipelined: bool = False) -> None:
        self._connection = psycopg.connect(
            autocommit=True,
            cursor_factory=psycopg.RawCursor,
            row_factory=_rows,
            **_DEFAULTS | conninfo_to_dict(url),
        )
        adapt(self._connection)
        self._begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if reads else "BEGIN"
        self._reads = reads
        self._owners = ALL
        self._named: str | None = None  # to whom the statements that are not answered yet are bound
        self._sent = self._received = 0
        self.pooled = self._is_behind_pooler()
        if self.pooled:
            # The next transaction may be another server process's, which has not prepared the statement.
            self._connection.prepare_threshold = None
        self._mode = self._connection.pipeline() if pipelined else None
        self._pipeline = self._mode.__enter__() if self._mode is not None else None

    def execute(self, sql: str, parameters: Parameters = (), /) -> PostgresCursor:
        """Run a statement of the stores."""
        statement = translated(self._begin if sql == "BEGIN" else sql)
        if not (self._reads and needs_owners(statement.text)):
            cursor = self._next_cursor()
            cursor.execute(statement.text, statement.values(parameters))
            return PostgresCursor(cursor, self, self._sent)
        # Without a BEGIN all that is sent until somebody waits is one transaction; it goes on one way there and back.
        with nullcontext() if self._pipeline is not None else self._connection.pipeline():
            if self._pipeline is None or self._named != self._owners:
                self._next_cursor().execute(NAME_OWNERS, (self._owners,))
                self._named = self._owners
            cursor = self._next_cursor()
            cursor.execute(statement.text, statement.values(parameters))
        return PostgresCursor(cursor, self, self._sent)

    def cut(self) -> None:
        """Break the connection, whatever is waited for in whichever thread: there the server seems to have gone."""
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(self._connection.fileno())) as way:
            way.shutdown(socket.SHUT_RDWR)

    @contextmanager
    def seeing(self, owners: str) -> Iterator[None]:
        """Until the end of the block these owners' rows are seen."""
        before, self._owners = self._owners, owners
        try:
            yield
        finally:
            self._owners = before

    def executemany(self, sql: str, parameters: Iterable[Parameters], /) -> PostgresCursor:
        """Run a statement once for each of these, all of them on one way there and back."""
        statement = translated(sql)
        cursor = self._next_cursor()
        cursor.executemany(statement.text, [statement.values(each) for each in parameters])
        return PostgresCursor(cursor, self, self._sent)

    def run(self, sql: str) -> PostgresCursor:
        """Run a statement of PostgreSQL's own, without parameters; several at once where it is not pipelined."""
        cursor = self._next_cursor()
        cursor.execute(sql)
        return PostgresCursor(cursor, self, self._sent)

    def receive(self, number: int) -> None:
        """Wait for the results of so many statements, if they are not here yet."""
        if self._received < number:
            self.sync()

    def sync(self) -> None:
        """Wait for the results of all that was sent.

        Raises:
            psycopg.Error: what any of it reported.
        """
        if self._pipeline is not None and self._received < self._sent:
            self._received, self._named = self._sent, None
            self._pipeline.sync()

    def settle(self) -> None:
        """After an error: let go of what is still under way, so that a transaction can be rolled back.

        The server skips what stands behind a failed statement, also the preparing of others, which psycopg takes for
        prepared: it forgets all of them, and tells the server so behind the next statement.
        """
        self._received, self._named = self._sent, None
        if self._pipeline is not None:
            for _ in range(2):  # what is reported of one statement may hold up the answer to others
                with suppress(psycopg.Error):
                    self._pipeline.sync()
            self._connection._prepared.clear()

    def _next_cursor(self) -> psycopg.RawCursor[Any]:
        self._sent += 1
        if self._pipeline is None:
            self._received = self._sent
        return cast(psycopg.RawCursor[Any], self._connection.cursor())

    def _is_behind_pooler(self) -> bool:
        """Whether a pooler answers, which names a process of its own."""
        (process,) = self._connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        return bool(process != self._connection.info.backend_pid)

    def copy_in(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Write many rows by a COPY."""
        with self._connection.cursor() as cursor, cursor.copy(sql) as copy:
            for row in rows:
                copy.write_row(row)

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[Any]:
        """The rows of a query, some at a time, within a transaction; ``%s`` stands for a parameter."""
        with self._connection.cursor("rows") as cursor:
            cursor.itersize = 1000
            cursor.execute(sql, parameters or None)
            yield from cursor

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is under way."""
        return self._connection.info.transaction_status not in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN)

    @property
    def broken(self) -> bool:
        """Whether the way to the server is gone."""
        return self._connection.broken or self._connection.closed

    def fileno(self) -> int:
        """To wait for what the server sends unasked."""
        return self._connection.fileno()

    def notified(self) -> bool:
        """Whether the server has told of something that is listened to, since this was asked last; does not wait."""
        return any([*self._connection.notifies(timeout=0)])

    def ask(self) -> None:
        """Send a question of which :meth:`has_answered` tells; of one that is not pipelined."""
        self._connection.pgconn.send_query(b"SELECT 1")
        self._connection.pgconn.flush()

    def has_answered(self) -> bool:
        """Whether it was answered; does not wait.

        Raises:
            psycopg.Error: what was reported in place of an answer.
        """
        asked = self._connection.pgconn
        asked.consume_input()
        while not asked.is_busy():
            result = asked.get_result()
            if result is None:
                return True
            if result.status != ExecStatus.TUPLES_OK:
                raise psycopg.OperationalError("the server did not answer")
        return False

    def close(self) -> None:
        """Let go of it."""
        if self._mode is not None:
            with suppress(psycopg.Error):
                self._mode.__exit__(None, None, None)
            self._mode = self._pipeline = None
        self._connection.close()


def _rows(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], Any]:
    names = tuple(column.name for column in cursor.description or ())
    return _row_class(names) if names else tuple


_CLASSES: dict[tuple[str, ...], type[PostgresRow]] = {}


def _row_class(names: tuple[str, ...]) -> type[PostgresRow]:
    found = _CLASSES.get(names)
    if found is None:
        # Where a name stands twice the first one is meant.
        places = {name: place for place, name in reversed([*enumerate(names)])}
        found = _CLASSES[names] = type("Row", (PostgresRow,), {"__slots__": (), "places": places})
    return found
