"""A lost answer to COMMIT: what was written is written once, and is not told to have failed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from memory.ports import Lesson
from memory.stores.connection import Connection, Cursor, Work
from memory.stores.database import Watch
from memory.stores.errors import ResultsLost, StoreFault
from memory.stores.postgresql import committing
from memory.stores.postgresql.changes import ChangeReader, Changes
from memory.stores.postgresql.connection import PostgresConnection, PostgresCursor
from memory.stores.postgresql.journal import PostgresJournal
from memory.stores.postgresql.lease import Lease, Turn
from memory.stores.postgresql.writer import PostgresWriter
from tests.memory.stores.derived_facts import exchange, fact, session, user
from tests.memory.stores.test_sessions import entry
from tests.slow_link import SlowLink


@pytest.fixture
def link(url: str) -> Iterator[SlowLink]:
    link = SlowLink(url)
    yield link
    link.close()


class Network:
    """Makes connections; the first COMMIT does not come to the server."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.cut = False

    def connect(self) -> PostgresConnection:
        return CutConnection(self._url, self)


class CutConnection(PostgresConnection):
    def __init__(self, url: str, network: Network) -> None:
        super().__init__(url, pipelined=True)
        self._network = network

    def run(self, sql: str) -> PostgresCursor:
        if sql != "COMMIT" or self._network.cut:
            return super().run(sql)
        self._network.cut = True
        self.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")


class LossyNetwork:
    """Makes connections; the first COMMIT is done, and nothing that its transaction's statements report arrives."""

    def __init__(self, link: SlowLink, *, stays_cut: bool = False) -> None:
        self._link = link
        self._stays_cut = stays_cut
        link.loses = b"COMMIT"

    def connect(self) -> PostgresConnection:
        if not self._link.loses and self._stays_cut:
            raise psycopg.OperationalError("connection refused")
        return PostgresConnection(self._link.url, pipelined=True)


class Insertion:
    """A job that could not be done twice."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.times = 0

    def __call__(self, connection: Connection) -> str:
        self.times += 1
        connection.execute("INSERT INTO meta (name, value) VALUES (?, ?)", (self.name, b"x"))
        return self.name


async def done(
    connect: Callable[[], PostgresConnection], *jobs: Work[Any], changes: ChangeReader | None = None
) -> list[Any]:
    """What came of jobs that wait together for the first transaction; the writer goes on behind them."""
    writer = PostgresWriter("it", connect, changes or ChangeReader(None), 2.0)
    tasks = [asyncio.create_task(writer.do(job)) for job in jobs]
    await asyncio.sleep(0)
    writer.start(lambda connection: None)
    async with asyncio.timeout(30):
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(StoreFault):
            await writer.do(lambda connection: None)
    await asyncio.to_thread(writer.finish)
    return outcomes


def names(url: str) -> set[str]:
    with closing(PostgresConnection(url)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM meta")} & {"one", "two", "three"}


@pytest.mark.parametrize("count", [1, 2])
async def test_what_was_committed_is_done_once_and_told_so(url: str, link: SlowLink, count: int) -> None:
    jobs = [Insertion(name) for name in ("one", "two")[:count]]
    assert await done(LossyNetwork(link).connect, *jobs) == [job.name for job in jobs]
    assert [job.times for job in jobs] == [1] * count
    assert names(url) == {job.name for job in jobs}


async def test_results_that_were_lost_are_not_taken_for_none(link: SlowLink) -> None:
    def ask(connection: Connection) -> Cursor:
        return connection.execute("SELECT 1")

    [asked] = await done(LossyNetwork(link).connect, ask)
    for read in (asked.fetchone, asked.fetchall, lambda: asked.rowcount, lambda: asked.description):
        with pytest.raises(ResultsLost):
            read()


async def test_who_keeps_something_in_memory_is_told_that_anything_may_be_others(link: SlowLink) -> None:
    told: list[str] = []
    watch = Watch(
        (), lambda ids: None, ("spawns",), on_erase=lambda: told.append("erase"), on_miss=lambda: told.append("miss")
    )
    changes = ChangeReader(watch)
    await done(LossyNetwork(link).connect, Insertion("one"), changes=changes)
    assert told == ["miss", "erase"] and changes.state("spawns") == 1


async def test_an_exchange_is_there_once_and_agreed_once_and_learnt_once(link: SlowLink, tmp_path: Path) -> None:
    journal = PostgresJournal(link.url, tmp_path / "store", str, replica="it")
    try:
        link.loses = b"COMMIT"
        agreed = await journal.agree(session(), ("ns", b"opening"), None, [entry("a note")])
        assert agreed.session.id == session().id and not link.loses
        version = agreed.version
        link.loses = b"COMMIT"
        agreed = await journal.agree(session(), None, version, [entry("another", 1)])
        assert not link.loses and agreed.version.size == 2 and version.size == 1
        link.loses = b"COMMIT"
        await journal.commit(exchange("x", [user("a")]))
        assert not link.loses
        await journal.commit(exchange("x", [user("a")]))
        [only] = await journal.unlearned(10)
        link.loses = b"COMMIT"
        await journal.learn(Lesson(only.number, (fact("uses tabs"),)))
        assert not link.loses and not await journal.unlearned(10)
    finally:
        await journal.close()


async def test_what_was_not_committed_is_done_again(url: str) -> None:
    assert await done(Network(url).connect, Insertion("one")) == ["one"]
    assert await done(Network(url).connect, Insertion("two"), Insertion("three")) == ["two", "three"]
    assert names(url) == {"one", "two", "three"}


def test_a_turn_that_was_given_up_is_not_taken_later(url: str) -> None:
    """A server may still be at what it was sent when its client is gone."""
    lease = Lease("it", replicas=True)
    with closing(PostgresConnection(url)) as late, closing(PostgresConnection(url)) as asking:
        turn = lease.turn(asking)
        assert not committing.committed(
            Turn(turn.writer, turn.number + 2, turn.taken), lambda: PostgresConnection(url), "it"
        )
        with pytest.raises(psycopg.Error, match="given up") as refused:
            lease.turn(late)
        fault = lease.fault(refused.value)
        assert fault is not None and fault.passing


async def test_where_nobody_can_be_asked_it_is_told_that_it_is_not_known(
    link: SlowLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committing, "ASKED_SECONDS", -1)
    jobs = [Insertion("one"), Insertion("two")]
    outcomes = await done(LossyNetwork(link, stays_cut=True).connect, *jobs)
    assert all("not known" in str(outcome) for outcome in outcomes)
    assert [job.times for job in jobs] == [1, 1]


@pytest.mark.parametrize("neighbours", [0, 1])
async def test_a_job_that_swallows_an_error_is_not_told_to_be_done(url: str, neighbours: int) -> None:
    def swallow(connection: Connection) -> str:
        connection.execute("INSERT INTO meta (name, value) VALUES (?, ?)", ("three", b"x"))
        with suppress(psycopg.Error):
            connection.execute("SELECT 1 / 0").fetchone()
        return "three"

    jobs: Sequence[Work[str]] = [swallow, *[Insertion("one")] * neighbours]
    outcomes = await done(lambda: PostgresConnection(url, pipelined=True), *jobs)
    assert isinstance(outcomes[0], StoreFault) and outcomes[1:] == ["one"] * neighbours
    assert names(url) == {"one"} if neighbours else not names(url)


@pytest.mark.parametrize("error", [RuntimeError, asyncio.CancelledError, SystemExit])
async def test_no_error_ends_the_writer(url: str, error: type[BaseException], caplog: pytest.LogCaptureFixture) -> None:
    class Surprising(ChangeReader):
        times = 0

        def ask(self, connection: Connection) -> Callable[[], Changes]:
            self.times += 1
            if self.times <= 2:
                raise error("nobody has thought of this")
            return super().ask(connection)

    def connect() -> PostgresConnection:
        return PostgresConnection(url, pipelined=True)

    writer = PostgresWriter("it", connect, Surprising(None), 2.0)
    writer.start(lambda connection: None)
    async with asyncio.timeout(30):
        for name in ("one", "two"):
            with pytest.raises(StoreFault, match=error.__name__):
                await writer.do(Insertion(name))
        assert await writer.do(Insertion("three")) == "three"
    await asyncio.to_thread(writer.finish)
    assert names(url) == {"three"} and "nobody has thought of this" in caplog.text


async def test_an_error_of_one_who_is_told_makes_nothing_fail(url: str, caplog: pytest.LogCaptureFixture) -> None:
    def fail(tables: frozenset[str]) -> None:
        raise RuntimeError("cannot take it in")

    def add(connection: Connection) -> str:
        connection.execute("INSERT INTO tombstones (hash, at) VALUES (?, ?)", (b"x", ""))
        return "added"

    changes = ChangeReader(Watch((), lambda ids: None, on_growth=fail))
    connect = lambda: PostgresConnection(url, pipelined=True)  # noqa: E731
    assert await done(connect, add, changes=changes) == ["added"]
    assert "cannot take it in" in caplog.text


def test_a_commit_that_rolls_back_is_not_told_to_be_done(url: str) -> None:
    """PostgreSQL answers the COMMIT of a failed transaction with a ROLLBACK, and not with an error."""
    lease = Lease("it", replicas=True)
    with closing(PostgresConnection(url, pipelined=True)) as connection:
        connection.run("BEGIN")
        turn = lease.turn(connection)
        Insertion("one")(connection)
        with suppress(psycopg.Error):
            connection.execute("SELECT 1 / 0").fetchone()
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            committing.commit(connection, turn, lambda: PostgresConnection(url), "it")
    assert not names(url)
