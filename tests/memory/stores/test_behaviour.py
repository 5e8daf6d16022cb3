"""Steps, observations and the keys of errors in the journal: once each, by owner, and gone with what is forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest_asyncio

from memory.behaviour import BehaviourRecord, CommandFailure, Key, KnownObservation
from memory.ports import Lesson
from memory.stores import behaviour
from memory.stores.journal import SqliteJournal, SqlJournal
from tests.memory.learning.behaviour.making import AT, did
from tests.memory.stores.derived_facts import fact

MINE, OTHER = "up:/ada/loom", "up:/bob/loom"
KEY = Key(b"k" * 16, specific=True)


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqlJournal]:
    opened = SqliteJournal(tmp_path / "journal.db", lambda text: text.replace("sk-secret", "[redacted]"))
    yield opened
    await opened.close()


async def learned(journal: SqlJournal, *families: str, owner: str = MINE, memory: str = "f1") -> None:
    held = KnownObservation(owner, memory.encode(), "fix", memory, '{"failed": "run --key sk-secret"}')
    failure = CommandFailure("make all", (KEY,))
    observed = BehaviourRecord(owner, tuple(did("s1", *families)), (held,), {memory: failure})
    kept = replace(fact(memory, id=memory), owner=owner)
    await journal.learn(Lesson(0, (kept,), observed=observed))


async def test_steps_come_back_in_order_and_each_is_kept_once(journal: SqlJournal) -> None:
    await learned(journal, "make all", "!make test")
    await learned(journal, "make all", "!make test", "git push")
    assert [step.family for step in await journal.steps(MINE, 10)] == ["make all", "make test", "git push"]
    assert [step.family for step in await journal.steps(MINE, 1)] == ["git push"]
    assert await journal.steps(MINE, 10) == did("s1", "make all", "!make test", "git push")
    assert await journal.known_steps(MINE, [b"s10", b"s19"]) == {b"s10"}
    assert await journal.steps(OTHER, 10) == []


async def test_a_fix_is_found_by_its_key_and_only_by_its_owner(journal: SqlJournal) -> None:
    await learned(journal, "make all")
    [remedy] = await journal.remedies([MINE, "u:/ada"], [b"x" * 16, KEY.hash])
    assert (remedy.fact.id, remedy.key, remedy.family, remedy.specific) == ("f1", KEY.hash, "make all", True)
    assert await journal.remedies([OTHER], [KEY.hash]) == []
    assert await journal.remedies([MINE], []) == []


async def test_no_secret_stands_in_what_was_observed(journal: SqlJournal) -> None:
    await learned(journal, "make all")
    [held] = await journal.observations(MINE)
    assert held.detail == '{"failed": "run --key [redacted]"}'


async def test_forgetting_a_fix_forgets_how_it_is_found(journal: SqlJournal) -> None:
    await learned(journal, "make all")
    await journal.forget(["f1"], AT, [MINE])
    assert await journal.remedies([MINE], [KEY.hash]) == []
    assert await journal.observations(MINE) == []


async def test_what_is_retired_is_observed_no_more(journal: SqlJournal) -> None:
    await learned(journal, "make all")
    await journal.learn(Lesson(0, observed=BehaviourRecord(MINE, retired=("f1",))))
    assert await journal.observations(MINE, [b"f1"]) == []


async def test_only_the_newest_steps_are_kept(journal: SqlJournal, monkeypatch: object) -> None:
    kept, often = behaviour.MAX_STEPS, behaviour.ROUND
    behaviour.MAX_STEPS, behaviour.ROUND = 3, 1
    try:
        await learned(journal, "a", "b", "c", "d", "e")
    finally:
        behaviour.MAX_STEPS, behaviour.ROUND = kept, often
    assert [step.family for step in await journal.steps(MINE, 10)] == ["c", "d", "e"]
