"""Past its time a memory goes unmarked, and no request waits for it: told by a clock of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.checkout import Checkout
from memory.fact import Fact
from memory.features.checkouts.feature import CheckoutsFeature
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


@dataclass(slots=True)
class Looked:
    """The feature, three facts that hold in the checkout, and where they are asked for."""

    clock: Clock
    feature: CheckoutsFeature
    session: Session
    facts: list[Fact]
    root: str
    late_before: float = 0.0

    async def marks(self, at: datetime = LATER, seconds: float = chain.MARK_SECONDS) -> Mapping[str, MemoryMark]:
        return await self.feature.marks(self.session, self.arrival(at), self.facts, seconds)

    def arrival(self, at: datetime) -> Arrival:
        return Arrival(SCOPE, RequestKind.MAIN, "test", "n", at, checkout=self.root)

    @property
    def late(self) -> float:
        """How many went unmarked for want of time."""
        return self.feature.metrics()["late_total"] - self.late_before


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
    found = Looked(clock, feature, Session("s", "s", SCOPE, "test", AT, AT), facts, root)
    await feature.arrived(found.session, found.arrival(AT))
    view = feature.sight.view(root)
    assert view is not None
    await feature.look_into_new(view)
    # What is cited is looked up once, as behind a first request; then a next one arrives, and finds it.
    await found.marks(AT, seconds=60.0)
    await feature.arrived(found.session, found.arrival(LATER))
    feature.sight._reading.submit(int).result()
    found.late_before = found.late
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


async def test_none_waits_for_a_journal_that_does_not_answer(looked: Looked) -> None:
    class Silent:
        async def learnt(self, memories: Sequence[str]) -> Any:
            await asyncio.Event().wait()

    looked.feature.rows._journal = Silent()
    looked.feature.rows.written()
    assert await looked.marks() == {}
    assert looked.late == len(looked.facts)


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
    assert looked.late == len(looked.facts)
    stuck.set()
    await arriving
