"""Past its time a memory goes unmarked, and no request waits for it: told by a clock of the test's own.

Where it must not be shown is waited for a little, and held back while that is not known."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from memory.checkout import Checkout, LearnedAt
from memory.fact import Fact, Origin
from memory.features.checkouts import feature as feature_module
from memory.features.checkouts.feature import STAGE_SECONDS, CheckoutsFeature
from memory.hooks import chain
from memory.hooks.feature import Core, MemoryMark
from memory.ports import Lesson
from memory.scope import Layer, Scope
from memory.session import Arrival, RequestKind, Session
from memory.settings import MemorySettings
from memory.stores.journal import SqliteJournal
from tests.memory.features.checkouts.repository import Repository
from tests.memory.stores.derived_facts import fact

SCOPE = Scope(None, "ada", "loom")
AT = datetime(2026, 3, 4, tzinfo=UTC)
LATER = datetime(2026, 3, 5, tzinfo=UTC)
T = TypeVar("T")
UNUSED: Any = None
"""What this feature asks nothing of."""


class Clock:
    """Stands still, but for what each look at it takes."""

    def __init__(self) -> None:
        self.now = 0.0
        self.each = 0.0

    def __call__(self) -> float:
        self.now += self.each
        return self.now


async def patient_guard(
    awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str
) -> tuple[T, str]:
    return await asyncio.wait_for(awaitable, timeout_seconds), ""


@dataclass(slots=True)
class Looked:
    """The feature, three facts that hold in the checkout, and where they are asked for."""

    core: Core
    clock: Clock
    feature: CheckoutsFeature
    session: Session
    facts: list[Fact]
    root: str
    before: Mapping[str, float] = field(default_factory=dict)

    async def arrive(self, at: datetime) -> None:
        """A request arrives, and what it cites has been looked at."""
        await self.feature.arrived(self.session, self.arrival(at))
        self.feature.sight._reading.submit(int).result()

    async def marks(self, at: datetime = LATER, seconds: float = chain.MARK_SECONDS) -> Mapping[str, MemoryMark]:
        return await self.feature.marks(self.session, self.arrival(at), self.facts, seconds)

    def arrival(self, at: datetime) -> Arrival:
        return Arrival(SCOPE, RequestKind.MAIN, "test", "n", at, checkout=self.root)

    def counted(self, name: str) -> float:
        """How many went unmarked for a reason."""
        return self.feature.metrics()[f"{name}_total"] - self.before.get(f"{name}_total", 0.0)

    @property
    def late(self) -> float:
        return self.counted("late")


@pytest.fixture
async def looked(tmp_path: Path) -> AsyncIterator[Looked]:
    repository = Repository(tmp_path / "loom")
    repository.write("src/queue.py", "def drain_jobs(limit):\n    return limit\n")
    commit = repository.commit("a queue")
    root, clock = str(repository.root), Clock()
    journal = SqliteJournal(tmp_path / "journal.db", lambda text: text)
    core = Core(MemorySettings(), journal, lambda: "", lambda: AT, tmp_path, UNUSED, UNUSED)
    feature = CheckoutsFeature(core, clock)
    owner = SCOPE.owner(Layer.USER_PROJECT) or ""
    text = "The function drain_jobs in src/queue.py takes {} jobs."
    facts = [replace(fact(text.format(each)), id=f"f{each}", owner=owner) for each in range(3)]
    here = Checkout(root, "main", commit)
    await journal.learn(Lesson(0, tuple(facts), checkout=here, learnt={each.id: False for each in facts}))
    found = Looked(core, clock, feature, Session("s", "s", SCOPE, "test", AT, AT), facts, root)
    await feature.arrived(found.session, found.arrival(AT))
    view = feature.sight.view(root)
    assert view is not None
    await feature.upkeep.look_into_new(view)
    # What is cited is looked up once, as behind a first request; then a next one arrives, and finds it.
    await found.marks(AT, seconds=60.0)
    await found.arrive(LATER)
    found.before = feature.metrics()
    yield found
    await journal.close()


async def test_in_its_time_each_is_marked(looked: Looked) -> None:
    marks = await looked.marks()
    assert [marks[each.id].words[:11] for each in looked.facts] == ["holds as of"] * 3
    assert not looked.late


async def test_once_its_time_is_over_the_rest_goes_unmarked(looked: Looked) -> None:
    looked.clock.each = chain.MARK_SECONDS * 0.4
    marks = await looked.marks()
    assert 0 < len(marks) < len(looked.facts)
    assert looked.late == len(looked.facts) - len(marks)


class Late:
    """A journal that answers when it is let, and fails before when it is told to."""

    def __init__(self, journal: SqliteJournal) -> None:
        self.journal = journal
        self.begun, self.answers = asyncio.Event(), asyncio.Event()
        self.asked = 0
        self.fails = False

    async def learnt(self, memories: Sequence[str]) -> dict[str, LearnedAt]:
        self.asked += 1
        self.begun.set()
        if self.fails:
            raise OSError("no connection")
        await self.answers.wait()
        return await self.journal.learnt(memories)


@pytest.fixture
def late(looked: Looked) -> Late:
    """The journal answers late from now on, and nothing of it is at hand."""
    journal = Late(looked.core.journal)
    looked.feature.rows._journal = journal
    looked.feature.rows.written()
    return journal


async def on_a_branch(looked: Looked) -> Fact:
    """A fact that was learnt on a branch, beside the others."""
    held = replace(looked.facts[0], id="staged", text="The queue drains twice.")
    here = Checkout(looked.root, "twice", "")
    await looked.core.journal.learn(Lesson(1, (held,), checkout=here, learnt={held.id: True}))
    looked.facts.append(held)
    return held


async def test_what_may_be_of_a_branch_is_held_back_until_that_is_known(looked: Looked, late: Late) -> None:
    staged = await on_a_branch(looked)
    everywhere = replace(looked.facts[0], id="everywhere", owner=SCOPE.owner(Layer.USER) or "")
    of_a_file = replace(looked.facts[0], id="file", origin=Origin.FILE)
    asked = [*looked.facts]
    looked.facts += everywhere, of_a_file
    for _ in range(2):
        assert await looked.marks() == dict.fromkeys([each.id for each in asked], MemoryMark(weight=0.0))
    assert late.asked == 1, "the same is not asked for again while it is being read"
    assert (looked.counted("held"), looked.late) == (2 * len(asked), 2 * 2)
    late.answers.set()
    marks = await looked.marks()
    assert [each.id for each in looked.facts if each.id in marks and not marks[each.id].weight] == [staged.id]
    assert [marks[each.id].words[:11] for each in asked[:3]] == ["holds as of"] * 3
    assert late.asked == 1 and looked.counted("held") == 2 * len(asked)


async def test_what_was_read_behind_a_request_is_at_hand_for_the_next_one(looked: Looked, late: Late) -> None:
    await on_a_branch(looked)
    await looked.marks()
    reads = [*looked.feature.rows._tasks]
    late.answers.set()
    await asyncio.gather(*reads)
    late.fails = True
    assert len(await looked.marks()) == len(looked.facts)
    assert late.asked == 1 and not looked.feature.rows._tasks


async def test_a_journal_that_answers_after_the_time_for_citations_is_waited_for(looked: Looked, late: Late) -> None:
    staged = await on_a_branch(looked)
    marking = asyncio.create_task(looked.marks())
    await late.begun.wait()
    looked.clock.now += chain.MARK_SECONDS * 2
    late.answers.set()
    marks = await marking
    assert [id for id, mark in marks.items() if not mark.weight] == [staged.id]
    assert len(marks) == len(looked.facts) and not looked.late and not looked.counted("held")


async def test_a_request_that_is_given_up_does_not_end_the_read(looked: Looked, late: Late) -> None:
    marking = asyncio.create_task(looked.marks())
    await late.begun.wait()
    marking.cancel()
    await asyncio.wait({marking})
    late.answers.set()
    assert len(await looked.marks()) == len(looked.facts) and late.asked == 1


async def test_what_was_read_while_something_was_written_is_not_kept(looked: Looked, late: Late) -> None:
    await looked.marks()
    looked.feature.rows.written()
    late.answers.set()
    await looked.marks()
    assert late.asked == 2


async def test_a_read_that_fails_is_logged_and_done_again(
    looked: Looked, late: Late, caplog: pytest.LogCaptureFixture
) -> None:
    late.fails = True
    with caplog.at_level(logging.WARNING):
        marks = await looked.marks()
    assert all(not marks[each.id].weight for each in looked.facts)
    assert "could not be read: OSError" in caplog.text
    late.fails = False
    late.answers.set()
    marks = await looked.marks()
    assert all(marks[each.id].weight for each in looked.facts)


async def test_a_read_that_is_under_way_ends_with_the_feature(looked: Looked, late: Late) -> None:
    await looked.marks()
    await looked.feature.stop()
    assert not looked.feature.rows._tasks


async def test_what_is_checked_out_is_waited_for_where_something_holds_on_a_branch(
    looked: Looked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_module, "STAGE_SECONDS", 60.0)
    staged, evening = await on_a_branch(looked), LATER.replace(hour=20)
    looked.feature.rows.written()
    busy = threading.Event()
    looked.feature.sight._reading.submit(busy.wait)
    try:
        await looked.feature.arrived(looked.session, looked.arrival(evening))
        marking = asyncio.ensure_future(looked.marks(evening))
        for _ in range(50):
            await asyncio.sleep(0)
        waits = not marking.done()
    finally:
        busy.set()
    marks = await marking
    assert waits, "the branch that it was learnt on has no commit of its own, and the same is checked out as on main"
    assert marks[staged.id] == MemoryMark(weight=0.0)


def test_a_stage_is_waited_for_no_longer_than_a_feature_has() -> None:
    assert STAGE_SECONDS < chain.MARK_FAILS


async def test_without_any_time_a_memory_of_a_branch_is_not_shown(looked: Looked) -> None:
    staged = await on_a_branch(looked)
    features = chain.Features([looked.feature], patient_guard, mark_seconds=0.0)
    marks = await features.marks(looked.session, looked.arrival(LATER), looked.facts)
    assert marks == {staged.id: MemoryMark(weight=0.0)}


async def test_with_cold_caches_a_first_request_goes_unmarked_and_the_second_is_marked(looked: Looked) -> None:
    looked.feature, looked.before = CheckoutsFeature(looked.core, looked.clock), {}
    free = threading.Event()
    looked.feature.sight._reading.submit(free.wait)
    await looked.feature.arrived(looked.session, looked.arrival(AT))
    assert await looked.marks(AT) == {}
    assert (looked.counted("not_at_hand"), looked.late) == (len(looked.facts), 0)
    free.set()
    await looked.arrive(LATER)
    marks = await looked.marks()
    assert [marks[each.id].words[:11] for each in looked.facts] == ["holds as of"] * 3
    assert (looked.counted("not_at_hand"), looked.late) == (len(looked.facts), 0)


async def test_none_waits_for_a_look_that_began_and_has_not_ended(looked: Looked) -> None:
    evening = LATER.replace(hour=20)
    stuck = asyncio.Event()
    loop = asyncio.get_running_loop()
    looked.feature.sight._reading.submit(lambda: asyncio.run_coroutine_threadsafe(stuck.wait(), loop).result())
    arriving = asyncio.create_task(looked.feature.arrived(looked.session, looked.arrival(evening)))
    await asyncio.sleep(0)
    marking = asyncio.create_task(looked.marks(evening))
    await asyncio.sleep(0)
    assert marking.done(), "it went on without giving up the loop once"
    assert marking.result() == {}
    assert (looked.counted("not_at_hand"), looked.late) == (len(looked.facts), 0)
    stuck.set()
    await arriving
