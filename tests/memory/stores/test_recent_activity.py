"""Who was here last, and what they learned last."""

from __future__ import annotations

from datetime import timedelta

from memory.ports import Lesson
from memory.scope import Layer, Scope
from memory.stores.journal import SqlJournal
from tests.memory.stores.derived_facts import ANN, AT, BOB, fact, owner, passage, session


async def test_the_places_of_the_sessions_seen_last_come_first_and_each_once(journal: SqlJournal) -> None:
    for number, scope in enumerate((ANN, BOB, ANN)):
        await journal.enter(session(f"s{number}", scope, seen_at=AT + timedelta(hours=number)), [])
    assert await journal.latest_scopes(5) == [ANN, BOB]
    assert await journal.latest_scopes(1) == [ANN]


async def test_what_was_learned_in_no_session_has_a_place_too(journal: SqlJournal) -> None:
    away = Scope("a/b", "zoë k", "ship")
    shared = away.owner(Layer.USER)
    assert shared is not None
    await journal.enter(session("s1", BOB), [])
    await journal.learn(Lesson(0, documents={owner(ANN): 2, owner(away): 5, owner(BOB): 1, shared: 9}))
    assert await journal.latest_scopes(5) == [BOB, away, ANN]


async def test_the_newest_facts_come_before_the_newest_passages(journal: SqlJournal) -> None:
    facts = [fact(f"Fact {n}.", recorded_at=AT + timedelta(days=n)) for n in range(6)]
    passages = [passage(f"Passage {n}.", turn=n) for n in range(6)]
    await journal.learn(Lesson(0, tuple(facts), tuple(passages), {owner(): 12}))
    found = [each.id for each in reversed(facts)], [each.id for each in reversed(passages)]
    assert await journal.newest([owner()], 4) == [*found[0][:2], *found[1][:2]]
    assert await journal.newest([owner()], 9) == [*found[0][:4], *found[1][:5]]
    assert await journal.newest([owner()], 99) == [*found[0], *found[1]]


async def test_facts_take_the_room_that_passages_leave_and_the_other_way_round(journal: SqlJournal) -> None:
    facts = [fact(f"Fact {n}.") for n in range(6)]
    passages = [passage(f"Passage {n}.", scope=BOB, turn=n) for n in range(6)]
    await journal.learn(Lesson(0, tuple(facts), tuple(passages), {owner(ANN): 6, owner(BOB): 6}))
    assert len(await journal.newest([owner(ANN)], 5)) == 5
    assert len(await journal.newest([owner(BOB)], 5)) == 5


async def test_nothing_of_another_owner_is_the_newest(journal: SqlJournal) -> None:
    mine, theirs = fact("Mine."), fact("Theirs.", scope=BOB)
    passages = passage("Mine."), passage("Theirs.", scope=BOB, turn=1)
    await journal.learn(Lesson(0, (mine, theirs), passages, {owner(ANN): 2, owner(BOB): 2}))
    assert await journal.newest([owner(ANN)], 10) == [mine.id, passages[0].id]
    assert await journal.newest(["up:/nobody/boat"], 10) == []
