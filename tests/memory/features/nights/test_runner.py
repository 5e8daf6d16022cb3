"""A night over a real journal and a real index, planned in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import sys
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
import pytest_asyncio

from memory.bootstrap import open_memory
from memory.fact import Fact, FactKind, MemoryTier, State, Stream
from memory.features.nights import planner
from memory.features.nights.consolidation.diff import PlannedNight
from memory.features.nights.planner import VectorFolder, plans
from memory.features.nights.runner import (
    GRACE,
    ROOT,
    Job,
    NightFailed,
    NightInProgress,
    NightRunner,
    PlannerProcess,
    when_due,
)
from memory.features.nights.snapshots import Snapshots
from memory.features.nights.store import NotUndone
from memory.language.static_embedding import StaticEmbedding
from memory.parts import Memory
from memory.ports import Lesson, Query
from memory.scope import Layer
from memory.settings import LearningSettings, MemorySettings, NightSettings
from memory.stores import point_table, vector_snapshot
from memory.stores.index_edge import EdgeIndex
from tests import rooms
from tests.memory.stores.derived_facts import ANN, BOB, fact, owner, passage

T = TypeVar("T")
NOW = datetime(2026, 3, 10, 4, 0, tzinfo=UTC)
AGO = NOW - timedelta(days=3)


async def unguarded(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    """A guard that lets every fault through, so that a test sees it."""
    return await awaitable, ""


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    settings = MemorySettings(learning=LearningSettings(), night=NightSettings(enabled=False))
    opened = await open_memory(settings, tmp_path, unguarded)
    assert opened is not None
    rooms.plan_nights_here(opened)
    yield opened
    await opened.close()


async def taught(memory: Memory, *facts: Fact) -> None:
    await memory.learner.remember(facts)


def dump(memory: Memory) -> list[Any]:
    with sqlite3.connect(memory.home / "journal.db") as connection:
        return [
            connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
            for table in ("facts", "uses", "terms", "owners")
        ]


CORRECTIONS = ("Use pnpm to install packages, not npm", "Install packages with pnpm in every workspace")


def lessons() -> list[Fact]:
    return [
        fact("Always run the unit tests before a push", id=uuid(1), recorded_at=AGO),
        fact("Always run the unit tests before a push.", id=uuid(2), session="s2", recorded_at=AGO),
        fact("The staging server listens on port 8080", id=uuid(3), recorded_at=AGO, valid_from=AGO),
        fact("The staging server now listens on port 9090", id=uuid(4), session="s2", recorded_at=AGO, valid_from=NOW),
        *(
            fact(text, id=uuid(5 + n), session=f"s{n}", recorded_at=AGO, kind=FactKind.CORRECTION, importance=0.9)
            for n, text in enumerate(CORRECTIONS)
        ),
    ]


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


async def test_a_night_consolidates_is_listed_and_is_taken_back_to_the_byte(memory: Memory) -> None:
    await taught(memory, *lessons())
    nights, before = in_a_process(memory), dump(memory)
    dry = await nights.run(dry=True)
    assert dump(memory) == before and [number for number, _ in dry.nights] == [0]
    outcome = await nights.run()
    [(number, planned)] = outcome.nights
    assert {change.action for change in planned.diff.changes} == {"merge", "supersede", "gist"}
    after = {each.id: each for each in await memory.journal.facts([uuid(n) for n in range(1, 9)])}
    assert after[uuid(3)].state is State.SUPERSEDED
    assert {after[uuid(1)].state, after[uuid(2)].state} == {State.ACTIVE, State.ARCHIVED}
    [night] = await rooms.nights(memory).store.nights([owner(ANN)])
    assert night.number == number and night.looked == 6 and night.passed_over == 0
    await rooms.nights(memory).runner.undo(number)
    assert dump(memory) == before
    with pytest.raises(NotUndone):
        await rooms.nights(memory).runner.undo(number)


async def test_a_second_night_changes_nothing(memory: Memory) -> None:
    await taught(memory, *lessons())
    assert (await rooms.nights(memory).runner.run()).nights
    before = dump(memory)
    again = await rooms.nights(memory).runner.run()
    assert again.nights == () and dump(memory) == before
    everything = await rooms.nights(memory).runner.run(since=AGO - timedelta(days=1))
    assert everything.nights == () and dump(memory) == before


async def test_what_a_night_archived_is_not_found_and_what_it_made_is(memory: Memory) -> None:
    await taught(memory, *lessons())
    await rooms.nights(memory).runner.run()
    await memory.learner.catch_up()
    found = {each.id: each.memory for each in await memory.commands.search("install packages", [owner(ANN)])}
    [knowledge] = [each for each in found.values() if isinstance(each, Fact) and each.tier is MemoryTier.LONG_TERM]
    assert set(knowledge.derived_from) == {uuid(5), uuid(6)}
    assert all(isinstance(each, Fact) and each.state is State.ACTIVE for each in found.values())


async def test_a_draft_that_nobody_decided_is_put_away_after_a_month_and_had_back(memory: Memory) -> None:
    now = datetime.now(UTC)
    old = fact("Landing is 4400 now", id=uuid(1), state=State.DRAFT, recorded_at=now - timedelta(days=31))
    young = fact("The quay is closed", id=uuid(2), state=State.DRAFT, recorded_at=now - timedelta(days=29))
    kept = fact("The lock opens at six", id=uuid(3), state=State.DRAFT, recorded_at=old.recorded_at, pinned=True)
    await taught(memory, old, young, kept)
    before = dump(memory)
    [(number, planned)] = (await rooms.nights(memory).runner.run()).nights
    [change] = planned.diff.changes
    assert (change.action, change.why) == ("archive", "a draft for 31 days")
    states = {each.id: each.state for each in await memory.journal.facts([uuid(1), uuid(2), uuid(3)])}
    assert states == {uuid(1): State.ARCHIVED, uuid(2): State.DRAFT, uuid(3): State.DRAFT}
    await rooms.nights(memory).runner.undo(number)
    assert dump(memory) == before
    assert (await rooms.nights(memory).runner.run()).nights == (), "what a person had back is left alone"


async def test_much_that_is_new_is_looked_at_in_several_nights_of_which_each_builds_on_the_one_before(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.features.nights.snapshots.SLICE", 2)
    await taught(memory, *lessons())

    outcome = await rooms.nights(memory).runner.run()
    actions = [{change.action for change in planned.diff.changes} for _, planned in outcome.nights]
    assert actions == [{"merge"}, {"supersede"}, {"gist"}]
    before = dump(memory)
    assert (await rooms.nights(memory).runner.run()).nights == () and dump(memory) == before


async def test_pages_are_made_anew_once_for_all_the_nights_that_follow_one_another(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.features.nights.snapshots.SLICE", 2)
    await taught(memory, *lessons())

    pages = Counted()
    planner, store = partial(rooms.planned_here, memory), rooms.nights(memory).store
    nights = NightRunner(NightSettings(), store, planner, memory.learner, pages, unguarded, lambda: NOW)
    assert len((await nights.run()).nights) == 3
    assert pages.told.count("changed") >= 3 and pages.told.index("refresh") == len(pages.told) - 1
    told = [*pages.told]
    await nights.run(dry=True)
    assert pages.told == told


class Counted:
    """Pages that only note what they are told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def changed(self, owners: frozenset[str]) -> None:
        self.told.append("changed")

    async def refresh(self) -> None:
        self.told.append("refresh")


async def test_what_an_earlier_night_read_is_read_again_only_where_it_has_changed_since(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.features.nights.snapshots.SLICE", 1)
    same = "Always run the unit tests before a push"
    await taught(memory, *(fact(same, id=uuid(n), session=f"s{n}", recorded_at=AGO) for n in range(1, 6)))
    asked: list[set[str]] = []
    read = Snapshots.facts

    def facts(self: Snapshots, ids: Sequence[str]) -> dict[str, Fact]:
        asked.append(set(ids))
        return read(self, ids)

    monkeypatch.setattr(Snapshots, "facts", facts)
    planning = plans(memory.home / "journal.db", [owner(ANN)], NOW, NightSettings(), None)
    planned, told = next(planning), list[PlannedNight]()
    with contextlib.suppress(StopIteration):
        while True:
            told.append(planned)
            memory.journal.changed.take()
            await rooms.nights(memory).store.apply_night(planned)
            if len(told) == 3:
                await memory.commands.pin(uuid(1), [owner(ANN)], True)
            changed = memory.journal.changed.take()
            asked.append({"changed", *(changed or ())})
            planned = planning.send(changed)
    known: set[str] = set()
    for ids in asked:
        if "changed" in ids:
            known -= ids
        else:
            assert not ids & known
            known |= ids
    assert [sum(len(change.touched) for change in each.diff.changes) for each in told] == [0, 2, 2, 2, 2]
    kept = {each.id: each for each in await memory.journal.facts([uuid(n) for n in range(1, 6)])}
    assert kept[uuid(1)].pinned and kept[uuid(1)].sessions == 5
    assert all(kept[uuid(n)].state is State.ARCHIVED for n in range(2, 6))


async def test_owners_never_mix(memory: Memory) -> None:
    same = "Always run the unit tests before a push"
    await taught(memory, fact(same, id=uuid(1)), fact(same, id=uuid(2), session="s2", scope=BOB))
    assert not any(planned.diff.changes for _, planned in (await rooms.nights(memory).runner.run()).nights)
    await taught(memory, fact(same, id=uuid(3), session="s3", scope=BOB))
    assert (await rooms.nights(memory).runner.run([owner(ANN)])).nights == ()
    [(_, planned)] = (await rooms.nights(memory).runner.run()).nights
    assert planned.diff.owner == owner(BOB) and len(planned.diff.changes) == 1


async def test_what_is_forgotten_after_a_night_stays_forgotten_when_it_is_taken_back(memory: Memory) -> None:
    await taught(memory, *lessons())
    [(number, _)] = (await rooms.nights(memory).runner.run()).nights
    held = await memory.commands.alike("unit tests before a push", [owner(ANN)])
    await memory.commands.forget([each.id for each in held], [owner(ANN)])
    await rooms.nights(memory).runner.undo(number)
    assert await memory.journal.find_facts([owner(ANN)], "unit tests") == []


async def test_days_that_are_over_are_put_in_short_once(memory: Memory) -> None:
    said = passage("Let us mend the mast of the boat", id=uuid(20), at=AGO)
    await memory.journal.learn(Lesson(0, (), (said,), documents={said.owner: 1}))
    await rooms.nights(memory).runner.run()
    lines = await memory.journal.summaries([said.owner], "2026-03-01", "2026-03-31")
    assert [(line.tier, line.text) for line in lines] == [("L1", said.text), ("L0", said.text)]
    assert (await rooms.nights(memory).runner.run()).nights == ()


async def test_one_night_at_a_time(memory: Memory) -> None:
    await taught(memory, *lessons())
    night = asyncio.create_task(rooms.nights(memory).runner.run())
    await asyncio.sleep(0)
    with pytest.raises(NightInProgress):
        await rooms.nights(memory).runner.run()
    with pytest.raises(NightInProgress):
        await rooms.nights(memory).runner.undo(1)
    await night


async def test_a_process_that_fails_is_told_and_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    nights = replace_planner(memory, PlannerProcess(tmp_path / "nowhere" / "journal.db", NightSettings()))
    with pytest.raises(NightFailed, match="unable to open"):
        await nights.run()
    assert nights.outcome is not None and nights.outcome.finished and "unable to open" in nights.outcome.fault
    assert not nights.running


async def test_a_night_that_is_cancelled_ends_its_process(memory: Memory) -> None:
    await taught(memory, *lessons())
    nights, before = in_a_process(memory), dump(memory)
    night = asyncio.create_task(nights.run(dry=True))
    await asyncio.sleep(0.05)
    night.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await night
    assert not nights.running and dump(memory) == before


def in_a_process(memory: Memory) -> NightRunner:
    """Nights as they are in life."""
    return replace_planner(memory, PlannerProcess(memory.home / "journal.db", NightSettings()))


def replace_planner(memory: Memory, planner: Any) -> NightRunner:
    journal, learner, pages = rooms.nights(memory).store, memory.learner, memory.pages
    return NightRunner(NightSettings(), journal, planner, learner, pages, unguarded, lambda: NOW)


async def test_what_is_learnt_while_it_is_planned_is_not_lost(memory: Memory) -> None:
    await taught(memory, *lessons())

    async def slow(job: Job) -> AsyncIterator[PlannedNight]:
        path = memory.home / "journal.db"
        for planned in plans(path, None, NOW, NightSettings(), None):
            await memory.commands.pin(uuid(2), [owner(ANN)], True)
            await memory.learner.remember([fact("The mast is made of spruce", id=uuid(30), session="s9")])
            yield planned

    [(number, _)] = (await replace_planner(memory, slow).run()).nights
    held = {each.id: each for each in await memory.journal.facts([uuid(1), uuid(2), uuid(30)])}
    assert all(each.state is State.ACTIVE for each in held.values()) and held[uuid(2)].pinned
    [night] = await rooms.nights(memory).store.nights([owner(ANN)])
    assert night.number == number and night.passed_over == 1
    [planned] = list(plans(memory.home / "journal.db", None, NOW, NightSettings(), None))
    assert planned.looked >= 1


async def test_a_night_plans_the_same_with_vectors_that_are_kept(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((vector_snapshot, "MIN_POINTS"), (point_table, "MANY"), (planner, "MANY")):
        monkeypatch.setattr(module, name, 1)
    await taught(memory, *lessons())
    path, index = memory.home / "journal.db", memory.recall.index
    [made] = list(plans(path, None, NOW, NightSettings(), None))
    assert isinstance(index, EdgeIndex)
    await index.search(Query((owner(ANN),), None, {1: 1.0}, 1))
    while not index._snapshot.has(owner(ANN)):
        await index.count()
    monkeypatch.setattr(StaticEmbedding, "documents", lambda self, texts: np.zeros((len(texts), 256), np.float32))
    kept = VectorFolder(index.snapshot_folder, memory.embedder.name)
    [read] = list(plans(path, None, NOW, NightSettings(), None, kept))
    assert made.diff.changes
    assert [(each.action, each.why) for each in read.diff.changes] == [
        (each.action, each.why) for each in made.diff.changes
    ]
    [blind] = list(plans(path, None, NOW, NightSettings(), None, VectorFolder(index.snapshot_folder, "another")))
    assert not blind.diff.changes


async def test_a_night_of_everybody_counts_as_the_last_one_though_it_changed_nothing(memory: Memory) -> None:
    await rooms.nights(memory).runner.run(dry=True)
    await rooms.nights(memory).runner.run([owner(ANN)])
    assert (await rooms.nights(memory).store.last_night())[0] is None
    outcome = await rooms.nights(memory).runner.run()
    assert outcome.nights == () and (await rooms.nights(memory).store.last_night())[0] is not None


async def test_a_killed_night_is_there_whole_or_not_at_all(memory: Memory) -> None:
    await taught(memory, *lessons())
    before = dump(memory)
    program = (
        "import os, sqlite3, sys\n"
        "from datetime import UTC, datetime\n"
        "from pathlib import Path\n"
        "from memory.features.nights.planner import plans\n"
        "from memory.features.nights.store import NightStore\n"
        "from memory.settings import NightSettings\n"
        "from memory.stores.journal import SqliteJournal\n"
        "path = Path(sys.argv[1])\n"
        "journal = SqliteJournal(path, str)\n"
        "now = datetime(2026, 3, 10, 4, tzinfo=UTC)\n"
        "[planned] = plans(path, None, now, NightSettings(), None)\n"
        "connection = sqlite3.connect(path, isolation_level=None)\n"
        "connection.row_factory = sqlite3.Row\n"
        "connection.execute('BEGIN IMMEDIATE')\n"
        "assert journal.part(NightStore)._apply_night(connection, planned) == 1\n"
        "os.kill(os.getpid(), 9)\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(memory.home / "journal.db"), cwd=ROOT
    )
    assert await process.wait() == -9
    assert dump(memory) == before and await rooms.nights(memory).store.nights([owner(ANN)]) == []
    assert (await rooms.nights(memory).runner.run()).nights[0][0] == 1


@pytest.mark.parametrize(
    ("hours", "said", "paused", "begins"),
    [(1, 0, False, False), (30, 0, False, True), (30, 0, True, False), (1, 999, False, True), (1, 999, True, False)],
)
async def test_a_night_begins_by_itself_when_it_is_due_or_much_was_said(
    hours: int, said: int, paused: bool, begins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.features.nights.runner.LOOK_SECONDS", 0.001)
    journal = Watched(hours, said)

    async def nothing(job: Job) -> AsyncIterator[PlannedNight]:
        none: tuple[PlannedNight, ...] = ()
        for planned in none:
            yield planned

    settings = NightSettings(buffer=500)
    nights = NightRunner(settings, journal, nothing, journal, journal, unguarded, journal.now, lambda: paused)
    nights.start()
    async with asyncio.timeout(5):
        await journal.enough.wait()
    await nights.stop()
    assert (journal.marked == 1) is begins and not nights.running


async def test_a_night_by_a_clock_that_had_run_ahead_holds_no_other_up() -> None:
    journal = Watched(-9000, 0)

    async def nothing(job: Job) -> AsyncIterator[PlannedNight]:
        none: tuple[PlannedNight, ...] = ()
        for planned in none:
            yield planned

    nights = NightRunner(NightSettings(), journal, nothing, journal, journal, unguarded, journal.now)
    assert not await nights._due(journal.now() - timedelta(hours=1))
    assert await nights._due(journal.now() - timedelta(hours=30))


class Watched:
    """A journal, a worker and pages that do nothing; the last night was so many hours ago, at noon."""

    def __init__(self, hours: int, said: int) -> None:
        self.hours, self.said, self.looked, self.marked = hours, said, 0, 0
        self.started = datetime(2026, 3, 10, 12).astimezone()
        self.enough = asyncio.Event()

    def now(self) -> datetime:
        return self.started + timedelta(hours=self.looked)

    async def apply_night(self, planned: PlannedNight) -> int:
        raise AssertionError("there is nothing to apply")

    async def undo_night(self, number: int, at: datetime) -> frozenset[str]:
        raise AssertionError("there is nothing to take back")

    async def mark_night(self, at: datetime) -> None:
        self.marked, self.hours, self.said = self.marked + 1, 0, 0
        self.started = datetime(2026, 3, 10, 12).astimezone() - timedelta(hours=self.looked)

    async def last_night(self) -> tuple[datetime | None, int]:
        self.looked += 1
        if self.looked >= 5:
            self.enough.set()
        return self.started - timedelta(hours=self.hours), self.said

    async def catch_up(self) -> None: ...

    @contextlib.asynccontextmanager
    async def resting(self) -> AsyncIterator[None]:
        yield

    def wake(self) -> None: ...

    def changed(self, owners: frozenset[str]) -> None: ...

    async def refresh(self) -> None: ...


def test_a_night_is_due_by_the_schedule_and_made_up_for_after_the_start() -> None:
    at = datetime(2026, 3, 10, 12, 0).astimezone()
    assert when_due("30 3 * * *", at, at) == datetime(2026, 3, 11, 3, 30).astimezone()
    assert when_due("30 3 * * *", None, at) == datetime(2026, 3, 11, 3, 30).astimezone()
    missed = at - timedelta(days=9)
    assert when_due("30 3 * * *", missed, at) == at + GRACE


@pytest.mark.parametrize("said", ["", "every night", "61 3 * * *", "30 3 * *", "* * * * * * *"])
def test_a_schedule_that_is_none_is_refused_in_words(said: str) -> None:
    with pytest.raises(ValueError, match="five fields"):
        NightSettings(schedule=said)


def recurring(**more: Any) -> list[Fact]:
    """What one user says in two projects, in three sessions."""
    said = (("boat", "s1"), ("boat", "s2"), ("car", "s3"))
    text = "Always answer me in British English"
    return [
        fact(f"{text}{'.' * n}", id=uuid(20 + n), scope=replace(ANN, project=project), session=session, **told)
        for n, (project, session) in enumerate(said)
        for told in ({"recorded_at": AGO, "importance": 0.9, "stream": Stream.FLOW, **more},)
    ]


async def test_what_recurs_in_a_users_projects_holds_in_all_of_them_until_it_is_taken_back(memory: Memory) -> None:
    await taught(memory, *recurring(), fact("Always answer me in British English", id=uuid(30), scope=BOB))
    outcome = await rooms.nights(memory).runner.run()
    user = ANN.owner(Layer.USER) or ""
    [(number, _)] = [each for each in outcome.nights if each[1].diff.owner == user]
    before = dump(memory)
    plane = replace(ANN, project="plane")
    await memory.learner.catch_up()
    [found] = await memory.commands.facts([user])
    assert found.layer is Layer.USER and "British English" in await memory.commands.page(plane)
    assert [each.id for each in await memory.commands.search("British English", plane.owners())] == [found.id]
    assert not await memory.commands.facts([BOB.owner(Layer.USER) or ""])
    await rooms.nights(memory).runner.undo(number)
    assert await memory.commands.facts([user]) == []
    again = await rooms.nights(memory).runner.run(since=AGO - timedelta(days=1))
    assert user in {planned.diff.owner for _, planned in again.nights}
    assert len(dump(memory)[0]) == len(before[0])


async def test_a_pattern_that_a_person_has_had_forgotten_is_not_drawn_again(memory: Memory) -> None:
    await taught(memory, *recurring())
    await rooms.nights(memory).runner.run()
    user = ANN.owner(Layer.USER) or ""
    [found] = await memory.commands.facts([user])
    await memory.commands.forget([found.id], [user])
    await rooms.nights(memory).runner.run(since=AGO - timedelta(days=1))
    assert await memory.commands.facts([user]) == []


async def test_no_night_touches_what_a_person_has_approved(memory: Memory) -> None:
    shared = [
        replace(
            each, owner=ANN.owner(Layer.PROJECT) or "", layer=Layer.PROJECT, tier=MemoryTier.SHARED, confidence=0.05
        )
        for each in lessons()
    ]
    await taught(memory, *(replace(each, recorded_at=AGO - timedelta(days=9000)) for each in shared))
    before = dump(memory)
    assert (await rooms.nights(memory).runner.run()).nights == () and dump(memory) == before
