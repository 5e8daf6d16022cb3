"""The SQL files are read as they are meant, and every query is one that SQLite takes."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.stores.migrations import MIGRATIONS, FromTheFuture, migrate
from memory.stores.queries import QUERIES, many, parse


def test_a_query_stands_under_its_name_and_a_line_of_prose() -> None:
    assert parse("-- one: the first\nSELECT 1;\n\n-- two: and the second\nSELECT\n  2;\n") == {
        "one": "SELECT 1",
        "two": "SELECT\n  2",
    }


@pytest.mark.parametrize("text", ["-- one: x\nSELECT 1;\n-- one: y\nSELECT 2;", "-- one: x\n\n-- two: y\nSELECT 1;"])
def test_a_name_that_stands_twice_or_has_no_statement_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="named twice or is empty"):
        parse(text)


def test_a_list_becomes_as_many_places() -> None:
    assert many("facts_get", 3).endswith("IN (?,?,?)")


@pytest.fixture(scope="module")
def migrated() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    migrate(connection)
    yield connection
    connection.close()


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_every_query_fits_the_schema(migrated: sqlite3.Connection, name: str) -> None:
    statement = many(name, 2)
    names = {"id", "by", "at", "owner", "texts", "memory", "session", "used"}
    places = dict.fromkeys(names) if ":id" in statement or ":owner" in statement or ":memory" in statement else None
    if places is None and ":" not in statement:
        numbered = {int(number) for number in re.findall(r"\?(\d+)", statement)}
        migrated.execute(f"EXPLAIN {statement}", [None] * (max(numbered, default=0) or statement.count("?")))
    else:
        with pytest.raises(sqlite3.ProgrammingError, match="binding"):
            migrated.execute(f"EXPLAIN {statement}", {})


def test_migrating_twice_is_migrating_once() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    assert migrate(connection) == [*MIGRATIONS]
    assert migrate(connection) == []
    connection.close()


def test_a_step_that_fails_leaves_nothing_of_itself_or_of_the_steps_before(tmp_path: Path) -> None:
    (tmp_path / "broken.sql").write_text("CREATE TABLE half (done);\nNOT SQL")
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, (*MIGRATIONS, str(tmp_path / "broken")))
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    assert connection.execute("PRAGMA user_version").fetchone() == (0,)
    connection.close()


def test_a_database_of_a_newer_version_is_left_alone() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    with pytest.raises(FromTheFuture, match="knows 0"):
        migrate(connection, ())
    connection.close()
