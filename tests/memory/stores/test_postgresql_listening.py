"""What others change is heard of at once, and where that fails as soon as somebody looks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psycopg
import pytest

from memory.ports import Lesson
from memory.stores.postgresql import attending, writer
from memory.stores.postgresql.changes import ChangeReader, Changes
from memory.stores.postgresql.connection import PostgresConnection
from memory.stores.postgresql.journal import PostgresJournal
from tests.memory.stores.derived_facts import fact

LISTENS = "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'"


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not holds():  # noqa: ASYNC110 (what another thread hears is found out by looking)
            await asyncio.sleep(0.01)


class Pair:
    """Two replicas: the one that works, and another that looks by itself only when it is told to."""

    def __init__(self, url: str, folder: Path) -> None:
        self.works = PostgresJournal(url, folder / "works", str, replica="works")
        self.other = PostgresJournal(url, folder / "other", str, replica="other")
        self.heard: list[frozenset[str]] = []
        self.other.told.changed = self.heard.append

    async def learns(self, text: str) -> None:
        """What the other one is to hear of."""
        self.heard.clear()
        await self.works.learn(Lesson(0, (fact(text),)))

    async def close(self) -> None:
        """Let go of both."""
        for each in (self.works, self.other):
            await each.close()


@pytest.fixture
async def pair(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pair]:
    # Nobody looks in quiet times.
    monkeypatch.setattr(writer, "REPLICA_SECONDS", 3600.0)
    monkeypatch.setattr(attending, "AGAIN_SECONDS", 0.05)
    found = Pair(url, tmp_path)
    yield found
    await found.close()


async def test_who_listens_hears_at_once(pair: Pair) -> None:
    await pair.learns("uses tabs")
    await until(lambda: bool(pair.heard))


async def test_a_connection_that_was_lost_is_made_again_and_nothing_is_missed(pair: Pair, url: str) -> None:
    with psycopg.connect(url, autocommit=True) as admin:

        def listeners() -> list[int]:
            return [pid for (pid,) in admin.execute(f"SELECT pid {LISTENS}")]

        for text in ("uses tabs", "uses spaces"):
            await pair.learns(text)
            await until(lambda: bool(pair.heard))
            admin.execute(f"SELECT pg_terminate_backend(pid) {LISTENS}")
        await pair.learns("uses nothing")
        await until(lambda: bool(pair.heard))
        await pair.learns("uses all of it")
        await until(lambda: bool(pair.heard))


async def test_an_error_of_one_who_is_told_ends_nothing(pair: Pair, caplog: pytest.LogCaptureFixture) -> None:
    def fail(owners: frozenset[str]) -> None:
        pair.other.told.changed = pair.heard.append
        raise RuntimeError("cannot take it in")

    pair.other.told.changed = fail
    await pair.learns("uses tabs")
    await until(lambda: "cannot take it in" in caplog.text)
    await pair.learns("uses spaces")
    await until(lambda: bool(pair.heard))


async def test_no_error_ends_the_listening(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tell = ChangeReader.tell
    failed: list[bool] = []

    def fail_once(self: ChangeReader, changes: Changes) -> None:
        if threading.current_thread().name == "journal-listener" and not failed:
            failed.append(True)
            raise RuntimeError("nobody has thought of this")
        tell(self, changes)

    monkeypatch.setattr(ChangeReader, "tell", fail_once)
    await pair.learns("uses tabs")
    await until(lambda: "nobody has thought of this" in caplog.text)
    await pair.learns("uses spaces")
    await until(lambda: bool(pair.heard))


async def test_without_a_way_to_listen_it_is_heard_of_when_somebody_looks(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(writer, "REPLICA_SECONDS", 0.05)
    monkeypatch.setattr(PostgresConnection, "_is_behind_pooler", lambda self: True)
    pair = Pair(url, tmp_path)
    await pair.learns("uses tabs") if pair.works.works else await until(lambda: pair.works.works)
    await pair.learns("uses spaces")
    await until(lambda: bool(pair.heard))
    await until(lambda: "direct_url" in caplog.text)
    await pair.close()
