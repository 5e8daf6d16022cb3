"""Something is forgotten while there are backups: they are made anew behind it, and what that is worth is told."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.features.backups.feature import BackupKeeper, Backups
from memory.ports import Forgotten
from memory.stores.backups.backup import backups_in, take
from memory.stores.backups.places import own_place, read_state
from tests.fake_provider import fake_provider
from tests.running import running

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
OWNERS = ("u:/local", "up:/local/loom")


async def test_a_forget_does_not_wait_for_a_backup_that_is_being_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.features.backups.feature.REWRITE_SECONDS", 0.0)
    home = tmp_path / "home"
    async with fake_provider() as provider, running(provider, home) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await proxy.chat("I prefer the zirkonfalke mirror for all packages.")
        await proxy.learned()
        old = take(home, own_place(home), NOW, "asked for")
        backups = memory.features.of(Backups)
        [fact] = await memory.commands.facts(OWNERS, "zirkonfalke")
        async with backups._making:
            gone = await memory.commands.forget([fact.id], OWNERS)
            assert any("being made anew" in fault for fault in gone.faults)
            assert any("being made anew" in why for why in await backups.health())
            assert old.exists()
        await backups._rewriting.ended()
        assert not old.exists() and len([*backups_in(own_place(home))]) == 1
        assert not any("anew" in why for why in await backups.health())


def test_where_the_process_ended_amid_it_the_backups_are_told_as_suspect(tmp_path: Path) -> None:
    keeper = BackupKeeper(tmp_path)
    assert not keeper.begin_rewriting(Forgotten())
    (own_place(tmp_path) / "one").mkdir(parents=True)
    assert keeper.begin_rewriting(Forgotten())
    BackupKeeper(tmp_path).cut_short()
    assert (read_state(tmp_path).rewriting, read_state(tmp_path).stale) == ((), (str(own_place(tmp_path)),))


def test_when_all_are_looked_through_nothing_is_suspect(tmp_path: Path) -> None:
    keeper = BackupKeeper(tmp_path)
    (own_place(tmp_path) / "one").mkdir(parents=True)
    assert keeper.begin_rewriting(gone := Forgotten())
    assert keeper.forget([gone], NOW) == []
    assert (read_state(tmp_path).rewriting, read_state(tmp_path).stale) == ((), ())


@pytest.mark.parametrize("failed", [False, True], ids=["done", "given up"])
def test_while_one_forget_waits_for_another_its_backups_are_told_and_after_a_kill_suspect(
    failed: bool, tmp_path: Path
) -> None:
    keeper, place = BackupKeeper(tmp_path), str(own_place(tmp_path))
    (own_place(tmp_path) / "one").mkdir(parents=True)
    first, second = Forgotten(messages=1), Forgotten(messages=1)
    assert keeper.begin_rewriting(first) and keeper.begin_rewriting(second)
    if failed:
        keeper.cut_short([first])
    else:
        keeper.forget([first], NOW)
    assert read_state(tmp_path).rewriting == (place,) and keeper.waiting == (second,)
    BackupKeeper(tmp_path).cut_short()
    assert (read_state(tmp_path).rewriting, read_state(tmp_path).stale) == ((), (place,))


async def test_a_forget_that_begins_while_backups_are_made_anew_is_told_until_its_own_turn_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.features.backups.feature.REWRITE_SECONDS", 0.0)
    home = tmp_path / "home"
    async with fake_provider() as provider, running(provider, home) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await proxy.chat("I prefer the zirkonfalke mirror for all packages.")
        await proxy.chat("I prefer the bernsteinotter editor for all notes.", session="two")
        await proxy.learned()
        take(home, own_place(home), NOW, "asked for")
        backups = memory.features.of(Backups)
        once, told = backups._rewrite_once, list[tuple[int, bool]]()

        async def noted(gone: Sequence[Forgotten]) -> None:
            await once(gone)
            told.append((len(backups._keeping.waiting), any("anew" in why for why in await backups.health())))

        monkeypatch.setattr(backups, "_rewrite_once", noted)
        async with backups._making:
            for word in ("zirkonfalke", "bernsteinotter"):
                [fact] = await memory.commands.facts(OWNERS, word)
                await memory.commands.forget([fact.id], OWNERS)
        await backups._rewriting.ended()
        assert told == [(1, True), (0, False)]
