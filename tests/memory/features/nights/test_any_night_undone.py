"""The law of nights: whatever was remembered and whatever nights made of it, taken back it is the same to the byte.

Real stores and the real planner over random lives: facts said again, changed, corrected and doubted, in several
projects and sessions, habits, old talk, names; then a night, another one days later, and all of it taken back.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.behaviour import BehaviourRecord, KnownObservation
from memory.bootstrap import open_memory
from memory.fact import Category, Fact, FactKind, Origin, Passage, Sensitivity, Stability
from memory.features.nights.consolidation.diff import PlannedNight
from memory.features.nights.planner import plans
from memory.features.nights.runner import Job, NightRunner
from memory.parts import Memory
from memory.ports import Lesson
from memory.scope import Scope
from memory.settings import CandidateSettings, LearningSettings, MemorySettings, NightSettings
from proxy.cli.exporting import every_sort
from tests import rooms
from tests.memory.stores.derived_facts import fact, owner, passage

T = TypeVar("T")
NOW = datetime(2026, 3, 10, 4, 0, tzinfo=UTC)
BOAT, CAR = Scope(user="ann", project="boat"), Scope(user="ann", project="car")
EAGER = NightSettings(preview_days=30, candidates=CandidateSettings(facts=2, sessions=2))
TABLES = (
    "SELECT owner, name, degree FROM names WHERE degree > 0 ORDER BY 1, 2",
    "SELECT names.owner, names.name, memory FROM named JOIN names ON names.number = named.name ORDER BY 1, 2, 3",
    "SELECT * FROM observations ORDER BY 1, 2",
    "SELECT id, preview, gaps FROM passages ORDER BY 1",
    "SELECT * FROM summaries ORDER BY 1, 2, 3, 4, 5",
    "SELECT * FROM uses ORDER BY 1, 2",
    "SELECT * FROM terms ORDER BY 1, 2",
    "SELECT name, texts FROM owners WHERE texts > 0 ORDER BY 1",
)
SAID = (
    ("Use pnpm to install packages, not npm", "Install packages with pnpm in every workspace", "Use pnpm for packages"),
    ("The staging server listens on port 8080", "The staging server now listens on port 9090"),
    (
        "Always run the unit tests before a push",
        "Always run the unit tests before a push.",
        "Run unit tests, then push",
    ),
    ("Petra owns the Heron cluster", "Petra no longer owns the Heron cluster", "Ida owns the Heron cluster now"),
    ("I prefer tabs over spaces", "I prefer spaces over tabs"),
    ("We decided to deploy on Mondays", "We switched from Mondays to Fridays for deploys", "Deploys are on Fridays"),
)
TALK = (
    "Thanks, Bo! We went to the lake with Petra on Sunday, as we do. The water was cold, the children swam all the "
    "same, and in the evening Ida lost her silver ring on the pier, where nobody has found it since."
)


@dataclass(frozen=True)
class Life:
    """What is remembered before the nights."""

    facts: tuple[Fact, ...]
    passages: tuple[Passage, ...]
    uses: tuple[tuple[int, int], ...]


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


@st.composite
def lives(draw: st.DrawFn) -> Life:
    """A random one, in which nights find something to do."""
    facts = []
    for number in range(draw(st.integers(4, 18))):
        at = NOW - timedelta(days=draw(st.sampled_from([1, 2, 3, 9, 40, 200, 500])), minutes=number)
        texts = draw(st.sampled_from(SAID))
        origin = draw(st.sampled_from([Origin.USER, Origin.USER, Origin.PERSON, Origin.BEHAVIOUR, Origin.TOOL]))
        facts.append(
            fact(
                draw(st.sampled_from(texts)),
                id=uuid(number + 1),
                scope=draw(st.sampled_from([BOAT, BOAT, CAR])),
                session=f"s{draw(st.integers(0, 5))}",
                kind=draw(
                    st.sampled_from([FactKind.CORRECTION, FactKind.DECISION, FactKind.PREFERENCE, FactKind.FACT])
                ),
                category=draw(st.sampled_from([Category.TECHNICAL, Category.WORKFLOWS])),
                origin=origin,
                recorded_at=at,
                valid_from=at,
                importance=draw(st.sampled_from([0.1, 0.5, 0.9])),
                confidence=draw(st.sampled_from([0.2, 0.9])),
                stability=draw(st.sampled_from(list(Stability))),
                sensitivity=draw(st.sampled_from([Sensitivity.NORMAL, Sensitivity.NORMAL, Sensitivity.CONFIDENTIAL])),
                pinned=draw(st.booleans()) and number % 5 == 0,
                access=draw(st.integers(1, 4)),
            )
        )
    said = [
        passage(
            TALK,
            id=uuid(100 + number),
            scope=draw(st.sampled_from([BOAT, CAR])),
            session=f"s{number}",
            at=NOW - timedelta(days=draw(st.sampled_from([1, 3, 5, 60, 300]))),
        )
        for number in range(draw(st.integers(0, 3)))
    ]
    at = NOW - timedelta(days=draw(st.sampled_from([5, 300])))
    facts.append(fact(TALK, id=uuid(99), kind=FactKind.FACT, recorded_at=at, importance=0.9))
    shown = draw(
        st.lists(st.tuples(st.integers(1, len(facts)), st.integers(0, 3)), max_size=3, unique_by=lambda t: t[0])
    )
    return Life(tuple(facts), tuple(said), tuple(shown))


async def unguarded(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    return await awaitable, ""


async def lived(home: Path, life: Life) -> Memory:
    chosen = MemorySettings(learning=LearningSettings(), night=NightSettings(enabled=False))
    memory = await open_memory(chosen, home, unguarded)
    assert memory is not None
    await memory.learner.remember(life.facts, life.passages)
    for scope in (BOAT, CAR):
        habits = tuple(
            KnownObservation(each.owner, each.source or each.id.encode(), "habit", each.id, "{}")
            for each in life.facts
            if each.origin is Origin.BEHAVIOUR and each.owner == owner(scope)
        )
        await memory.journal.learn(Lesson(0, observed=BehaviourRecord(owner(scope), known=habits)))
    await memory.journal.restore_uses({uuid(n): {"s9": (1, used, 0)} for n, used in life.uses})
    await memory.pages.write(BOAT, "- Ann's own words")
    return memory


async def everything(memory: Memory) -> bytes:
    """Every record of an export, and what the stores hold beside it, as bytes. Which of two lines that say the same
    stands on the page depends on what stood there before, so that of the pages only the person's own words are told."""
    await memory.learner.catch_up()
    await memory.entity_graph.catch_up()
    owners = await memory.commands.everything_of(BOAT)
    told: list[Any] = [
        await memory.exporter.records(sort, each, owners) for each in sorted(owners) for sort in every_sort()
    ]
    await memory.pages.refresh()
    told += (await memory.exporter.inventory(BOAT, owners)).pages
    with sqlite3.connect(memory.home / "journal.db") as connection:
        told += [connection.execute(query).fetchall() for query in TABLES]
    return orjson.dumps(told, default=lambda value: value.hex() if isinstance(value, bytes) else str(value))


async def night_of(memory: Memory, at: datetime) -> Counter[str]:
    """Let a night pass; what it did."""

    async def here(job: Job) -> AsyncIterator[PlannedNight]:
        for planned in plans(memory.home / "journal.db", None, at, EAGER, None):
            yield planned

    nights = NightRunner(EAGER, rooms.nights(memory).store, here, memory.learner, memory.pages, unguarded, lambda: at)
    outcome = await nights.run()
    done = Counter(change.action.value for _, planned in outcome.nights for change in planned.diff.changes)
    done["candidates"] = sum(len(planned.diff.candidates) for _, planned in outcome.nights)
    done["compact"] = sum(len(planned.diff.previews) for _, planned in outcome.nights)
    done["plain"] = sum(len(planned.diff.plain) for _, planned in outcome.nights)
    done["days"] = sum(len(planned.diff.lines) for _, planned in outcome.nights)
    return done


async def there_and_back(life: Life) -> Counter[str]:
    with tempfile.TemporaryDirectory() as folder:
        memory = await lived(Path(folder), life)
        try:
            before = await everything(memory)
            done = await night_of(memory, NOW) + await night_of(memory, NOW + timedelta(days=4))
            if done:
                assert await everything(memory) != before
            owners = await memory.commands.everything_of(BOAT)
            for each in sorted(await rooms.nights(memory).store.nights(owners), key=lambda each: -each.number):
                await rooms.nights(memory).runner.undo(each.number)
            assert await everything(memory) == before
            return done
        finally:
            await memory.close()


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lives())
def test_whatever_nights_have_done_taken_back_it_is_the_same_to_the_byte(life: Life) -> None:
    asyncio.run(there_and_back(life))


@pytest.fixture
def full() -> Life:
    """A life in which nights do all that they can."""
    facts, number = [], 0
    for scope in (BOAT, CAR):
        for texts in SAID:
            for session in range(4):
                number += 1
                at = NOW - timedelta(days=3 + session, minutes=number)
                told: dict[str, Any] = {"recorded_at": at, "valid_from": at, "importance": 0.9, "confidence": 0.9}
                text = texts[session % len(texts)]
                kind = FactKind.CORRECTION if texts is SAID[0] else FactKind.FACT
                facts.append(fact(text, id=uuid(number), scope=scope, session=f"s{session}", kind=kind, **told))
    faded = fact("The old mast was pine", id=uuid(90), recorded_at=NOW - timedelta(days=3000), importance=0.01,
                 confidence=0.01, valid_from=NOW - timedelta(days=3000))  # fmt: skip
    habit = fact("After an edit the tests are run", id=uuid(91), origin=Origin.BEHAVIOUR, recorded_at=NOW)
    said = [
        passage(TALK, id=uuid(100 + n), session=f"s{n}", at=NOW - timedelta(days=days))
        for n, days in enumerate((3, 300))
    ]
    long = fact(TALK, id=uuid(92), kind=FactKind.FACT, recorded_at=NOW - timedelta(days=300), importance=0.9)
    return Life((*facts, faded, habit, long), tuple(said), ((1, 1),))


def test_the_nights_that_are_taken_back_do_all_that_nights_do(full: Life) -> None:
    done = asyncio.run(there_and_back(full))
    assert {name for name, count in done.items() if count} >= {
        "merge", "supersede", "gist", "compact", "archive", "candidates", "days", "plain",
    }  # fmt: skip
