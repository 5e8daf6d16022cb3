"""Something is forgotten while there are backups: they are made anew behind it, and what that is worth is told."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.features.backups.feature import Backups
from memory.features.backups.keeping import BackupKeeper
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
    assert not keeper.begin_rewriting()
    (own_place(tmp_path) / "one").mkdir(parents=True)
    assert keeper.begin_rewriting()
    BackupKeeper(tmp_path).cut_short()
    assert (read_state(tmp_path).rewriting, read_state(tmp_path).stale) == ((), (str(own_place(tmp_path)),))


def test_when_all_are_looked_through_nothing_is_suspect(tmp_path: Path) -> None:
    keeper = BackupKeeper(tmp_path)
    (own_place(tmp_path) / "one").mkdir(parents=True)
    assert keeper.begin_rewriting()
    assert keeper.forget([Forgotten()], NOW) == []
    assert (read_state(tmp_path).rewriting, read_state(tmp_path).stale) == ((), ())
