"""A backup of a running server, put back: nothing is missing, a session goes on, what was forgotten stays so."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from memory.features.backups.feature import SCHEDULED, BackupKeeper
from memory.restore import restore
from memory.stores.backups.backup import ASIDE, JOURNAL, NoBackup, backups_in, differing, read_list, take
from memory.stores.backups.places import BackupState, own_place, read_state, write_state
from memory.stores.backups.upgrading import faults_of, faults_of_backup
from memory.stores.connection import Connection
from proxy.marker import TRUSTED
from tests import rooms
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.homes import held, talk
from tests.proxy.test_forget_everything import _packed
from tests.running import running
from tests.sparse_files import read_written

AT = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


def sent(provider: FakeProvider) -> list[object]:
    """The messages of the last request that was forwarded."""
    return list(orjson.loads(provider.last.body)["messages"])


async def test_a_restored_home_exports_the_same_and_a_session_goes_on_with_the_same_bytes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with fake_provider() as provider:
        async with running(provider, home) as proxy:
            going_on = await talk(proxy)
            before, prefix = await held(proxy), sent(provider)
            backup = await asyncio.to_thread(take, home, own_place(home), AT, "test")
            await proxy.chat("We decided to use Redis for the queue, because it is there.", session="after")
            await proxy.learned()
            assert await held(proxy) != before
        aside = await asyncio.to_thread(restore, backup, home, AT)
        assert aside.aside is not None and (aside.aside / JOURNAL).exists() and not aside.forgotten
        async with running(provider, home) as proxy:
            assert await held(proxy) == before
            await proxy.chat(*going_on, session="going-on")
            assert sent(provider)[:1] == prefix
            assert await asking(proxy)("GET", "api/backups/index") == {"faults": []}


async def test_it_can_be_put_into_a_home_that_is_gone(tmp_path: Path) -> None:
    home, place = tmp_path / "home", tmp_path / "elsewhere"
    async with fake_provider() as provider:
        async with running(provider, home) as proxy:
            going_on = await talk(proxy)
            before, prefix = await held(proxy), sent(provider)
            backup = await asyncio.to_thread(take, home, place, AT, "test")
        shutil.rmtree(home)
        assert (await asyncio.to_thread(restore, backup, home, AT)).aside is None
        async with running(provider, home) as proxy:
            assert await held(proxy) == before
            await proxy.chat(*going_on, session="going-on")
            assert sent(provider)[:1] == prefix


async def test_what_is_journaled_meanwhile_neither_stops_nor_spoils_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with fake_provider() as provider, running(provider, home) as proxy:
        await talk(proxy)

        async def chats() -> None:
            for number in range(30):
                await proxy.chat(f"Number {number} of many: what now?", session=f"meanwhile-{number}")

        chatting = asyncio.create_task(chats())
        made = []
        while not chatting.done():
            made.append(await asyncio.to_thread(take, home, own_place(home), AT, "test"))
        await chatting
        assert len(made) > 1
        for each in made:
            scratch = tmp_path / each.name
            scratch.mkdir()
            assert await asyncio.to_thread(faults_of_backup, each, scratch) == []
        counts = [read_list(each).counts["exchanges"] for each in made]
        assert counts == sorted(counts)


async def test_several_that_are_made_in_the_same_second_are_all_whole(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with fake_provider() as provider, running(provider, home) as proxy:
        await talk(proxy)
        made = await asyncio.gather(*(asyncio.to_thread(take, home, own_place(home), AT, "test") for _ in range(6)))
        assert len(set(made)) == len(backups_in(own_place(home))) == 6
        assert not [each for each in own_place(home).iterdir() if each.name.startswith(".")]
        for each in made:
            assert not list(differing(each, read_list(each)))


async def test_nobody_else_can_read_it_and_tokens_are_not_in_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with fake_provider() as provider, running(provider, home) as proxy:
        await talk(proxy)
        (home / "config.yaml").write_text("log_level: info\n")
        (home / TRUSTED).write_text("{}")
        whole = await asyncio.to_thread(take, home, own_place(home), AT, "test")
        without = await asyncio.to_thread(take, home, own_place(home), AT, "test", False)
        assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in [whole, *whole.rglob("*")]} == {0}
        assert {"identity.key", "key", "config.yaml", TRUSTED} <= set(read_list(whole).files)
        assert {"identity.key", "key", "config.yaml", "token"} & set(read_list(without).files) == set()
        assert not (whole / "token").exists() and not any(proxy.edge.token in str(each) for each in whole.rglob("*"))


async def test_exchanges_that_are_set_aside_are_in_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with fake_provider() as provider:
        async with running(provider, home) as proxy:
            await talk(proxy)
        (home / ASIDE).mkdir(exist_ok=True)
        (home / ASIDE / "00000000000000000001-x").write_bytes(b"waits")
        assert f"{ASIDE}/00000000000000000001-x" in read_list(take(home, own_place(home), AT, "test")).files


async def test_what_is_forgotten_goes_from_all_backups_that_can_be_reached(tmp_path: Path) -> None:
    home, place = tmp_path / "home", tmp_path / "elsewhere"
    async with fake_provider() as provider, running(provider, home) as proxy:
        ask = asking(proxy)
        await talk(proxy)
        await held(proxy)
        for folder in (own_place(home), place):
            await asyncio.to_thread(take, home, folder, AT, SCHEDULED)
        await proxy.chat("The vault opens with the word zirkonfalke, we decided.", session="secret")
        await proxy.learned()
        for folder in (own_place(home), place):
            await asyncio.to_thread(take, home, folder, AT + timedelta(days=1), SCHEDULED)
        unreached = tmp_path / "unplugged"
        write_state(home, BackupState(places=(str(place), str(unreached))))
        would = (await ask("POST", "api/forget?project=loom", {"query": "zirkonfalke"}))["would_forget"]
        assert would
        await ask("POST", "api/forget?project=loom", {"ids": [each["id"] for each in would]})
        for folder in (own_place(home), place):
            before, anew = [each for each, _ in backups_in(folder)]
            assert before.name.startswith("backup-2026-03-04") and "anew" in read_list(anew).reason
            assert not [file for file in folder.rglob("*") if file.is_file() and b"zirkonfalke" in read_written(file)]
            assert not [told for each in (before, anew) for told in traces(each / JOURNAL)]
        why = (await ask("GET", "health"))["why"]
        assert any(str(unreached) in each for each in why)


def traces(journal: Path) -> list[str]:
    """Where in a journal what was forgotten still stands, packed or not."""
    with closing(sqlite3.connect(journal)) as connection:
        return list(_packed(connection))


async def test_a_backup_that_lay_elsewhere_brings_nothing_back_that_was_forgotten_since(tmp_path: Path) -> None:
    home, place = tmp_path / "home", tmp_path / "elsewhere"
    async with fake_provider() as provider:
        async with running(provider, home) as proxy:
            await talk(proxy)
            backup = await asyncio.to_thread(take, home, place, AT, "test")
            ask = asking(proxy)
            would = (await ask("POST", "api/forget?project=loom", {"query": "Lisbon"}))["would_forget"]
            await ask("POST", "api/forget?project=loom", {"ids": [each["id"] for each in would]})
        restored = await asyncio.to_thread(restore, backup, home, AT)
        assert restored.forgotten
        async with running(provider, home) as proxy:
            found = await asking(proxy)("GET", "api/search?project=loom&text=Lisbon")
            assert not [each for each in found["results"] if "Lisbon" in each["text"]]
            assert "Lisbon" not in (await held(proxy)).page


async def test_the_server_makes_them_when_they_are_due_and_keeps_so_many(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with fake_provider() as provider, running(provider, home) as proxy:
        await talk(proxy)
        keeping = BackupKeeper(home)
        assert keeping.run_schedule(AT) is None
        write_state(home, BackupState(every=3600.0, keep=2))
        made = [keeping.run_schedule(AT + timedelta(minutes=minutes)) for minutes in (0, 30, 60, 120, 200)]
        assert [each is not None for each in made] == [True, False, True, True, True]
        assert [told.at for _, told in backups_in(own_place(home))] == [
            AT + timedelta(minutes=120),
            AT + timedelta(minutes=200),
        ]
        assert keeping.overdue(AT + timedelta(minutes=300)) == timedelta(minutes=40)


async def test_every_night_it_is_looked_whether_the_journal_holds_together(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with fake_provider() as provider, running(provider, home) as proxy:
        await talk(proxy)
        ask = asking(proxy)
        memory = proxy.edge.memory
        assert memory is not None
        await rooms.nights(memory).runner.run()
        assert read_state(home).verified is not None and read_state(home).faults == ()
        assert faults_of(home / JOURNAL) == []

        def break_one(connection: Connection) -> None:
            connection.execute("UPDATE messages SET body = x'00' WHERE number = 1")

        await memory.journal._db.write(break_one)
        await memory.recall.index.delete([(await memory.commands.facts(["up:/local/loom"]))[0].id])
        await rooms.nights(memory).runner.run()
        why = (await ask("GET", "health"))["why"]
        assert any("1 of its messages cannot be unpacked" in each for each in why)
        assert any("palimpsest reindex" in each for each in why)


@pytest.mark.parametrize("what", ["changed", "gone"])
async def test_a_backup_that_is_damaged_is_not_put_back(what: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with fake_provider() as provider:
        async with running(provider, home) as proxy:
            await talk(proxy)
            before = await held(proxy)
            backup = await asyncio.to_thread(take, home, own_place(home), AT, "test")
        if what == "gone":
            (backup / JOURNAL).unlink()
        else:
            (backup / JOURNAL).write_bytes((backup / JOURNAL).read_bytes() + b"x")
        with pytest.raises(NoBackup, match="gone" if what == "gone" else "damaged"):
            await asyncio.to_thread(restore, backup, home, AT)
        async with running(provider, home) as proxy:
            assert await held(proxy) == before
