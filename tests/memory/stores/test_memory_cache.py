"""Memories that are kept at hand are those of the database, whoever changes them, and belong to their owner."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memory.fact import Fact, Passage, State
from memory.learning.outcome import ended
from memory.ports import Lesson
from memory.stores.journal import SqlJournal
from memory.stores.memory_cache import MAX_MEMORY_CHARS, OBJECTS, KnownMemories
from tests.memory.stores.derived_facts import ANN, AT, BOB, fact, open_journal, owner, passage, shown

SMALL = OBJECTS + 1
"""Bytes of a memory of one letter."""


async def kept(journal: SqlJournal, *memories: Fact | Passage) -> list[str]:
    """Write memories and read them, so that they are at hand; their ids."""
    facts = tuple(each for each in memories if isinstance(each, Fact))
    passages = tuple(each for each in memories if isinstance(each, Passage))
    await journal.learn(Lesson(0, facts, passages))
    ids = [each.id for each in memories]
    assert {each.id for each in await journal.memories(ids, [owner()])} == set(ids)
    return ids


async def read(journal: SqlJournal, ids: list[str]) -> dict[str, Fact | Passage]:
    return {each.id: each for each in await journal.memories(ids, [owner()])}


async def test_every_way_of_writing_is_seen_by_the_next_reading(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    one, two = fact("the first text"), fact("the second text")
    ids = await kept(journal, one, two, passage("a turn"))

    await journal.update(replace(one, text="another text"))
    assert (await read(journal, ids))[one.id].text == "another text"
    await journal.pin(one.id, True)
    first = (await read(journal, ids))[one.id]
    assert isinstance(first, Fact) and first.pinned
    await shown(journal, one.id, "s2", AT, used=True)
    first = (await read(journal, ids))[one.id]
    assert isinstance(first, Fact) and first.access > one.access
    await journal.learn(Lesson(0, (ended(first, AT), replace(two, supersedes=(one.id,)))))
    after = await read(journal, ids)
    first, second = after[one.id], after[two.id]
    assert isinstance(first, Fact) and first.state is State.SUPERSEDED
    assert isinstance(second, Fact) and one.id in second.supersedes
    await journal.learn(Lesson(0, (replace(two, text="learned anew"),)))
    assert (await read(journal, ids))[two.id].text == "learned anew"
    await journal.close()


async def test_what_is_forgotten_is_not_at_hand_any_more(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    ids = await kept(journal, fact("a secret plan"), passage("a turn about it"))

    await journal.forget(ids, AT)

    assert await read(journal, ids) == {}
    await journal.close()


async def test_what_one_owner_has_read_is_not_given_to_another(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    ids = await kept(journal, fact("mine alone"), passage("mine too"))

    assert await journal.memories(ids, [owner(BOB)]) == []
    assert len(await journal.memories(ids, [owner(BOB), owner(ANN)])) == 2
    await journal.close()


@given(st.lists(st.tuples(st.sampled_from(["keep", "change"]), st.integers(0, 5)), max_size=30))
def test_what_was_read_before_a_change_is_never_kept_after_it(steps: list[tuple[str, int]]) -> None:
    known, told = KnownMemories(room=4 * SMALL), {number: fact(f"text {number}", id=str(number)) for number in range(6)}
    changes = dict.fromkeys(told, 0)
    for step, number in steps:
        epoch, before = known.epoch, told[number]
        if step == "change":
            changes[number] += 1
            told[number] = replace(before, text=f"text {number}, {changes[number]}")
            known.drop([str(number)])
        known.put([before], epoch)
        assert all(memory == told[int(id)] for id, memory in known.of(map(str, told)).items())


def test_only_so_many_are_kept_and_none_that_is_long() -> None:
    known = KnownMemories(room=4 * SMALL)

    known.put([fact("x" * (MAX_MEMORY_CHARS + 1), id="0"), *(fact("a", id=str(number)) for number in range(1, 8))], 0)

    kept = set(known.of(map(str, range(8))))
    assert {"6", "7"} <= kept <= {"4", "5", "6", "7"}


def test_what_is_asked_for_stays_longer_than_what_is_not() -> None:
    known = KnownMemories(room=4 * SMALL)
    known.put([fact("a", id="1"), fact("b", id="2")], 0)

    for number in range(3, 20):
        assert list(known.of(["1"])) == ["1"]
        known.put([fact("c", id=str(number))], 0)

    assert not known.of(["2", "3", "4"])


@given(st.lists(st.integers(0, 30) | st.lists(st.integers(0, 30), max_size=31), min_size=30, max_size=60))
def test_never_more_than_its_room_are_kept(steps: list[int | list[int]]) -> None:
    known = KnownMemories(room=8 * SMALL)
    for step in steps:
        if isinstance(step, int):
            known.put([fact("a", id=str(step))], known.epoch)
        else:
            known.of(map(str, step))
        assert len(known.of(map(str, range(31)))) <= 8
