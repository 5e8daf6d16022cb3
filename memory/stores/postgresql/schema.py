"""How a PostgreSQL database comes to its present shape: by the one series of migrations, and by what only it has.

Which steps were taken stands in the database by their names. Several processes may start at once: one takes the steps,
the others wait for it and find them taken.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

import psycopg

from memory.stores.connection import Parameters
from memory.stores.migrations import MIGRATIONS, FromTheFuture, take
from memory.stores.postgresql.connection import PostgresConnection, PostgresCursor
from memory.stores.postgresql.dialect import of_schema
from memory.stores.postgresql.row_security import SEE_ALL
from memory.stores.queries import FOLDER, QUERIES
from memory.version import release

_OWN = FOLDER / "postgresql"
_FUNCTIONS = (_OWN / "functions.sql").read_text(encoding="utf-8")

MOVING = "moving"
"""The table in which stands how far a move into the database has come; there is none otherwise."""
HALF_MOVED = (
    "a move into {where} has not ended: let the same `palimpsest move --to` go on, or drop the database, "
    "which what is forgotten meanwhile is not taken out of"
)

Step = Callable[["_SchemaConnection"], object]


def changes(connection: _SchemaConnection) -> None:
    """Who writes, and what has changed, for the processes that share the database."""
    connection.run((_OWN / "changes.sql").read_text(encoding="utf-8"))


def server_machine(connection: _SchemaConnection) -> None:
    """On which machine the server runs that has the database, since names of machines may be equal."""
    connection.run("ALTER TABLE server ADD COLUMN machine TEXT NOT NULL DEFAULT ''")


def replicas(connection: _SchemaConnection) -> None:
    """Several servers at a time: their own indexes, and what they must hear of each other."""
    connection.run((_OWN / "replicas.sql").read_text(encoding="utf-8"))


def turns(connection: _SchemaConnection) -> None:
    """Which transactions of a process were committed, and word of changes."""
    connection.run((_OWN / "turns.sql").read_text(encoding="utf-8"))


def row_security(connection: _SchemaConnection) -> None:
    """Who sees which rows, whatever a query leaves out."""
    connection.run((_OWN / "row_security.sql").read_text(encoding="utf-8"))


def row_security_people(connection: _SchemaConnection) -> None:
    """The same for a person's sessions and messages, and what belongs to those."""
    connection.run((_OWN / "row_security_people.sql").read_text(encoding="utf-8"))


def row_security_submitted(connection: _SchemaConnection) -> None:
    """The same for candidates that others were asked to approve."""
    connection.run((_OWN / "row_security_submitted.sql").read_text(encoding="utf-8"))


def row_security_research(connection: _SchemaConnection) -> None:
    """The same for research that is offered in other projects."""
    connection.run((_OWN / "row_security_research.sql").read_text(encoding="utf-8"))


def _steps() -> dict[str, Step]:
    functions = f"functions {hashlib.blake2b(_FUNCTIONS.encode(), digest_size=8).hexdigest()}"
    return {
        **{step: partial(take, step) for step in MIGRATIONS},
        functions: lambda connection: connection.run(_FUNCTIONS),
        "changes": changes,
        "server_machine": server_machine,
        "replicas": replicas,
        "turns": turns,
        "row_security": row_security,
        "row_security_people": row_security_people,
        "row_security_submitted": row_security_submitted,
        "row_security_research": row_security_research,
    }


def migrate(connection: PostgresConnection) -> list[str]:
    """Take the steps that are missing, all in one transaction; the names of those taken.

    Raises:
        FromTheFuture: when the database has had a step that is not known.
        psycopg.Error: what PostgreSQL reported; nothing was done then.
    """
    steps = _steps()
    if not _missing(steps, connection):
        return []
    _make_list(connection)
    connection.run(f"BEGIN; {SEE_ALL}; LOCK TABLE migrations IN EXCLUSIVE MODE")
    try:
        # Another process may have been first while this one waited.
        missing = _missing(steps, connection)
        for name in missing:
            steps[name](_SchemaConnection(connection))
            connection.execute("INSERT INTO migrations (step) VALUES (?)", (name,))
        if missing:
            connection.execute(QUERIES["meta_set"], ("migrated_by", release().encode()))
        connection.run("COMMIT")
    except BaseException:
        if connection.in_transaction and not connection.broken:
            connection.run("ROLLBACK")
        raise
    return missing


def half_moved(connection: PostgresConnection) -> bool:
    """Whether a journal was moved into it in part."""
    return bool(connection.execute(f"SELECT to_regclass('{MOVING}') IS NOT NULL").fetchone()[0])


def _missing(steps: Iterable[str], connection: PostgresConnection) -> list[str]:
    (there,) = connection.execute("SELECT to_regclass('migrations') IS NOT NULL").fetchone()
    taken = {row["step"] for row in connection.execute("SELECT step FROM migrations")} if there else set()
    unknown = sorted(step for step in taken.difference(steps) if not step.startswith("functions "))
    if unknown:
        raise FromTheFuture(f"it has had migrations that this version does not know: {', '.join(unknown)}")
    return [step for step in steps if step not in taken]


def _make_list(connection: PostgresConnection) -> None:
    # Another process makes it at this moment.
    with suppress(psycopg.errors.UniqueViolation, psycopg.errors.DuplicateObject, psycopg.errors.DuplicateTable):
        connection.run(
            "CREATE TABLE IF NOT EXISTS migrations (step TEXT PRIMARY KEY, at TIMESTAMPTZ NOT NULL DEFAULT now())"
        )


class _SchemaConnection:
    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection
        self.run = connection.run

    def execute(self, sql: str, parameters: Parameters = (), /) -> PostgresCursor:
        """Run a statement of a migration."""
        return self._connection.execute(sql, parameters) if parameters else self.run(of_schema(sql))

    def executemany(self, sql: str, parameters: Iterable[Parameters], /) -> PostgresCursor:
        """Run a statement of a migration once for each of these."""
        return self._connection.executemany(sql, parameters)
