"""A home folder that an earlier version wrote starts under this one, with all that was in it, and sessions go on."""

from __future__ import annotations

import asyncio
import json
import tarfile
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from memory.scope import Scope
from memory.stores.backups.backup import backups_in
from memory.stores.backups.upgrading import faults_of
from memory.stores.migrations import MIGRATIONS
from tests.corpus.fixed import fixed
from tests.corpus.stage import stage
from tests.homes.make import OPTIONS, TOLD, rows_of
from tests.proxy.asking import history

HOMES = sorted(Path(__file__).parent.glob("*.tar.xz"))


def unpacked(archive: Path, folder: Path) -> dict[str, Any]:
    """Unpack a home, and what was told of it."""
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    told: dict[str, Any] = json.loads((folder / TOLD).read_text())
    return told


@pytest.mark.parametrize("archive", HOMES, ids=lambda path: path.name.partition(".tar")[0])
async def test_a_home_of_an_earlier_version_is_as_it_was_and_its_sessions_go_on(archive: Path, tmp_path: Path) -> None:
    told = await asyncio.to_thread(unpacked, archive, tmp_path)
    home = tmp_path / "home"
    with fixed():
        async with stage("upgrade", home, OPTIONS) as on:
            on.clock.at = datetime.fromisoformat(told["at"])
            found = json.loads(json.dumps(await asyncio.to_thread(rows_of, home)))
            assert found["counts"] == told["counts"]
            for what in ("ledger", "facts", "passages"):
                assert found[what] == told[what], what
            # That version named the other side of a correction even where its sentence rejects it.
            page = told["page"].replace("not local time. (not: local time)", "not local time.")
            assert await on.memory.pages.text(Scope(user="local", project="loom")) == page
            assert on.memory.generation.number == 1, "the index was made anew"
            assert await asyncio.to_thread(faults_of, home / "journal.db") == []
            backups = next(each for each in on.memory.features if each.name == "backups")
            assert await backups.index_faults() == []  # type: ignore[attr-defined]
            upgrades = [kept for _, kept in backups_in(home / "backups") if kept.migrations < len(MIGRATIONS)]
            assert [kept.counts["facts"] for kept in upgrades] == [len(told["facts"])]
            for each in told["going_on"]:
                await on.send("goes on", each["path"], each["next"].encode(), **each["headers"])
                [forwarded] = [body for label, body in on.exchanges[-1].bodies if label == "forwarded"]
                before = history(each["path"], each["forwarded"].encode())
                assert history(each["path"], forwarded).startswith(before), each["path"]
                assert len(orjson.loads(forwarded)) == len(orjson.loads(each["forwarded"]))
            ledger = json.loads(json.dumps(await asyncio.to_thread(rows_of, home)))["ledger"]
            assert ledger[: len(told["ledger"])] == told["ledger"]


def test_there_is_one() -> None:
    assert HOMES
