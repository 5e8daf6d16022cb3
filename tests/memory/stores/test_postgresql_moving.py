"""A move of a journal that is interrupted goes on where it ended, and is begun anew where that is not the same."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import orjson
import psycopg
import pytest

from memory.ports import Lesson
from memory.stores.errors import StoreFault
from memory.stores.journal import SqliteJournal
from memory.stores.postgresql import table_copying
from memory.stores.postgresql.connection import PostgresConnection
from memory.stores.postgresql.journal import PostgresJournal
from memory.stores.postgresql.lease import Lease
from memory.stores.postgresql.moving import move_in, move_out
from memory.stores.postgresql.table_copying import FileSide, Table
from tests.memory.stores.derived_facts import exchange, fact, session, user

FACTS = 20


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Progress is heard of after each row, and seven are committed together."""
    monkeypatch.setattr(table_copying, "PIECE", 7)
    monkeypatch.setattr(table_copying, "STEP", 1)
    return []


async def journal_file(folder: Path, name: str = "journal.db") -> Path:
    journal = SqliteJournal(folder / name, str)
    for number in range(3):
        await journal.commit(exchange(f"e{number}", [user(f"said {number}")], of=session(f"s{number}")))
    await journal.learn(Lesson(0, tuple(fact(f"fact {number}") for number in range(FACTS))))
    await journal.close()
    return folder / name


def rows(file: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of a file, and what it is made of."""
    with closing(sqlite3.connect(file)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}
        found["meta"] = connection.execute("SELECT name, CAST(value AS BLOB) FROM meta ORDER BY name").fetchall()
        found["sqlite_master"] = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    return found


async def killed(way: str, file: Path, url: str, after: int) -> None:
    """A move that is killed when so many steps are done."""
    command = [sys.executable, "-m", "tests.memory.stores.killed_move", way, str(file), url, str(after)]
    ended = await asyncio.to_thread(subprocess.run, command, check=False, capture_output=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()[-2000:]


def parts(folder: Path) -> list[Path]:
    return [*folder.glob("back.db.part*"), *folder.glob("back.db-*")]


def came(url: str) -> int:
    with psycopg.connect(url, options="-c palimpsest.owners=*") as connection:
        row = connection.execute("SELECT count(*) FROM facts").fetchone()
    return int(row[0]) if row else 0


async def test_a_move_that_is_killed_goes_on_there_and_back(
    url: str, tmp_path: Path, steps: list[tuple[int, int]]
) -> None:
    file = await journal_file(tmp_path)
    before, counts = rows(file), dict[str, int]()
    total = 2 * sum(len(each) for name, each in before.items() if not name.startswith("sqlite_"))
    await killed("in", file, url, FACTS - 5)
    assert 0 < came(url) < FACTS
    # Nobody opens it half full.
    with pytest.raises(StoreFault, match="has not ended"):
        PostgresJournal(url, tmp_path / "one", str)
    with pytest.raises(StoreFault, match="has not ended"):
        move_out(url, tmp_path / "back.db", counts.__setitem__)
    move_in(file, url, counts.__setitem__, lambda done, of: steps.append((done, of)))
    assert counts["facts"] == FACTS and steps[-1] == (total, total)
    assert min(filter(None, (done for done, _ in steps))) > 7
    steps.clear()
    back = tmp_path / "back.db"
    await killed("out", back, url, FACTS - 5)
    assert not back.exists() and (tmp_path / "back.db.part").exists()
    move_out(url, back, counts.__setitem__, lambda done, of: steps.append((done, of)))
    assert rows(back) == before
    assert min(filter(None, (done for done, _ in steps))) > 7 and steps[-1] == (total, total)
    assert parts(tmp_path) == []
    await PostgresJournal(url, tmp_path / "one", str).close()


async def test_a_move_that_is_killed_before_anything_has_come_keeps_servers_away(url: str, tmp_path: Path) -> None:
    file = await journal_file(tmp_path)
    await killed("in", file, url, 1)
    assert came(url) == 0
    with pytest.raises(StoreFault, match="has not ended"):
        PostgresJournal(url, tmp_path / "one", str)
    move_in(file, url, lambda table, rows: None)
    assert came(url) == FACTS


async def test_of_another_file_a_move_is_begun_anew(url: str, tmp_path: Path) -> None:
    file, counts = await journal_file(tmp_path), dict[str, int]()
    await killed("in", file, url, 90)
    journal = SqliteJournal(file, str)
    await journal.learn(Lesson(0, (fact("one more"),)))
    await journal.close()
    move_in(file, url, counts.__setitem__)
    assert counts["facts"] == came(url) == FACTS + 1
    with psycopg.connect(url) as connection, pytest.raises(psycopg.Error, match="only ever added to"):
        connection.execute("TRUNCATE audit")


async def test_of_a_database_that_was_written_into_since_a_move_is_begun_anew(url: str, tmp_path: Path) -> None:
    counts, back = dict[str, int](), tmp_path / "back.db"
    move_in(await journal_file(tmp_path), url, counts.__setitem__)
    await killed("out", back, url, 90)
    journal = PostgresJournal(url, tmp_path / "one", str)
    told = fact("one more")
    await journal.learn(Lesson(0, (told,)))
    await journal.forget([(await journal.facts_after(told.owner, "", 1))[0].id], told.recorded_at)
    await journal.close()
    move_out(url, back, counts.__setitem__)
    assert counts["facts"] == len(rows(back)["facts"]) == FACTS


async def test_what_did_not_come_over_whole_is_told(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, write = await journal_file(tmp_path), FileSide.write
    move_in(file, url, lambda table, rows: None)

    def loses(self: FileSide, table: Table, found: Iterator[object]) -> None:
        write(self, table, [*found][1:])

    monkeypatch.setattr(FileSide, "write", loses)
    with pytest.raises(StoreFault, match="did not come over whole"):
        move_out(url, tmp_path / "back.db", lambda table, rows: None)
    assert parts(tmp_path) == []


async def test_a_move_out_that_comes_while_another_has_the_database_keeps_what_has_come(
    url: str, tmp_path: Path, steps: list[tuple[int, int]]
) -> None:
    before, back = rows(file := await journal_file(tmp_path)), tmp_path / "back.db"
    move_in(file, url, lambda table, rows: None)
    await killed("out", back, url, FACTS - 5)
    other = Lease("the other's")
    with closing(PostgresConnection(url)) as connection:
        other.take(connection, 0)
        with pytest.raises(StoreFault, match="in use"):
            move_out(url, back, lambda table, rows: None)
        other.give_up(connection)
    assert (tmp_path / "back.db.part").exists()
    move_out(url, back, lambda table, rows: None, lambda done, of: steps.append((done, of)))
    assert min(filter(None, (done for done, _ in steps))) > 7
    assert rows(back) == before and parts(tmp_path) == []


async def test_rows_that_a_resumed_move_skips_are_told(url: str, tmp_path: Path) -> None:
    back = tmp_path / "back.db"
    move_in(await journal_file(tmp_path), url, lambda table, rows: None)
    await killed("out", back, url, FACTS - 5)
    with closing(sqlite3.connect(tmp_path / "back.db.part")) as connection:
        [state] = connection.execute("SELECT state FROM moving WHERE name = 'facts'").fetchone()
        count, total, [last], whole = orjson.loads(state)
        # As if the rows had stood in another order when the move began.
        skipping = orjson.dumps([count, total, [last + 1], whole]).decode()
        connection.execute("UPDATE moving SET state = ? WHERE name = 'facts'", (skipping,))
        connection.commit()
    with pytest.raises(StoreFault, match=f"facts did not come over whole: {FACTS} rows here, {FACTS - 1} there"):
        move_out(url, back, lambda table, rows: None)
    assert not back.exists() and parts(tmp_path) == []
