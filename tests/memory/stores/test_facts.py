"""Facts and passages come back as they were, to their owners only."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.fact import Category, Fact, FactKind, MemoryTier, Origin, Sensitivity, Stability, State, Stream
from memory.ports import Lesson, TermRarity
from memory.scope import Layer, Scope
from memory.stores.errors import StoreFault
from memory.stores.journal import SqlJournal
from memory.stores.queries import QUERIES
from tests.memory.stores.derived_facts import (
    ANN,
    AT,
    BOB,
    exchange,
    fact,
    open_journal,
    owner,
    passage,
    rows,
    shown,
    user,
)

WHOLE = Fact(
    id="00000000-0000-0000-0000-000000000001",
    text="Ann tests with pytest",
    owner=owner(),
    kind=FactKind.CORRECTION,
    category=Category.WORKFLOWS,
    stream=Stream.TASKS,
    layer=Layer.USER,
    origin=Origin.SUBAGENT,
    session="s9",
    source=b"\x01" * 16,
    recorded_at=AT.astimezone(timezone(timedelta(hours=-8))),
    valid_from=AT - timedelta(days=3),
    confidence=0.9,
    importance=0.8,
    surprise=0.1,
    tier=MemoryTier.LONG_TERM,
    sensitivity=Sensitivity.CONFIDENTIAL,
    stability=Stability.VERIFIED,
    state=State.ACTIVE,
    access=3,
    sessions=2,
    used_at=AT,
    valid_until=AT + timedelta(days=1),
    superseded_at=AT + timedelta(days=2),
    supersedes=("a", "b"),
    contradicts=("c",),
    derived_from=("d",),
    expires_at=AT + timedelta(days=30),
    pinned=True,
    wrong="Ann tests with nose",
    entities=("Ann", "pytest"),
    device="laptop",
    preview=12,
    core="Ann tests with pytest",
)


async def learn(journal: SqlJournal, *memories: object, **more: object) -> None:
    facts = tuple(each for each in memories if isinstance(each, Fact))
    others = tuple(each for each in memories if not isinstance(each, Fact))
    await journal.learn(Lesson(0, facts, others, **more))  # type: ignore[arg-type]


async def test_a_fact_comes_back_whole(journal: SqlJournal) -> None:
    await learn(journal, WHOLE)
    (found,) = await journal.facts([WHOLE.id])
    assert found == WHOLE
    assert found.recorded_at.utcoffset() == timedelta(hours=-8)


@pytest.mark.sqlite
async def test_columns_in_another_order_are_refused_and_one_more_at_the_end_is_not(tmp_path: Path) -> None:
    async def changed(*statements: str) -> None:
        await open_journal(tmp_path).close()
        connection = sqlite3.connect(tmp_path / "store" / "journal.sqlite")
        for statement in statements:
            connection.execute(f"ALTER TABLE facts {statement}")
        connection.close()

    await changed("ADD COLUMN mood TEXT")
    await changed("RENAME COLUMN wrong TO other", "RENAME COLUMN device TO wrong", "RENAME COLUMN other TO device")
    with pytest.raises(StoreFault, match="stand in another order"):
        open_journal(tmp_path)


async def test_a_passage_comes_back_whole(journal: SqlJournal) -> None:
    whole = passage("what was said", turn=3, piece=1, question=True, sensitivity=Sensitivity.RESTRICTED, source=b"x")
    await learn(journal, whole)
    assert await journal.passages([whole.id]) == [whole]


async def test_a_time_without_a_zone_is_refused(journal: SqlJournal) -> None:
    with pytest.raises(ValueError, match="without its zone"):
        await learn(journal, replace(WHOLE, valid_from=AT.replace(tzinfo=None)))
    assert await journal.facts([WHOLE.id]) == []


async def test_what_is_asked_for_by_id_comes_in_that_order_and_unknown_ids_are_left_out(
    journal: SqlJournal,
) -> None:
    one, two = fact("one"), fact("two")
    await learn(journal, one, two)
    assert await journal.facts([two.id, "unknown", one.id, two.id]) == [two, one]


async def test_a_lesson_and_the_cursor_move_together(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("a")]))
    await journal.commit(exchange("e2", [user("b")]))
    number = (await journal.unlearned(1))[0].number
    with pytest.raises(ValueError, match="zone"):
        await journal.learn(Lesson(number, (fact("good"), fact("bad", valid_from=AT.replace(tzinfo=None)))))
    assert [told.id for told in await journal.unlearned(9)] == ["e1", "e2"]
    assert await journal.facts_of([owner()]) == []
    await journal.learn(Lesson(number, (fact("good"),), (passage("a"),), {owner(): 2}, {owner(): {7: 1}}))
    assert [told.id for told in await journal.unlearned(9)] == ["e2"]
    assert [each.text for each in await journal.facts_of([owner()])] == ["good"]
    assert (await journal.counts()).behind == 1


async def test_a_lesson_that_was_learned_before_changes_nothing(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("a")]))
    number = (await journal.unlearned(1))[0].number
    lesson = Lesson(number, (fact("x"),), (), {owner(): 1}, {owner(): {7: 1}})
    await journal.learn(lesson)
    await journal.learn(replace(lesson, facts=(fact("y"),)))
    assert [each.text for each in await journal.facts_of([owner()])] == ["x"]
    assert await journal.rarity([owner()], [7]) == TermRarity(1, {7: 1})


async def test_active_facts_come_newest_first_and_no_more_than_asked_for(journal: SqlJournal) -> None:
    facts = [fact(str(n), recorded_at=AT + timedelta(minutes=n)) for n in range(5)]
    await learn(journal, *reversed(facts), fact("old", state=State.SUPERSEDED))
    assert [each.text for each in await journal.facts_of([owner()], 3)] == ["4", "3", "2"]


async def test_facts_are_found_by_the_beginning_of_their_id_or_by_what_they_hold(journal: SqlJournal) -> None:
    one = fact("Uses 100% PNPM", id="aaaa1111-0000-0000-0000-000000000000")
    two = fact("Deploys on Friday", id="bbbb2222-0000-0000-0000-000000000000", wrong="on Monday", state=State.ARCHIVED)
    await learn(journal, one, two, fact("Uses pnpm", scope=BOB))
    for text, expected in (
        ("pnpm", [one]), ("aaaa", [one]), ("monday", [two]), ("100%", [one]), ("1_0%", []), ("%", [one]), ("zzz", []),
    ):  # fmt: skip
        assert await journal.find_facts([owner()], text) == expected, text


async def test_the_newest_of_all_owners_are_found_first(journal: SqlJournal) -> None:
    held = [
        fact(f"lamp {number}", scope=(ANN, BOB)[number % 2], recorded_at=AT + timedelta(minutes=number))
        for number in range(6)
    ]
    named = fact("anchor", id="1a3b0000-0000-0000-0000-000000000000", recorded_at=AT + timedelta(hours=1))
    await learn(journal, *reversed(held), named)
    both = [owner(), owner(BOB)]
    assert [each.text for each in await journal.find_facts(both, "lamp", 3)] == ["lamp 5", "lamp 4", "lamp 3"]
    assert [each.text for each in await journal.find_facts([owner(BOB)], "LAMP")] == ["lamp 5", "lamp 3", "lamp 1"]
    assert await journal.find_facts(both, "1a3b", 1) == [named]
    assert await journal.find_facts([owner(BOB)], "1a3b") == []


@pytest.mark.sqlite
async def test_texts_are_looked_through_in_their_order_without_the_rest_of_the_facts(journal: SqlJournal) -> None:
    said = QUERIES["facts_holding"].replace("?", "'x'", 3).replace("?", "10")
    plan = [told for *_, told in rows(journal, f"EXPLAIN QUERY PLAN {said}")]
    assert "USING COVERING INDEX facts_texts" in plan[0]
    assert "USE TEMP B-TREE FOR ORDER BY" not in plan, "all of them would be sorted"


async def test_a_fact_is_pinned_and_let_go(journal: SqlJournal) -> None:
    one = fact("x")
    await learn(journal, one)
    assert await journal.pin(one.id, True)
    assert (await journal.facts([one.id]))[0].pinned
    assert await journal.pin(one.id, False)
    assert not (await journal.facts([one.id]))[0].pinned
    assert not await journal.pin("unknown", True)


async def test_a_fact_is_written_anew_only_where_it_is_known(journal: SqlJournal) -> None:
    one = fact("x")
    assert not await journal.update(one)
    await learn(journal, one)
    assert await journal.update(replace(one, text="y", importance=0.9))
    assert await journal.facts([one.id]) == [replace(one, text="y", importance=0.9)]


async def test_only_use_strengthens_and_a_session_counts_once(journal: SqlJournal) -> None:
    one = fact("x", session="s1")
    await learn(journal, one)
    later = AT + timedelta(hours=1)
    await shown(journal, one.id, "s2", AT, used=False)
    assert (await journal.facts([one.id]))[0] == one
    await shown(journal, one.id, "s1", AT, used=True)
    await shown(journal, one.id, "s2", AT, used=True)
    await shown(journal, one.id, "s2", later, used=True)
    (told,) = await journal.facts([one.id])
    assert (told.access, told.sessions, told.used_at) == (4, 2, later)


async def test_neighbours_come_in_the_order_of_the_talk(journal: SqlJournal) -> None:
    pieces = [passage(f"{turn}.{piece}", turn=turn, piece=piece) for turn in range(6) for piece in (1, 0)]
    await learn(journal, *pieces, passage("elsewhere", turn=2, session="s2"), passage("other", turn=2, scope=BOB))
    near = await journal.neighbours([("s1", 2)], 1, [owner()])
    assert [each.text for each in near] == ["1.0", "1.1", "2.0", "2.1", "3.0", "3.1"]


async def test_rarity_is_counted_over_the_owners_that_are_asked_for(journal: SqlJournal) -> None:
    big = 2**32 - 1
    await learn(journal, documents={"a": 10, "b": 5}, terms={"a": {1: 4, big: 1}, "b": {1: 2}})
    await learn(journal, documents={"a": 1}, terms={"a": {1: 1}})
    assert await journal.rarity(["a"], [1, big, 9]) == TermRarity(11, {1: 5, big: 1})
    assert await journal.rarity(["a", "b"], [1]) == TermRarity(16, {1: 7})
    assert await journal.rarity(["c"], [1]) == TermRarity(0, {})
    await learn(journal, documents={"a": -11}, terms={"a": {1: -5}})
    assert await journal.rarity(["a"], [1, big]) == TermRarity(0, {big: 1})


async def test_tombstones_are_known_again(journal: SqlJournal) -> None:
    await journal.tombstone([b"1", b"2"], AT)
    await journal.tombstone([b"2"], AT)
    assert await journal.is_forgotten([b"2", b"3"]) == frozenset({b"2"})


async def test_the_key_is_made_once(tmp_path: Path) -> None:
    first = open_journal(tmp_path)
    key = first.key()
    await first.set_meta("x", b"y")
    await first.close()
    again = open_journal(tmp_path)
    assert again.key() == key
    assert len(key) == 32
    assert await again.meta("x") == b"y"
    assert await again.meta("z") is None
    await again.close()


scopes = st.builds(
    Scope, org=st.sampled_from([None, "o"]), user=st.sampled_from(["a", "b", "%", "a/b"]), project=st.sampled_from("pq")
)


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(scopes, st.sampled_from(list(Layer))), max_size=12), scopes)
def test_nothing_of_another_owner_ever_comes_back(told: list[tuple[Scope, Layer]], asking: Scope) -> None:
    async def run(folder: Path) -> None:
        journal = open_journal(folder)
        facts, passages = [], []
        for scope, layer in told:
            its = scope.owner(layer)
            if its is None:
                continue
            facts.append(fact("same words", owner=its))
            passages.append(passage("same words", owner=its))
        await learn(journal, *facts, *passages, documents={each.owner: 1 for each in facts})
        ids, visible = [each.id for each in facts] + [each.id for each in passages], asking.owners()
        mine = {each.id for each in facts if each.owner in visible}
        assert {each.id for each in await journal.facts_of(visible)} == mine
        assert {each.id for each in await journal.find_facts(visible, "words")} == mine
        assert {each.id for each in await journal.facts(ids, visible)} == mine
        assert all(each.owner in visible for each in await journal.passages(ids, visible))
        assert all(each.owner in visible for each in await journal.neighbours([("s1", 0)], 9, visible))
        assert (await journal.rarity(visible, [])).documents == len({e.owner for e in facts if e.owner in visible})
        theirs = mine | {each.id for each in passages if each.owner in visible}
        hour = timedelta(hours=1)
        learnt, said = await journal.between(visible, AT - hour, AT + hour, 99)
        assert {each.id for each in learnt} | {each.id for each in said} == theirs
        assert {*await journal.newest(visible, 99)} == theirs
        gone = await journal.forget(ids, AT, visible)
        assert {each.id for each in gone.facts} == mine
        assert {each.id for each in await journal.facts(ids)} == {each.id for each in facts} - mine
        await journal.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


async def test_no_owner_at_all_sees_nothing(journal: SqlJournal) -> None:
    await learn(journal, fact("x"), fact("y", scope=BOB))
    assert await journal.facts_of([]) == []
    assert await journal.find_facts([], "x") == []
    assert await journal.facts([fact("x").id], []) == []
    assert ANN.owners()
