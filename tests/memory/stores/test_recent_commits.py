"""What is at hand is what the database says: of exchanges, of what waits for the index and the graph, of research."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memory.learning.research import ObservedExchange
from memory.ports import Journaled, Lesson, Overview
from memory.services.lessons.indexing import lesson_of
from memory.session import ShownMemory
from memory.stores.journal import SqlJournal
from memory.stores.recent_commits import LATE, CommittedExchange, RecentCommits
from tests.memory.stores.derived_facts import AT, assistant, exchange, open_journal, passage, session, user

MADE = {(user("a").digest, 0): Overview(900, "a line", "a few lines", 12)}


async def behind(journal: SqlJournal) -> tuple[list[Journaled], list[Journaled], list[ObservedExchange]]:
    """What all three workers have still to read."""
    return await journal.unlearned(100), await journal.untiered(100), await journal.unobserved(100)


@pytest.mark.sqlite  # a database has one server at a time
async def test_what_was_just_committed_is_read_as_it_is_stored(tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    said = [user("hi")]
    for number in range(5):
        shown = [ShownMemory("m1", "text", 0.5, {"cosine": 0.5}, 3)] if number % 2 else []
        await journal.commit(
            exchange(f"e{number}", said, f"reply {number}", of=session(f"s{number // 3}"), shown=shown)
        )
        said += [assistant(f"reply {number}"), user(f"and {number}?")]
        if number == 1:
            # From here on it is known how far each of them is.
            await journal.learn(Lesson(2))
            await journal.write_overviews(2, "u:/ann", MADE)
            await journal.write_research([], 2)
    other = open_journal(tmp_path)
    unlearned, untiered, unobserved = await behind(other)
    assert (len(unlearned), len(untiered), len(unobserved)) == (3, 3, 5), "the last cursor is written late"
    assert await behind(journal) == (unlearned, untiered, unobserved[2:])
    await journal.learn(Lesson(5))
    assert await journal.unlearned(100) == await other.unlearned(100) == []
    await other.close()
    await journal.close()


@pytest.mark.sqlite
async def test_a_cursor_behind_which_nothing_came_is_written_now_and_then_and_at_the_end(tmp_path: Path) -> None:
    journal, other = open_journal(tmp_path), open_journal(tmp_path)
    for number in range(1, LATE + 11):
        await journal.commit(exchange(f"e{number}", [user(f"hi {number}")], of=session(f"s{number}")))
        await journal.write_overviews(number, "u:/ann", {})
        assert await journal.untiered(100) == []
    assert len(await other.untiered(100)) == 9, "those of the last few are looked at again after a crash"
    await journal.close()
    assert await other.untiered(100) == []
    await other.close()


@pytest.mark.sqlite
@pytest.mark.parametrize("forgotten", [True, False], ids=["after a forget", "after a crash"])
async def test_a_worker_gets_on_with_what_is_not_at_hand(forgotten: bool, tmp_path: Path) -> None:
    journal = open_journal(tmp_path)
    for number in range(1, LATE + 9):
        await journal.commit(exchange(f"e{number}", [user(f"hi {number}")], of=session(f"s{number}")))
    if forgotten:
        await journal.write_overviews(1, "u:/ann", MADE)
        await journal.forget(["none"], AT)
    else:
        journal = open_journal(tmp_path)
    seen = list[int]()
    while (waiting := await journal.untiered(LATE // 2)) and len(seen) < 2 * LATE:
        seen += [each.number for each in waiting]
        await journal.write_overviews(seen[-1], "u:/ann", {})
    assert seen == list(range(2 if forgotten else 1, LATE + 9))
    await journal.close()


def test_what_is_not_at_hand_without_a_gap_is_not_told() -> None:
    newly = RecentCommits(room=3)
    assert newly.behind("learned", 10) is None, "where the worker is, is not known"
    newly.moved("learned", 1)
    for number in range(2, 6):
        newly.written(number)
        newly.remember(CommittedExchange(number, "", 1, "main", AT, "m", 200, (), None, True, None, (), b""))
    assert newly.behind("learned", 10) is None, "2 is gone"
    newly.moved("learned", 2)
    assert [each.number for each in newly.behind("learned", 2) or ()] == [3, 4]
    newly.written(6)
    assert newly.behind("learned", 10) is None, "6 is being written"
    newly.clear()
    assert newly.behind("learned", 1) is None
    newly.moved("learned", 6)
    assert newly.behind("learned", 10) == []


@pytest.mark.parametrize("kept_open", [True, False])
async def test_what_waits_is_told_whenever_something_came(tmp_path: Path, kept_open: bool) -> None:
    journal = open_journal(tmp_path)
    await journal.switch_generation((await journal.begin_generation("e", 4)).number)
    for number in range(3):
        assert (await journal.unindexed(10)).ids == () and await journal.graph_due(10) == []
        told = lesson_of(0, [], [said := passage(f"said {number}")])
        await journal.learn(replace(told, names={}))  # with its names the graph would have it already
        if not kept_open:
            await journal.close()
            journal = open_journal(tmp_path)
        assert (await journal.unindexed(10)).passages == (said,)
        assert await journal.graph_due(10) == [said]
        await journal.mark_indexed([said.id])
        await journal.file_names({said.id: (said.owner, ["Ida"])})
    await journal.close()
