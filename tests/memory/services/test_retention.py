"""What is older than a person wants to keep goes, and nothing where all is kept for ever."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory.bootstrap import open_memory
from memory.policy import Policies, Unkept
from memory.provenance import SHELVES
from memory.services.retention import RetentionWorker
from memory.settings import (
    JournalSettings,
    KeepingSettings,
    LearningSettings,
    MemorySettings,
    PolicySettings,
    ResearchSettings,
)
from tests import rooms
from tests.memory.services.person.test_commands import unguarded
from tests.memory.stores.derived_facts import exchange, session, user

NOW = datetime(2026, 3, 4, 15, 30, tzinfo=UTC)


class Journal:
    """Notes what it was asked to let go of, of the memories and the people that there are."""

    def __init__(self, *people: str) -> None:
        self.asked: list[tuple[datetime, tuple[str, ...], list[str]]] = []
        self.deleted: list[Unkept] = []
        self._people = list(people)

    async def delete_old(
        self,
        before: datetime,
        works: Sequence[str],
        rest: Callable[[], Awaitable[None]],
        people: Collection[str] | None = None,
    ) -> tuple[int, int]:
        self.asked.append((before, tuple(works), sorted(people or ())))
        await rest()
        return 3, 5

    async def people(self) -> list[str]:
        return self._people

    async def owners(self) -> list[str]:
        return [*self._people, *(f"up:{each[2:]}/loom" for each in self._people), "p:acme/loom", "o:acme"]

    async def delete_unkept(self, unkept: Unkept, sort: str) -> int:
        if unkept in self.deleted:
            return 0
        self.deleted.append(unkept)
        return 2

    async def scrub_deleted(self) -> None:
        pass


@contextlib.asynccontextmanager
async def nobody_rests() -> AsyncIterator[None]:
    yield


def worker(journal: Journal, policies: Policies, changed: set[str] | None = None) -> RetentionWorker:
    def told(owners: frozenset[str]) -> None:
        if changed is not None:
            changed.update(owners)

    return RetentionWorker(policies, journal, ("learned", "tiered"), unguarded, lambda: NOW, nobody_rests, told)


async def test_what_is_older_than_so_many_days_goes() -> None:
    journal = Journal("u:/ann")
    assert await worker(journal, Policies({}, 30)).delete_expired() == (3, 5)
    assert journal.asked == [(NOW - timedelta(days=30), ("learned", "tiered"), ["u:/ann"])]
    assert await worker(journal, Policies({}, 30)).delete_memories() == 0


async def test_without_a_setting_all_is_kept_for_ever() -> None:
    journal = Journal("u:/ann")
    retaining = worker(journal, Policies({}))
    retaining.start()
    assert await retaining.delete_expired() == (0, 0)
    assert await retaining.delete_memories() == 0
    await retaining.stop()
    assert journal.asked == [] and journal.deleted == []


async def test_an_organisation_and_one_of_its_people_have_days_of_their_own() -> None:
    journal = Journal("u:acme/ada", "u:acme/bob", "u:/eve", "u:other/kim")
    ada = KeepingSettings(keep_days=7, keep_memories_days=10)
    acme = PolicySettings(keep_days=90, keep_memories_days=300, users={"ada": ada})
    changed: set[str] = set()
    retaining = worker(journal, Policies({"acme": acme}, 365), changed)
    assert await retaining.delete_expired() == (9, 15)
    assert {(NOW - before).days: people for before, _, people in journal.asked} == {
        7: ["u:acme/ada"],
        90: ["u:acme/bob"],
        365: ["u:/eve", "u:other/kim"],
    }
    await retaining.delete_memories()
    ages = {each.owner: (NOW - each.before).days for each in journal.deleted if each.before}
    quarantine = {f"{shelf}{owner}": days for owner, days in ages.items() if ":" in owner[:3] for shelf in SHELVES}
    assert ages == quarantine | {
        "u:acme/ada": 10,
        "up:acme/ada/loom": 10,
        "u:acme/bob": 300,
        "up:acme/bob/loom": 300,
    }
    # What was approved for many does not age.
    assert changed == {"u:acme/ada", "up:acme/ada/loom", "u:acme/bob", "up:acme/bob/loom"}


async def test_memories_of_a_kind_have_days_of_their_own() -> None:
    journal = Journal("u:acme/ada")
    acme = PolicySettings(keep_kinds_days={"task": 30, "passage": 60})
    await worker(journal, Policies({"acme": acme})).delete_memories()
    asked = [each for each in journal.deleted if each.owner == "u:acme/ada"]
    assert [(each.kind, (NOW - each.before).days) for each in asked if each.before] == [("", 60), ("task", 30)]


async def test_what_a_policy_does_not_let_be_kept_goes_also_where_it_is_shared() -> None:
    journal = Journal("u:acme/ada", "u:/eve")
    await worker(journal, Policies({"acme": PolicySettings(restricted=False)})).delete_memories()
    owners = ("u:acme/ada", "up:acme/ada/loom", "p:acme/loom", "o:acme")
    assert [each for each in journal.deleted if "quarantine" not in each.owner] == [
        Unkept(owner, restricted=True, person="u:acme/ada" if "ada" in owner else "") for owner in owners
    ]


@pytest.mark.parametrize("enabled", [False, True])
async def test_a_work_that_is_switched_off_is_not_waited_for(tmp_path: Path, enabled: bool) -> None:
    settings = MemorySettings(
        journal=JournalSettings(keep_days=30),
        learning=LearningSettings(enabled=enabled),
        research=ResearchSettings(enabled=enabled),
    )
    memory = await open_memory(settings, tmp_path, unguarded)
    assert memory is not None
    long_ago = NOW - timedelta(days=2000)
    of = session(started_at=long_ago, seen_at=long_ago)
    await memory.exchange_journal._journal.commit(exchange("e1", [user("use pnpm")], "noted", of=of, at=long_ago))
    await memory.learner.catch_up()
    await memory.tier_worker.catch_up()
    await rooms.subagents(memory).worker.catch_up()
    assert await memory.retention.delete_expired() == (1, 2)
    await memory.close()
