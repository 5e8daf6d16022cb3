"""An index catches up after a crash, and a new one is filled beside it without missing anything."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from memory.ports import Generation, Lesson, StoreError
from memory.stores.connection import Connection
from memory.stores.errors import StoreFault
from memory.stores.journal import SqlJournal
from tests.memory.stores.derived_facts import AT, fact, passage


async def test_nothing_waits_before_there_is_an_index(journal: SqlJournal) -> None:
    await journal.learn(Lesson(0, (fact("x"),)))
    assert await journal.generations() == []
    assert (await journal.unindexed(9)).ids == ()
    assert await journal.waiting() == 0
    await journal.mark_indexed(["unknown"])


async def test_a_new_index_has_everything_to_take_in_and_then_what_is_learned(journal: SqlJournal) -> None:
    one, piece = fact("one"), passage("piece")
    await journal.learn(Lesson(0, (one,), (piece,)))
    begun = await journal.begin_generation("static", 8)
    assert await journal.generations() == [begun]
    await journal.switch_generation(begun.number)
    two = fact("two")
    await journal.learn(Lesson(0, (two,)))
    lag = await journal.unindexed(9)
    assert (set(lag.facts), lag.passages, lag.gone) == ({one, two}, (piece,), ())
    assert await journal.waiting() == 3
    await journal.mark_indexed([one.id, piece.id])
    assert (await journal.unindexed(9)).facts == (two,)
    await journal.mark_indexed([two.id])
    assert (await journal.unindexed(9)).ids == ()


async def test_what_changes_after_it_was_taken_in_waits_again(journal: SqlJournal) -> None:
    begun = await journal.begin_generation("static", 8)
    await journal.switch_generation(begun.number)
    assert (await journal.unindexed(9)).ids == ()
    one, two = fact("one"), fact("two")
    await journal.learn(Lesson(0, (one,)))
    assert (await journal.unindexed(9)).facts == (one,)
    await journal.mark_indexed([one.id])
    assert (await journal.unindexed(9)).ids == ()
    # Nothing has been written since that says so: both come in one transaction with the change.
    later = replace(one, importance=0.9)
    await journal.learn(Lesson(0, (later, two)))
    assert set((await journal.unindexed(9)).facts) == {later, two}
    await journal.mark_indexed([one.id, two.id])
    assert await journal.waiting() == 0


async def test_a_lesson_is_handed_on_as_it_is_stored(journal: SqlJournal) -> None:
    begun = await journal.begin_generation("static", 8)
    await journal.switch_generation(begun.number)
    assert (await journal.unindexed(9)).ids == ()
    one, piece = fact("one"), passage("piece")
    await journal.learn(Lesson(0, (one,), (piece,)))
    handed = await journal.unindexed(9)
    read = await journal.unindexed(9, begun.number)
    assert set(handed.ids) == {one.id, piece.id} == set(read.ids)
    # What comes without a lesson is read with it.
    await journal.pin(one.id, True)
    await journal.update(replace(one, importance=0.7))
    assert {each.importance for each in (await journal.unindexed(9)).facts} == {0.7}


async def test_a_lag_is_given_in_pieces_until_nothing_is_left(journal: SqlJournal) -> None:
    facts = [fact(str(n)) for n in range(7)]
    pieces = [passage(str(n)) for n in range(5)]
    await journal.learn(Lesson(0, tuple(facts), tuple(pieces)))
    begun = await journal.begin_generation("static", 8)
    seen: list[str] = []
    while (lag := await journal.unindexed(4, begun.number)).ids:
        assert len(lag.ids) <= 4
        seen.extend(lag.ids)
        await journal.mark_indexed(lag.ids, begun.number)
    assert set(seen) == {one.id for one in facts} | {piece.id for piece in pieces}
    assert len(seen) == 12


async def test_a_large_store_is_entered_in_steps_and_what_is_learned_meanwhile_is_not_missed(
    journal: SqlJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.stores.outbox.STEP", 3)
    old = [fact(str(n)) for n in range(20)]
    await journal.learn(Lesson(0, tuple(old), tuple(passage(str(n)) for n in range(5))))
    new = [fact(f"new {n}") for n in range(5)]
    beginning = asyncio.ensure_future(journal.begin_generation("static", 8))
    await asyncio.gather(*(journal.learn(Lesson(0, (each,))) for each in new))
    begun = await beginning
    lag = await journal.unindexed(99, begun.number)
    assert {each.id for each in lag.facts} == {each.id for each in (*old, *new)}
    assert len(lag.passages) == 5


async def test_a_generation_whose_beginning_was_interrupted_is_none(
    journal: SqlJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    await journal.learn(Lesson(0, (fact("x"),)))

    def fail(number: int, after: int, connection: Connection) -> None:
        raise StoreFault("the disk is on fire")

    with monkeypatch.context() as patched:
        patched.setattr("memory.stores.outbox._enter", fail)
        with pytest.raises(StoreError):
            await journal.begin_generation("static", 8)
    assert await journal.generations() == []
    begun = await journal.begin_generation("static", 8)
    assert await journal.generations() == [begun]
    assert await journal.waiting(begun.number) == 1


async def test_a_fact_that_is_written_anew_waits_again(journal: SqlJournal) -> None:
    begun = await journal.begin_generation("static", 8)
    await journal.switch_generation(begun.number)
    one = fact("one")
    await journal.learn(Lesson(0, (one,)))
    await journal.mark_indexed([one.id])
    await journal.pin(one.id, True)
    assert await journal.waiting() == 0
    await journal.update(replace(one, text="two"))
    assert [each.text for each in (await journal.unindexed(9)).facts] == ["two"]


async def test_each_generation_has_an_outbox_of_its_own(journal: SqlJournal) -> None:
    old = await journal.begin_generation("static", 8)
    await journal.switch_generation(old.number)
    one = fact("one")
    await journal.learn(Lesson(0, (one,)))
    await journal.mark_indexed([one.id])
    new = await journal.begin_generation("minilm", 16)
    assert await journal.waiting() == 0
    assert await journal.waiting(new.number) == 1
    await journal.forget([one.id], AT)
    assert (await journal.unindexed(9)).gone == (one.id,)
    assert (await journal.unindexed(9, new.number)).gone == (one.id,)
    await journal.switch_generation(new.number)
    await journal.drop_generation(old.number)
    assert await journal.generations() == [Generation(new.number, "minilm", 16, True)]
    assert (await journal.unindexed(9)).gone == (one.id,)
