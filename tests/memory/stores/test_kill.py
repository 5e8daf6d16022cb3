"""kill -9 at any moment loses nothing that was acknowledged, and the next start is clean."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

from memory.ports import Query
from memory.stores.generations import FolderIndexes, Generations
from tests.memory.stores import derived_facts
from tests.memory.stores.derived_facts import open_journal, owner
from tests.memory.stores.killed_writer import OneDimension

ROUNDS = 5
ROOT = Path(__file__).parents[3]


def live_and_die(home: Path, life: int, lines: int) -> list[str]:
    """Let a writer run until it has told so many lines, kill it, and return all that it told."""
    command = [sys.executable, "-m", "tests.memory.stores.killed_writer", str(home), str(life)]
    there = derived_facts.SERVER
    env = os.environ | ({derived_facts.ELSEWHERE: there.database(home)} if there is not None else {})
    with subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        told = [writer.stdout.readline() for _ in range(lines)]
        writer.kill()
        # What it told before it died and we had not read yet was acknowledged too.
        told.extend(writer.stdout.readlines())
    return [line.strip() for line in told if line.endswith("\n")]


async def check(home: Path, told: set[str]) -> None:
    journal = open_journal(home)
    behind = {each.id for each in await journal.unlearned(1_000_000)}
    facts = {each.id: each.text for each in await journal.facts_of([owner()], 1_000_000)}
    learned = {text.removeprefix("learned from ") for text in facts.values()}
    exchanges = {line[2:] for line in told if line.startswith("e ")}
    assert exchanges <= behind | learned
    assert not behind & learned, "the cursor and what was learned move together"
    assert {line[2:] for line in told if line.startswith("f ")} <= facts.keys()
    assert (await journal.rarity([owner()], [1])).frequency.get(1, 0) == len(facts)
    for each in (await journal.unlearned(1_000_000))[-4:]:
        life, number, turn = each.id.split("-")
        assert [m.text for m in each.messages] == [f"{life} {number} {n}" for n in range(int(turn) + 1)]
        assert each.reply is not None
    index, _ = await Generations(journal, FolderIndexes(home / "index")).open_current(OneDimension())  # type: ignore[arg-type]
    hits = await index.search(Query((owner(),), None, {1: 1.0}, 1_000_000))
    waiting = set((await journal.unindexed(1_000_000)).ids)
    indexed = {line[2:] for line in told if line.startswith("p ")}
    assert indexed <= {hit.id for hit in hits}
    assert facts.keys() == {hit.id for hit in hits} | waiting
    await index.close()
    await journal.close()


def test_nothing_that_was_acknowledged_is_lost_by_kill_9(tmp_path: Path, engine: str) -> None:
    chance = random.Random(20260304)
    told: set[str] = set()
    for life in range(ROUNDS):
        told.update(live_and_die(tmp_path, life, chance.randint(1, 150)))
        if engine == "sqlite":
            connection = sqlite3.connect(tmp_path / "store" / "journal.sqlite")
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
            connection.close()
        asyncio.run(check(tmp_path, told))
    assert sum(line.startswith("e ") for line in told) > ROUNDS
