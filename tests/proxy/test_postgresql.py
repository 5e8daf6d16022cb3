"""A whole server whose journal is in PostgreSQL: it learns, recalls, forgets, has its night, and is started again."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import orjson
import pytest

from memory.ports import StoreError
from memory.stores.postgresql.journal import PostgresJournal
from memory.stores.postgresql.moving import move_in, move_out
from tests import postgresql, rooms
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.homes import LESSONS, QUESTION
from tests.running import Running, running


@asynccontextmanager
async def proxied(server: postgresql.TestServer, home: Path, provider: FakeProvider) -> AsyncIterator[Running]:
    options = {"memory.postgresql.url": server.database(home), "planner_process": True}
    async with running(provider, home, **options) as proxy:
        yield proxy


def sent(provider: FakeProvider) -> str:
    """The last request that was forwarded, as text."""
    return provider.last.body.decode()


async def test_a_server_learns_recalls_has_its_night_and_forgets_also_when_it_is_started_again(
    server: postgresql.TestServer, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    async with fake_provider() as provider:
        async with proxied(server, home, provider) as proxy:
            for number, lesson in enumerate(LESSONS):
                await proxy.chat(lesson, session=f"lesson-{number}")
            await proxy.learned()
            await proxy.chat(QUESTION, session="asks")
            assert "7443" in sent(provider) and "PostgreSQL 16" in sent(provider)
            first = orjson.loads(provider.last.body)["messages"]
            memory = proxy.edge.memory
            assert memory is not None
            await rooms.nights(memory).runner.run()
            health = await asking(proxy)("GET", "health")
            assert health["why"] == [] and health["row_security"]["in_force"]
            assert "facts" in health["row_security"]["covered"] and "messages" in health["row_security"]["covered"]
        assert not (home / "journal.db").exists()
        async with proxied(server, home, provider) as proxy:
            await proxy.chat(QUESTION, "On 7443.", "And who reviews?", session="asks")
            # The page and what was recalled stand where they stood: the provider reads them from its cache.
            assert orjson.loads(provider.last.body)["messages"][: len(first)] == first
            memory = proxy.edge.memory
            assert memory is not None
            gateway = [fact for fact in await memory.commands.facts(["up:/local/loom"]) if "7443" in fact.text]
            assert gateway
            ids = [fact.id for fact in gateway]
            await asking(proxy)("POST", "api/forget", {"ids": ids}, x_palimpsest_project="loom")
            await proxy.chat("On which port does the staging gateway listen?", session="later")
            assert "7443" not in sent(provider)


def everything(file: Path) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every table of a journal's file."""
    with closing(sqlite3.connect(file)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall(), key=repr) for name in names}
        rows["meta"] = connection.execute("SELECT name, CAST(value AS BLOB) FROM meta ORDER BY name").fetchall()
        rows["sqlite_master"] = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    return rows


async def test_a_journal_is_moved_into_a_database_and_back_and_a_session_goes_on_with_the_same_bytes(
    server: postgresql.TestServer, tmp_path: Path
) -> None:
    home, file = tmp_path / "home", tmp_path / "home" / "journal.db"
    async with fake_provider() as provider:
        async with running(provider, home) as proxy:
            for number, lesson in enumerate(LESSONS):
                await proxy.chat(lesson, session=f"lesson-{number}")
            await proxy.learned()
            await proxy.chat(QUESTION, session="asks")
            first = orjson.loads(provider.last.body)["messages"]
        before, counts = everything(file), dict[str, int]()
        move_in(file, server.database(home), counts.__setitem__)
        assert counts["exchanges"] == len(LESSONS) + 1 and counts["facts"] > 0
        with pytest.raises(StoreError, match="is not empty"):
            move_in(file, server.database(home), counts.__setitem__)
        with pytest.raises(StoreError, match="is there already"):
            move_out(server.database(home), file, counts.__setitem__)
        log = file.with_name("journal.db-wal")
        log.write_bytes(b"of another file")
        file.unlink()
        with pytest.raises(StoreError, match=r"journal\.db-wal is there already"):
            move_out(server.database(home), file, counts.__setitem__)
        log.unlink()
        move_out(server.database(home), file, counts.__setitem__)
        assert everything(file) == before
        async with proxied(server, home, provider) as proxy:
            await proxy.chat(QUESTION, "On 7443.", "And who reviews?", session="asks")
            assert orjson.loads(provider.last.body)["messages"][: len(first)] == first
            await proxy.chat("Remember: releases are on Tuesdays.", session="new")
            await proxy.learned()
            memory = proxy.edge.memory
            assert memory is not None
            assert (await memory.journal.counts()).exchanges == len(LESSONS) + 3


async def test_a_second_server_is_told_that_the_database_is_in_use(
    server: postgresql.TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.database(tmp_path)
    first = PostgresJournal(url, tmp_path / "one", str)
    monkeypatch.setattr("memory.stores.postgresql.lease.os.getpid", lambda: 1)
    monkeypatch.setattr("memory.stores.postgresql.lease.LOOK_AGAIN_SECONDS", 0.01)
    monkeypatch.setattr("memory.stores.postgresql.writer.SECONDS", -2)
    with pytest.raises(StoreError, match="in use by another server"):
        PostgresJournal(url, tmp_path / "two", str)
    await first.close()
    await PostgresJournal(url, tmp_path / "two", str).close()


async def test_while_the_database_is_away_the_model_call_goes_on_and_what_was_said_is_journaled_later(
    server: postgresql.TestServer, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    async with fake_provider() as provider, proxied(server, home, provider) as proxy:
        await proxy.chat("We deploy with Nomad.", session="before")
        await proxy.learned()
        server.pause()
        try:
            await proxy.chat("We deploy with Nomad.", "Fine.", "We keep secrets in Vault.", session="before")
            await proxy.chat("We log to Loki.", session="new")
            assert len(list((home / "aside").iterdir())) == 2
        finally:
            server.resume()
        memory = proxy.edge.memory
        assert memory is not None
        await memory.exchange_journal.write_pending()
        await proxy.learned()
        assert (await memory.journal.counts()).exchanges == 3
        assert not list((home / "aside").iterdir())
