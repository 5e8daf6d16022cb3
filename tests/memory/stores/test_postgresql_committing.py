"""A lost answer to COMMIT: what was written is written once, and is not told to have failed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from memory.stores.connection import Connection, Work
from memory.stores.postgresql import committing
from memory.stores.postgresql.changes import ChangeReader
from memory.stores.postgresql.connection import PostgresConnection, PostgresCursor
from memory.stores.postgresql.lease import Lease, Turn
from memory.stores.postgresql.writer import PostgresWriter
from tests import postgresql


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    server = postgresql.server()
    if server is None:
        pytest.skip("there is no PostgreSQL on this machine")
    yield server.database(tmp_path)
    server.give_back()


class Network:
    """Makes connections; the first COMMIT is cut off, before it comes to the server or behind."""

    def __init__(self, url: str, *, arrives: bool, stays_cut: bool = False) -> None:
        self._url = url
        self.arrives = arrives
        self._stays_cut = stays_cut
        self.cut = False

    def connect(self) -> PostgresConnection:
        if self.cut and self._stays_cut:
            raise psycopg.OperationalError("connection refused")
        return CutConnection(self._url, self)


class CutConnection(PostgresConnection):
    def __init__(self, url: str, network: Network) -> None:
        super().__init__(url, pipelined=True)
        self._network = network

    def run(self, sql: str) -> PostgresCursor:
        if sql != "COMMIT" or self._network.cut:
            return super().run(sql)
        self._network.cut = True
        if self._network.arrives:
            super().run(sql)
            self.sync()
        self.close()
        raise psycopg.OperationalError("server closed the connection unexpectedly")


class Insertion:
    """A job that could not be done twice."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.times = 0

    def __call__(self, connection: Connection) -> str:
        self.times += 1
        connection.execute("INSERT INTO meta (name, value) VALUES (?, ?)", (self.name, b"x"))
        return self.name


async def done(network: Network, *jobs: Work[str]) -> list[str | BaseException]:
    """What came of jobs that wait together for the first transaction."""
    writer = PostgresWriter("it", network.connect, ChangeReader(None), 2.0)
    tasks = [asyncio.create_task(writer.do(job)) for job in jobs]
    await asyncio.sleep(0)
    writer.start(lambda connection: None)
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.to_thread(writer.finish)
    return outcomes


def names(url: str) -> set[str]:
    with closing(PostgresConnection(url)) as connection:
        return {name for (name,) in connection.execute("SELECT name FROM meta")} & {"one", "two", "three"}


@pytest.mark.parametrize("count", [1, 2])
async def test_what_was_committed_is_done_once_and_told_so(url: str, count: int) -> None:
    jobs = [Insertion(name) for name in ("one", "two")[:count]]
    assert await done(Network(url, arrives=True), *jobs) == [job.name for job in jobs]
    assert [job.times for job in jobs] == [1] * count
    assert names(url) == {job.name for job in jobs}


async def test_what_was_not_committed_is_done_again(url: str) -> None:
    assert await done(Network(url, arrives=False), Insertion("one")) == ["one"]
    assert await done(Network(url, arrives=False), Insertion("two"), Insertion("three")) == ["two", "three"]
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
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committing, "ASKED_SECONDS", -1)
    jobs = [Insertion("one"), Insertion("two")]
    outcomes = await done(Network(url, arrives=True, stays_cut=True), *jobs)
    assert all("not known" in str(outcome) for outcome in outcomes)
    assert [job.times for job in jobs] == [1, 1]
