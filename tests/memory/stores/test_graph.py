"""Names and the memories that they stand in, by owner, for as long as the memories are there."""

from __future__ import annotations

from memory.context.graph import names_in
from memory.ports import Graph, Lesson, Tally
from memory.stores.journal import SqlJournal
from tests.memory.stores.derived_facts import ANN, AT, BOB, fact, owner, passage

OWNS = fact("Petra owns the Heron cluster.", id="5e3f0a52-0000-4000-8000-000000000001")
MOVED = passage("I hear that Petra moved to Graz.", id="5e3f0a52-0000-4000-8000-000000000002")
THEIRS = fact("We know that Petra likes Basel.", id="5e3f0a52-0000-4000-8000-000000000003", scope=BOB)


async def filed(journal: SqlJournal) -> None:
    await journal.learn(Lesson(0, (OWNS, THEIRS), (MOVED,)))
    due = await journal.graph_due(10)
    assert {each.id for each in due} == {OWNS.id, MOVED.id, THEIRS.id}
    await journal.file_names({each.id: (each.owner, names_in(each)) for each in due})
    assert await journal.graph_due(10) == []


async def test_a_lesson_brings_its_names_along(journal: SqlJournal) -> None:
    assert await journal.graph_due(10) == []
    names = {each.id: names_in(each) for each in (OWNS, MOVED)}
    await journal.learn(Lesson(0, (OWNS,), (MOVED,), names=names))
    assert await journal.graph_due(10) == []
    assert set((await journal.graph([owner(ANN)], ["petra"], [])).names) == {OWNS.id, MOVED.id}
    # One without names is due all the same.
    await journal.learn(Lesson(0, (THEIRS,), names={}))
    assert await journal.graph_due(10) == [THEIRS]


async def count(journal: SqlJournal, table: str) -> int:
    return int(await journal._db.read(lambda c: c.execute(f"SELECT count(*) FROM {table}").fetchone()[0]))


async def test_the_part_around_a_name_goes_two_names_far(journal: SqlJournal) -> None:
    await filed(journal)
    graph = await journal.graph([owner(ANN)], ["heron"], [])
    assert set(graph.names) == {OWNS.id, MOVED.id}
    assert graph.degrees["petra"] == 2 and graph.degrees["heron"] == 1


async def test_nobody_sees_the_names_of_another_owner(journal: SqlJournal) -> None:
    await filed(journal)
    assert THEIRS.id not in (await journal.graph([owner(ANN)], ["petra"], [])).names
    assert set((await journal.graph([owner(BOB)], ["petra"], [])).names) == {THEIRS.id}
    assert await journal.graph([owner(BOB)], ["heron"], []) == Graph()


async def test_what_is_forgotten_leaves_the_graph_and_takes_its_names_along(journal: SqlJournal) -> None:
    await filed(journal)
    await journal.forget([MOVED.id], AT, [owner(ANN)])
    assert set((await journal.graph([owner(ANN)], ["petra"], [])).names) == {OWNS.id}
    assert "graz" not in await journal._db.read(lambda c: [row[0] for row in c.execute("SELECT name FROM names")])
    await journal.forget([OWNS.id], AT, [owner(ANN)])
    await journal.forget([THEIRS.id], AT, [owner(BOB)])
    assert [await count(journal, table) for table in ("names", "named", "graph_due")] == [0, 0, 0]


async def test_what_was_forgotten_meanwhile_is_not_filed(journal: SqlJournal) -> None:
    await journal.learn(Lesson(0, (OWNS,), ()))
    [due] = await journal.graph_due(10)
    await journal.forget([OWNS.id], AT, [owner(ANN)])
    await journal.file_names({due.id: (due.owner, names_in(due))})
    assert await count(journal, "names") == 0


async def test_a_changed_text_is_filed_anew(journal: SqlJournal) -> None:
    from dataclasses import replace

    await filed(journal)
    await journal.update(replace(OWNS, text="Otto owns the Heron cluster."))
    assert [each.id for each in await journal.graph_due(10)] == [OWNS.id]


async def test_a_name_of_very_many_memories_gives_no_part(journal: SqlJournal) -> None:
    facts = tuple(fact(f"We asked Petra about thing {n}.") for n in range(70))
    await journal.learn(Lesson(0, facts, ()))
    await journal.file_names({each.id: (each.owner, ["petra"]) for each in facts})
    graph = await journal.graph([owner(ANN)], ["petra"], [facts[0].id])
    assert graph.names == {} and graph.degrees == {"petra": 70}


async def test_how_the_legs_have_done_is_kept_for_each_owner(journal: SqlJournal) -> None:
    await journal.tally("u:/ann", {"coverage": Tally(1.5, 2.0)})
    await journal.tally("u:/ann", {"coverage": Tally(2.5, 2.0), "graph": Tally(0.1, 0.0)})
    assert await journal.tallies("u:/ann") == {"coverage": Tally(2.5, 2.0), "graph": Tally(0.1, 0.0)}
    assert await journal.tallies("u:/bob") == {}


async def test_names_stand_beside_each_other_in_the_memories_of_their_owner_alone(journal: SqlJournal) -> None:
    await filed(journal)
    beside = await journal.names_beside([owner(ANN)], "petra", 10)
    assert set(beside) == {OWNS.id, MOVED.id} and set(beside[OWNS.id]) >= {"petra", "heron"}
    assert len(await journal.names_beside([owner(ANN)], "petra", 1)) == 1
    assert await journal.names_beside([owner(BOB)], "heron", 10) == {}
    most = await journal.names_most([owner(ANN)], 2)
    assert next(iter(most)) == "petra" and most["petra"] == 2 and len(most) == 2
    assert "heron" not in await journal.names_most([owner(BOB)], 10) and await journal.names_most([], 10) == {}
