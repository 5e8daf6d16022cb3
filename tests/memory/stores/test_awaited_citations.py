"""What is cited and not there yet is found again by its repository, in both engines, and goes with its memory."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from memory.checkout import Checkout, Citation, CitationKind
from memory.fact import State
from memory.ports import Lesson
from memory.stores.journal import SqliteJournal
from memory.stores.migrations import MIGRATIONS, migrate
from tests.memory.stores.derived_facts import AT, fact, open_journal, owner, passage

LOOM = Checkout("/home/ann/loom", "main", "a" * 40)
COMING = Citation(CitationKind.SYMBOL, "TokenBucket")
COME = replace(COMING, file="limiter.py", seen=True, at="b" * 40)


async def test_what_awaits_something_is_listed_facts_first_and_the_newest_first(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    facts = [replace(fact(f"TokenBucket {id}"), id=id, owner=owner()) for id in ("old", "new", "ended", "seen")]
    facts[2] = replace(facts[2], state=State.SUPERSEDED)
    turn = passage("TokenBucket")
    learnt = dict.fromkeys([*(each.id for each in facts), turn.id], False)
    await journal.learn(Lesson(0, tuple(facts), (turn,), checkout=LOOM, learnt=learnt))
    await journal.looked(dict.fromkeys(learnt, (COMING,)))
    await journal.looked({"seen": (COME,)})
    assert [row.memory for row in await journal.awaiting(LOOM.repository, 10)] == ["new", "old", turn.id]
    assert [row.cites for row in await journal.awaiting(LOOM.repository, 1)] == [(COMING,)]
    assert await journal.awaiting("/home/ann/other", 10) == []
    assert (await journal.learnt(["seen"]))["seen"].cites == (COME,)
    await journal.forget(["new"], AT, [owner()])
    assert [row.memory for row in await journal.awaiting(LOOM.repository, 10)] == ["old", turn.id]
    await journal.close()


async def test_what_was_not_looked_into_is_listed_facts_first_and_the_newest_first(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    facts = [replace(fact(f"TokenBucket {id}"), id=id, owner=owner()) for id in ("c", "a", "b")]
    turns = [replace(passage("TokenBucket"), id=id) for id in ("f", "d", "e")]
    learnt = dict.fromkeys([*(each.id for each in facts), *(each.id for each in turns)], False)
    await journal.learn(Lesson(0, tuple(facts), tuple(turns), checkout=LOOM, learnt=learnt))
    assert [id for id, _ in await journal.unlooked(LOOM.repository, 5)] == ["b", "a", "c", "e", "d"]
    await journal.close()


@pytest.mark.sqlite
async def test_what_named_nothing_that_was_there_is_looked_into_once_more_after_an_upgrade(tmp_path: Path) -> None:
    before = MIGRATIONS[: MIGRATIONS.index("m023_awaited_citations")]
    with closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as connection:
        connection.row_factory = sqlite3.Row
        migrate(connection, before)
        for id, cites in (("nothing", "[]"), ("a file", '[["file","a.py","a.py",0,"",true]]')):
            connection.execute(
                "INSERT INTO checkouts (memory, owner, repository, branch, commit_id, cites, looked) "
                "VALUES (?, ?, ?, 'main', '', ?, 1)",
                (id, owner(), LOOM.repository, cites),
            )
    journal = SqliteJournal(tmp_path / "journal.db", lambda text: text)
    assert [id for id, _ in await journal.unlooked(LOOM.repository, 10)] == ["nothing"]
    [cited] = (await journal.learnt(["a file"]))["a file"].cites
    assert cited == Citation(CitationKind.FILE, "a.py", "a.py", seen=True)
    await journal.close()
