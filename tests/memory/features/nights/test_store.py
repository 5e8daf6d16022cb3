"""Nights in the journal: applied whole, told, taken back to the byte, and silent about what was forgotten."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import replace
from datetime import UTC, date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from memory.candidate import CandidateKind, Proposal
from memory.edits import ContentTier as ContentTier
from memory.fact import Fact, MemoryTier, State
from memory.features.nights.consolidation.compaction import ShortenedMemory, ShortenedPassage
from memory.features.nights.consolidation.diff import ChangeAction, Diff, FactChange, PlannedNight, Touch, read, written
from memory.features.nights.store import NightStore, NotUndone
from memory.ports import Lesson, SummaryLine
from memory.stores.journal import SqliteJournal
from tests import fresh_journal
from tests.memory.features.nights.consolidation.making import NOW, night, stores
from tests.memory.stores.derived_facts import ANN, AT, BOB, fact, owner, passage, rows, shown
from tests.sparse_files import read_written

LATER = AT + timedelta(days=1)
OWNER = owner(ANN)
RULE = Proposal("rule", CandidateKind.KNOWLEDGE, "a", "Use tabs", "Use tabs", "correction", 6, 4, ("a",))


def dump(journal: SqliteJournal) -> list[tuple[Any, ...]]:
    """Every column of every fact, and who used it."""
    facts = rows(journal, "SELECT * FROM facts ORDER BY id")
    return facts + rows(journal, "SELECT * FROM uses ORDER BY memory, session")


def holding(folder: Path, said: bytes) -> list[Path]:
    """The files that hold some bytes."""
    return [file for file in folder.rglob("*") if file.is_file() and said in read_written(file)]


async def taught(journal: SqliteJournal, *facts: Fact) -> None:
    await journal.learn(Lesson(0, facts, documents={OWNER: len(facts)}))


def merging(whole: Fact, part: Fact) -> FactChange:
    joined = Touch(whole, whole_after(whole, part))
    return FactChange(ChangeAction.MERGE, "the same", (joined, Touch(part, changed(part, state=State.ARCHIVED))))


def whole_after(whole: Fact, part: Fact) -> Fact:
    return changed(whole, access=whole.access + part.access, sessions=2, used_at=LATER, supersedes=(part.id,))


def changed(fact: Fact, **fields: Any) -> Fact:
    return replace(fact, **fields)


def drawn(lead: Fact, other: Fact) -> FactChange:
    gist = changed(lead, id="gist", tier=MemoryTier.LONG_TERM, derived_from=(lead.id, other.id), supersedes=(lead.id,))
    return FactChange(
        ChangeAction.GIST, "2 facts", (Touch(None, gist), Touch(lead, changed(lead, state=State.ARCHIVED)))
    )


def planned(
    *changes: FactChange, lines: tuple[SummaryLine, ...] = (), candidates: tuple[Proposal, ...] = ()
) -> PlannedNight:
    return PlannedNight(Diff(OWNER, changes, lines, candidates), LATER, len(changes), 10, 5)


async def test_a_night_is_applied_told_and_taken_back_to_the_byte(journal: SqliteJournal) -> None:
    a, b, c = fact("Use tabs", id="a"), fact("Use tabs!", id="b", session="s2"), fact("Tabs in code", id="c")
    await taught(journal, a, b, c)
    await shown(journal, "a", "s9", AT, used=True)
    [a] = await journal.facts(["a"])
    before = dump(journal)
    joined = whole_after(a, b)
    number = await journal.part(NightStore).apply_night(planned(merging(a, b), drawn(joined, c)))
    after = {each.id: each for each in await journal.facts(["a", "b", "c", "gist"])}
    assert after["a"].state is State.ARCHIVED and after["b"].state is State.ARCHIVED
    assert after["gist"].derived_from == ("a", "c") and after["gist"].text == a.text
    [held] = await journal.part(NightStore).nights([OWNER])
    assert (held.number, held.changes) == (number, {"merge": 1, "gist": 1})
    assert (await journal.part(NightStore).undo_night(number, LATER)) == {OWNER}
    assert dump(journal) == before
    assert (await journal.part(NightStore).nights([OWNER]))[0].undone_at == LATER
    with pytest.raises(NotUndone, match="already"):
        await journal.part(NightStore).undo_night(number, LATER)
    with pytest.raises(NotUndone, match="no night"):
        await journal.part(NightStore).undo_night(99, LATER)


async def test_the_index_lets_go_of_what_is_archived_and_takes_it_back(journal: SqliteJournal) -> None:
    generation = await journal.begin_generation("static", 4)
    a, b = fact("Use tabs", id="a"), fact("Use tabs!", id="b")
    await taught(journal, a, b)
    await journal.mark_indexed(["a", "b"], generation.number)
    number = await journal.part(NightStore).apply_night(planned(drawn(a, b)))
    lag = await journal.unindexed(10, generation.number)
    assert lag.gone == ("a",) and [each.id for each in lag.facts] == ["gist"]
    await journal.mark_indexed(lag.ids, generation.number)
    await journal.part(NightStore).undo_night(number, LATER)
    lag = await journal.unindexed(10, generation.number)
    assert lag.gone == ("gist",) and [each.id for each in lag.facts] == ["a"]
    again = await journal.begin_generation("static", 4)
    await journal.part(NightStore).apply_night(planned(merging(a, b)))
    assert [each.id for each in (await journal.unindexed(10, again.number)).facts] == ["a"]


async def test_a_change_is_passed_over_where_something_else_has_happened(journal: SqliteJournal) -> None:
    a, b = fact("Use tabs", id="a"), fact("Use tabs!", id="b")
    await taught(journal, a, b)
    await journal.pin("b", True)
    before = dump(journal)
    await journal.part(NightStore).apply_night(planned(merging(a, b)))
    assert dump(journal) == before
    [held] = await journal.part(NightStore).nights([OWNER])
    assert held.passed_over == 1 and held.changes == {}


async def test_what_was_only_counted_meanwhile_is_counted_in(journal: SqliteJournal) -> None:
    a, b = fact("Use tabs", id="a"), fact("Use tabs!", id="b")
    await taught(journal, a, b)
    await shown(journal, "a", "s7", LATER + timedelta(hours=1), used=True)
    number = await journal.part(NightStore).apply_night(planned(merging(a, b)))
    [held] = await journal.facts(["a"])
    assert held.access == 3 and held.sessions == 3 and held.used_at == LATER + timedelta(hours=1)
    await shown(journal, "a", "s8", LATER, used=True)
    await journal.part(NightStore).undo_night(number, LATER)
    [held] = await journal.facts(["a"])
    assert held.access == 3 and held.sessions == 3 and held.supersedes == ()


async def test_nights_are_taken_back_in_their_order(journal: SqliteJournal) -> None:
    a, b, c = fact("Use tabs", id="a"), fact("Use tabs!", id="b"), fact("Use tabs!!", id="c")
    await taught(journal, a, b, c)
    before = dump(journal)
    first = await journal.part(NightStore).apply_night(planned(merging(a, b)))
    [a] = await journal.facts(["a"])
    second = await journal.part(NightStore).apply_night(planned(merging(a, c)))
    with pytest.raises(NotUndone, match=f"night {second} "):
        await journal.part(NightStore).undo_night(first, LATER)
    await journal.part(NightStore).undo_night(second, LATER)
    await journal.part(NightStore).undo_night(first, LATER)
    assert dump(journal) == before


async def test_courtesies_that_were_left_out_since_keep_no_night_from_being_taken_back(journal: SqliteJournal) -> None:
    await journal.learn(Lesson(0, passages=(passage("Thanks, Bo! We sold the boat.", id="p"),)))
    short, left_out = ShortenedMemory("p", 11), ShortenedPassage("p", ((0, 12),))
    first = await journal.part(NightStore).apply_night(PlannedNight(Diff(OWNER, previews=(short,)), LATER))
    second = await journal.part(NightStore).apply_night(PlannedNight(Diff(OWNER, plain=(left_out,)), LATER))
    await journal.part(NightStore).undo_night(first, LATER)
    [held] = await journal.passages(["p"])
    assert (held.preview, held.gaps) == (0, left_out.gaps)
    await journal.part(NightStore).undo_night(second, LATER)
    [held] = await journal.passages(["p"])
    assert held.gaps == ()


async def test_what_was_forgotten_does_not_come_back(journal: SqliteJournal, tmp_path: Path) -> None:
    a, b = fact("The code is Marmalade", id="a"), fact("The code is Marmalade!", id="b")
    await taught(journal, a, b)
    line = SummaryLine(date(2026, 3, 4), ContentTier.L1, "s1", "The code is Marmalade", "a")
    number = await journal.part(NightStore).apply_night(planned(merging(a, b), lines=(line,)))
    gone = await journal.forget(["a"], LATER)
    assert {each.id for each in gone.facts} == {"a", "b"}
    await journal.part(NightStore).undo_night(number, LATER)
    assert await journal.facts(["a", "b"]) == []
    assert await journal.summaries([OWNER], "2026-01-01", "2026-12-31") == []
    assert not holding(tmp_path, b"Marmalade")


async def test_the_source_that_stays_takes_part_again_when_the_gist_goes(journal: SqliteJournal) -> None:
    a, b = fact("Use tabs", id="a"), fact("Tabs in code", id="b")
    await taught(journal, a, b)
    await journal.part(NightStore).apply_night(planned(drawn(a, b)))
    gone = await journal.forget(["b"], LATER)
    assert {each.id for each in gone.facts} == {"b", "gist"}
    assert await journal.facts(["a", "b", "gist"]) == [a]


async def test_lines_and_candidates_are_kept_with_their_night(journal: SqliteJournal) -> None:
    a, said = fact("Use tabs", id="a"), passage("Let us begin", id="p")
    await journal.learn(Lesson(0, (a,), (said,)))
    lines = tuple(
        SummaryLine(date(2026, 3, 4), tier, "s1", f"text of {memory}", memory, 0.5)
        for tier in (ContentTier.L1, ContentTier.L0)
        for memory in ("a", "p", "unknown")
    )
    number = await journal.part(NightStore).apply_night(planned(lines=lines, candidates=(RULE,)))
    held = await journal.summaries([OWNER], "2026-03-04", "2026-03-04")
    assert [(line.tier, line.memory) for line in held] == [("L1", "a"), ("L1", "p"), ("L0", "a"), ("L0", "p")]
    _, told, [candidate] = await journal.part(NightStore).night_changes(number)
    assert len(told) == 4 and candidate.why == "6 corrections in 4 sessions" and candidate.text == "Use tabs"
    assert await journal.summaries([owner(BOB)], "2026-03-04", "2026-03-04") == []
    await journal.part(NightStore).undo_night(number, LATER)
    assert await journal.summaries([OWNER], "2026-03-04", "2026-03-04") == []


async def test_what_waits_already_is_put_forward_again_only_when_there_is_more_for_it(journal: SqliteJournal) -> None:
    await taught(journal, fact("Use tabs", id="a"))
    first = await journal.part(NightStore).apply_night(planned(candidates=(RULE,)))
    assert await journal.part(NightStore).apply_night(planned(candidates=(replace(RULE, id="other"),))) == 0
    assert [night.number for night in await journal.part(NightStore).nights([OWNER])] == [first]
    more = await journal.part(NightStore).apply_night(
        planned(candidates=(replace(RULE, id="third", sources=RULE.sources + 1),))
    )
    _, _, [told] = await journal.part(NightStore).night_changes(more)
    assert (told.id, told.sources) == (RULE.id, RULE.sources + 1)


async def test_facts_of_another_owner_are_never_touched(journal: SqliteJournal) -> None:
    a, b = fact("Use tabs", id="a", scope=BOB), fact("Use tabs!", id="b", scope=BOB)
    await taught(journal, a, b)
    before = dump(journal)
    await journal.part(NightStore).apply_night(planned(merging(a, b)))
    assert dump(journal) == before


async def test_nothing_to_do_leaves_no_night_but_moves_on(journal: SqliteJournal) -> None:
    assert await journal.part(NightStore).apply_night(planned()) == 0
    assert await journal.part(NightStore).nights([OWNER]) == []


async def test_when_the_last_night_was_is_known_and_how_much_was_said_since(journal: SqliteJournal) -> None:
    await journal.learn(Lesson(0, (), (passage("Let us begin"),)))
    assert await journal.part(NightStore).last_night() == (None, 1)
    await journal.part(NightStore).mark_night(LATER)
    await journal.learn(Lesson(0, (), (passage("Let us go on"), passage("And on"))))
    assert await journal.part(NightStore).last_night() == (LATER, 2)


def test_a_planned_night_is_written_and_read_without_loss() -> None:
    a = fact("Use tabs", id="a", source=b"\x00\xff", entities=("Ann",), expires_at=LATER)
    b = fact("Use tabs!", id="b", used_at=LATER.astimezone(UTC))
    line = SummaryLine(date(2026, 3, 4), ContentTier.L0, "s1", "text", "a", 0.5)
    whole = planned(merging(a, b), drawn(a, b), lines=(line,), candidates=(RULE,))
    assert read(written(whole)) == whole


@settings(max_examples=12, deadline=None)
@given(stores())
def test_any_night_is_taken_back_to_the_byte(facts: list[Fact]) -> None:
    async def apply_and_undo(folder: Path) -> None:
        fresh_journal.put(folder / "journal.db")
        journal = SqliteJournal(folder / "journal.db", str)
        try:
            await taught(journal, *facts)
            before = dump(journal)
            diff, after = night(facts)
            number = await journal.part(NightStore).apply_night(PlannedNight(diff, NOW))
            assert {each.id: each for each in await journal.facts(list(after))} == after
            if number:
                assert (await journal.part(NightStore).nights([OWNER]))[0].passed_over == 0
                await journal.part(NightStore).undo_night(number, NOW)
            assert dump(journal) == before
        finally:
            await journal.close()

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(apply_and_undo(Path(folder)))
