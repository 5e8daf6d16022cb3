"""One writer, some readers, and what happens when the disk or another process is in the way."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from memory.ports import StoreError
from memory.stores import write_jobs, writer
from memory.stores.database import Database, Watch
from memory.stores.errors import StoreFault, StoreFaultKind


@pytest_asyncio.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = started(Database(tmp_path / "store" / "db", busy_seconds=0.05))
    yield opened
    await opened.close()


def started(database: Database) -> Database:
    database.start(lambda connection: None)
    return database


Write = Callable[[sqlite3.Connection], None]


def put(name: str, size: int = 1) -> Write:
    def work(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO meta (name, value) VALUES (?, zeroblob(?))", (name, size))

    return work


async def written(database: Database) -> set[str]:
    rows = await database.read(lambda connection: connection.execute("SELECT name FROM meta").fetchall())
    return {row["name"] for row in rows} - {"key", "migrated_by"}


class Gate:
    """A write that holds the writer until it is let go, so that others queue up behind it."""

    def __init__(self) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()

    def __call__(self, connection: sqlite3.Connection) -> None:
        self.entered.set()
        assert self.opened.wait(10)


def test_a_start_that_fails_leaves_no_file_open(tmp_path: Path) -> None:
    def refuses(connection: sqlite3.Connection) -> None:
        raise ValueError("not as it should be")

    file = tmp_path / "store" / "db"
    with pytest.raises(ValueError, match="not as it should be") as failed:
        Database(file).start(refuses)
    links = (each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink())
    assert [each for each in links if each.name.startswith(file.name)] == [], failed


async def test_nothing_of_a_statement_is_kept_in_a_file_elsewhere(database: Database) -> None:
    in_memory = 2
    kept = await database.write(lambda connection: connection.execute("PRAGMA temp_store").fetchone()[0])
    assert kept == in_memory


async def behind_a_gate(database: Database, *works: Write) -> list[object]:
    """The outcomes of writes that were queued together."""
    gate = Gate()
    first = asyncio.ensure_future(database.write(gate))
    await asyncio.to_thread(gate.entered.wait, 10)
    tasks = [asyncio.ensure_future(database.write(work)) for work in works]
    await asyncio.sleep(0)  # one turn of the loop: every task has queued its write
    gate.opened.set()
    await first
    outcomes: list[object] = await asyncio.gather(*tasks, return_exceptions=True)
    return outcomes


async def test_what_nobody_waits_for_comes_before_the_next_write(database: Database) -> None:
    database.later(put("late"))
    assert await written(database) == set()
    seen = await database.write(lambda connection: connection.execute("SELECT name FROM meta").fetchall())
    assert "late" in {row["name"] for row in seen}
    await database.caught_up()
    assert await written(database) == {"late"}


async def test_what_nobody_waits_for_outlives_a_write_that_fails(database: Database) -> None:
    def fails(connection: sqlite3.Connection) -> None:
        raise KeyError

    database.later(put("first"))
    database.later(fails)
    database.later(put("last"))
    with pytest.raises(KeyError):
        await database.write(fails)
    assert await written(database) == set()
    outcomes = await behind_a_gate(database, put("a"), fails, put("b"))
    assert isinstance(outcomes[1], KeyError)
    assert await written(database) == {"first", "last", "a", "b"}


async def test_what_nobody_waits_for_is_written_before_the_file_is_let_go(tmp_path: Path) -> None:
    database = started(Database(tmp_path / "store" / "db"))
    database.later(put("late"))
    await database.close()
    again = started(Database(tmp_path / "store" / "db"))
    assert await written(again) == {"late"}
    await again.close()


async def test_what_nobody_waits_for_is_written_in_the_end(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.stores.database.LATER_SECONDS", 0.0)
    done = threading.Event()

    def late(connection: sqlite3.Connection) -> None:
        put("late")(connection)
        done.set()

    database.later(late)
    await asyncio.to_thread(done.wait, 10)
    await database.write(lambda connection: None)
    assert await written(database) == {"late"}


async def test_an_empty_table_is_known_until_something_comes(tmp_path: Path) -> None:
    watch = Watch(("facts",), lambda ids: None, counted=("tombstones",))
    database = started(Database(tmp_path / "store" / "db", watch=watch))
    assert await database.read(lambda connection: database.empty("tombstones", connection))
    await database.write(lambda connection: connection.execute("INSERT INTO tombstones VALUES (x'01', '')"))
    assert not await database.read(lambda connection: database.empty("tombstones", connection))
    await database.close()


async def test_a_write_is_answered_with_its_result_and_can_be_read_then(database: Database) -> None:
    assert await database.write(lambda connection: connection.execute("SELECT 7").fetchone()[0]) == 7
    await database.write(put("a"))
    assert await written(database) == {"a"}


async def test_no_cursor_of_the_writer_is_let_go_in_another_thread(database: Database) -> None:
    freed: list[int] = []

    class Watched(sqlite3.Cursor):
        def __del__(self) -> None:
            freed.append(threading.get_ident())

    def work(connection: sqlite3.Connection) -> object:
        cursor = connection.cursor(Watched)
        return cursor.executemany("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", [("a", 1)])

    writing = await database.write(lambda connection: threading.get_ident())
    alone = await database.write(work)
    together = await asyncio.gather(database.write(work), database.write(work))
    assert [alone, *together] == [None, None, None] and freed == [writing, writing, writing]


async def test_writes_that_wait_together_share_a_transaction(database: Database) -> None:
    seen: list[int] = []

    def nosy(connection: sqlite3.Connection) -> None:
        seen.append(connection.total_changes)
        put(f"n{len(seen)}")(connection)
        # What another connection sees: nothing before the COMMIT of the whole group.
        other = sqlite3.connect(database.path)
        seen.append(other.execute("SELECT count(*) FROM meta WHERE name LIKE 'n%'").fetchone()[0])
        other.close()

    await behind_a_gate(database, nosy, nosy, nosy)
    assert seen[1::2] == [0, 0, 0]
    assert len(await written(database)) == 3


async def test_a_write_that_fails_leaves_its_neighbours_alone(database: Database) -> None:
    def broken(connection: sqlite3.Connection) -> None:
        put("half")(connection)
        connection.execute("NOT SQL")

    def wrong(connection: sqlite3.Connection) -> None:
        put("other half")(connection)
        raise KeyError("own error")

    outcomes = await behind_a_gate(database, put("a"), broken, put("b"), wrong, put("c"))
    assert [type(outcome) for outcome in outcomes] == [type(None), StoreFault, type(None), KeyError, type(None)]
    assert await written(database) == {"a", "b", "c"}


async def test_a_full_disk_fails_what_does_not_fit_and_nothing_else(database: Database) -> None:
    def cap(connection: sqlite3.Connection) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 8}")

    await database.write(cap)
    outcomes = await behind_a_gate(database, put("small"), put("huge", 1 << 20), put("small too"))
    assert outcomes[0] is None
    assert outcomes[2] is None
    assert isinstance(outcomes[1], StoreFault)
    assert outcomes[1].fault is StoreFaultKind.FULL
    assert outcomes[1].passing
    assert "full" in str(outcomes[1])
    assert isinstance(outcomes[1].__cause__, sqlite3.Error)
    assert await written(database) == {"small", "small too"}


async def test_the_writer_goes_on_when_there_is_room_again(database: Database) -> None:
    await database.write(lambda connection: connection.execute("PRAGMA max_page_count = 1"))
    with pytest.raises(StoreError, match="full"):
        await database.write(put("huge", 1 << 20))
    await database.write(lambda connection: connection.execute("PRAGMA max_page_count = 1000000"))
    await database.write(put("huge", 1 << 20))
    assert await written(database) == {"huge"}


async def test_a_lock_of_another_process_fails_the_write_until_it_is_gone(database: Database) -> None:
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked") as caught:
        await database.write(put("a"))
    assert isinstance(caught.value, StoreFault)
    assert caught.value.fault is StoreFaultKind.LOCKED
    assert await written(database) == set()
    other.execute("ROLLBACK")
    other.close()
    await database.write(put("a"))
    assert await written(database) == {"a"}


async def test_all_that_wait_for_a_lock_are_told_at_once(database: Database) -> None:
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    tried: list[str] = []
    connect = database._writer._connection
    assert connect is not None
    connect.set_trace_callback(tried.append)
    outcomes = await asyncio.gather(*(database.write(put(f"r{n}")) for n in range(300)), return_exceptions=True)
    assert all(isinstance(each, StoreFault) and each.fault is StoreFaultKind.LOCKED for each in outcomes)
    assert len(tried) < 10, "the lock is waited for once for many of them, and not once for each"
    other.execute("ROLLBACK")
    other.close()
    await database.write(put("a"))
    assert await written(database) == {"a"}


async def test_where_very_many_wait_further_writes_are_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_jobs, "MOST_WAITING", 5)
    gate = Gate()
    first = asyncio.ensure_future(database.write(gate))
    await asyncio.to_thread(gate.entered.wait, 10)
    waiting = [asyncio.ensure_future(database.write(put(f"r{n}"))) for n in range(5)]
    await asyncio.sleep(0)
    with pytest.raises(StoreFault, match="too slow") as caught:
        await database.write(put("more"))
    assert caught.value.passing
    gate.opened.set()
    await asyncio.gather(first, *waiting)
    assert await written(database) == {f"r{n}" for n in range(5)}


async def test_a_log_that_could_not_be_cut_off_for_a_slow_disk_is_cut_off_when_it_is_idle(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_jobs, "HANGS_SECONDS", 0.0)
    monkeypatch.setattr(writer, "IDLE_SECONDS", 0.01)
    gate = Gate()
    first = asyncio.ensure_future(database.write(gate))
    await asyncio.to_thread(gate.entered.wait, 10)
    with pytest.raises(StoreFault, match="too slow"):
        await database.scrub()
    cut_off, scrub = threading.Event(), database._writer._scrub

    def scrubbing(connection: sqlite3.Connection) -> bool:
        done = scrub(connection)
        cut_off.set()
        return done

    monkeypatch.setattr(database._writer, "_scrub", scrubbing)
    gate.opened.set()
    await first
    assert await asyncio.to_thread(cut_off.wait, 10)
    assert not await asyncio.to_thread(Path(f"{database.path}-wal").read_bytes)


async def test_behind_a_write_that_hangs_further_ones_are_refused(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_jobs, "HANGS_SECONDS", 0.0)
    gate = Gate()
    first = asyncio.ensure_future(database.write(gate))
    await asyncio.to_thread(gate.entered.wait, 10)
    with pytest.raises(StoreFault, match="too slow"):
        await database.write(put("more"))
    monkeypatch.undo()
    gate.opened.set()
    await first
    await database.write(put("a"))
    assert await written(database) == {"a"}


async def test_a_log_that_was_begun_anew_grows_no_further(database: Database) -> None:
    log = database.path.with_name(f"{database.path.name}-wal")
    await database.write(put("large", 1 << 21))
    before = log.stat().st_size
    await database._writer.do(lambda _: database._writer._begin_log_anew(), transaction=False)
    await database.write(put("next", 1 << 20))
    assert log.stat().st_size == before
    assert await written(database) == {"large", "next"}


async def test_a_connection_that_broke_is_opened_again(database: Database) -> None:
    with pytest.raises(StoreFault):
        await database.write(lambda connection: connection.close())
    await database.write(put("a"))
    assert await written(database) == {"a"}


async def test_a_write_is_done_even_when_nobody_waits_for_it_any_more(database: Database) -> None:
    gate = Gate()
    first = asyncio.ensure_future(database.write(gate))
    await asyncio.to_thread(gate.entered.wait, 10)
    second = asyncio.ensure_future(database.write(put("a")))
    await asyncio.sleep(0)
    second.cancel()
    gate.opened.set()
    await first
    await database.write(lambda connection: None)
    assert await written(database) == {"a"}


async def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(StoreFault) as caught:
        await database.read(put("a"))
    assert caught.value.fault is StoreFaultKind.DENIED


async def test_a_file_that_is_gone_is_read_on_by_every_reader(database: Database) -> None:
    await database.write(put("a"))
    for file in database.path.parent.iterdir():
        file.unlink()
    database.path.write_bytes(b"")  # nor is another one in its place read
    together = threading.Barrier(3, timeout=10)

    def work(connection: sqlite3.Connection) -> int:
        together.wait()
        return int(connection.execute("SELECT count(*) FROM meta WHERE name = 'a'").fetchone()[0])

    assert await asyncio.gather(*(database.read(work) for _ in range(3))) == [1, 1, 1]
    await database.write(put("b"))
    names = await database.look(lambda connection: connection.execute("SELECT name FROM meta").fetchall())
    assert {"a", "b"} <= {row["name"] for row in names}


async def test_closing_finishes_what_is_queued_and_may_be_done_twice(tmp_path: Path) -> None:
    database = started(Database(tmp_path / "store" / "db"))
    waiting = [asyncio.ensure_future(database.write(put(f"n{n}"))) for n in range(100)]
    await asyncio.sleep(0)
    await database.close()
    await database.close()
    await asyncio.gather(*waiting)
    assert [path.name for path in database.path.parent.iterdir()] == ["db"]
    with pytest.raises(StoreError, match="closed"):
        await database.write(put("late"))
    with pytest.raises(StoreError, match="closed"):
        await database.read(lambda connection: None)
    again = started(Database(tmp_path / "store" / "db"))
    assert len(await written(again)) == 100
    await again.close()


async def test_the_files_are_private_to_their_owner(database: Database) -> None:
    await database.write(put("a"))
    folder = database.path.parent
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()} == {
        "db": 0o600,
        "db-wal": 0o600,
        "db-shm": 0o600,
    }


def test_a_file_that_is_no_database_is_told_by_name(tmp_path: Path) -> None:
    (tmp_path / "db").write_bytes(b"what a person put there by mistake " * 100)
    with pytest.raises(StoreFault, match="no SQLite database") as caught:
        Database(tmp_path / "db")
    assert caught.value.fault is StoreFaultKind.CORRUPT
    assert (tmp_path / "db").read_bytes().startswith(b"what a person")


async def test_a_damaged_file_is_told_by_name(tmp_path: Path) -> None:
    database = started(Database(tmp_path / "db"))
    for n in range(50):
        await database.write(put(f"n{n}", 5000))
    await database.close()
    data = bytearray((tmp_path / "db").read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    (tmp_path / "db").write_bytes(data)
    with pytest.raises(StoreFault, match="damaged") as caught:
        Database(tmp_path / "db")
    assert caught.value.fault is StoreFaultKind.CORRUPT


def test_a_file_of_a_newer_version_is_not_touched(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "db")
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(StoreFault, match="newer version"):
        Database(tmp_path / "db")
