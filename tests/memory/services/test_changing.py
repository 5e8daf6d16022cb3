"""What becomes of facts of changing value, over a real journal and a real index: a clear change ends what it names,
what is about a part ends nothing however often it is said, and of what cannot be known both sides are shown.

Behind each sentence of a case stands what becomes of it in the end: ``-`` it has ended; ``+`` it holds, and nothing
contradicts it; ``~`` it holds, and is shown beside what contradicts it; ``/`` one of ``-`` and ``~``: it is never
answered alone; ``?`` one of ``~`` and ``+``.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest_asyncio

from memory.context.pack import SCOPED
from memory.fact import Origin, State
from memory.learning.extract import extract
from memory.scope import Layer, Scope
from tests.fake_provider import fake_provider
from tests.running import Running, running

BEGAN = datetime(2026, 11, 2, 9, tzinfo=UTC)

CHANGES = """
We use Jest for tests. - | We switched from Jest to Vitest for tests. +
We use Jest for unit tests. - | We switched from Jest to Vitest for our tests. +
Our tests run on Jest. - | We switched from Jest to Vitest for our tests. +
We use Jest for tests. - | Our tests run on Jest. - | We switched from Jest to Vitest for our tests. +
We use Jest for tests. - | We switched from Jest to Vitest. - | We switched back from Vitest to Jest. +
The API uses PostgreSQL. - | We migrated the API to SQLite from PostgreSQL. +
The release manager is Priya. - | The release manager is now Anna. +
The release manager is Priya. - | Tomas replaced Priya as release manager. +
The release manager is Priya. - | Priya handed the release manager role to Tomas. +
Bob owns billing. - | Carol took over billing from Bob. +
The project is called Loom. - | We renamed the project from Loom to Weft. +
The budget is 4000 dollars. - | The budget is now 5000 dollars. +
The staging server listens on port 8080. - | The staging server now listens on port 9090. +
Our repository is on GitLab. - | We moved our repository from GitLab to GitHub. +
We deploy on Fridays. - | We no longer deploy on Fridays. +
The bus is Kafka. - | We replaced Kafka with NATS as the bus. +
We use npm. - | We moved from npm to pnpm for licensing reasons. +
Backups run at 3 am. - | Nightly backups now run at 4 am. +
Backups start at 3 am. - | Backups start at 4 am now. +
The standup starts at 10. - | The standup now starts at 11. +
Deploys run on Mondays. - | Deploys of the docs run on Tuesdays. + | Deploys now run on Wednesdays. +
I live in Berlin. - | I moved to Lisbon from Berlin. +
We use Redis for the cache. - | We use Redis for the queue. + | We replaced Redis with Valkey for the cache. +
We no longer use Redis. - | We use Redis again. +
We switched from Jest to Vitest. - | We are back on Jest. +
We deploy on Fridays. - | We deploy on Mondays now. +
I work at Acme. - | I now work at Globex. +
We use Jest for tests. - | We now use Vitest for tests. +
The lead is Ann. - | Bob is the lead now. +
The billing API is written in Kotlin. - | The billing API is now written in Rust. +
We use Node 18. / | We upgraded to Node 20. ?
Our test framework is Jest. / | We switched from Jest to Vitest. ?
"""
"""What is clearly a change."""

PARTS = """
Deploys run on Mondays. + | Deploys of the docs run on Tuesdays. + | Deploys of the docs run on Tuesdays. +
The release manager is Priya. ~ | The docs release manager is Tomas. ~ | The docs release manager is Tomas. ~
The docs release manager is Tomas. ~ | The release manager is Priya. ~ | The release manager is Priya. ~
The release manager is Priya. - | The docs release manager is Tomas. ~ | The release manager is now Anna. ~
The timeout is 30 seconds. ~ | The billing timeout is now 60 seconds. ~ | The billing timeout is now 60 seconds. ~
We use Jest for tests. ~ | We switched from Jest to Vitest for our unit tests. ~
We use Redis. ~ | We switched from Redis to Valkey for the cache. ~ | We switched from Redis to Valkey for the cache. ~
We use npm. ~ | We switched the docs site from npm to pnpm. ~
We deploy on Fridays. ~ | We no longer deploy the docs on Fridays. ~ | We no longer deploy the docs on Fridays. ~
Use tabs for indentation. ~ | Don't use tabs for indentation in Go. ~ | Don't use tabs for indentation in Go. ~
We use Redis for the queue. + | We switched from Redis to Memcached for the cache. +
The staging port is 8080. + | The production port is 9090. +
Backups run at 3 am. + | Weekly backups run on Sundays. + | Backups run at 3 am. +
Backups run at 3 am. / | Weekly backups run at 5 am. / | Nightly backups now run at 4 am. /
We use Jest for tests. ~ | We now use Vitest for unit tests. ~
I drink coffee. ~ | I no longer drink coffee in the evening. ~
Don't use mocks. ~ | Use mocks for the payment gateway. ~ | Use mocks for the payment gateway. ~
Deploys run on Mondays. ~ | Deploys run on Tuesdays only for the docs. ~
The cluster has 3 nodes. ~ | The staging cluster has 5 nodes. ~ | The staging cluster has 5 nodes. ~
We switched from Jest to Vitest. + | We still use Jest for e2e tests. +
We always squash commits. ~ | We no longer squash commits in the infra repo. ~
Use tabs for indentation. ? | Use spaces for indentation in Python. ?
"""
"""What is about a part."""

DOUBTS = """
The release manager is Priya. ~ | The release manager is Tomas. ~
The release manager is Priya. - | The release manager is Tomas. + | The release manager is Tomas. +
The release manager is Priya. ~ | Alice says the release manager is now Tomas. ~
The release manager is Priya. ~ | Next month we switch the release manager from Priya to Tomas. ~
We use Jest for tests. ~ | We plan to switch from Jest to Vitest for tests. ~
We switched from Jest to Vitest for tests. ~ | We use Jest for tests. ~
The gate opens at 6 in the morning. / | The gate opens at 7 in the morning. ?
Backups run at 3 am. ~ | Nightly backups run at 4 am. ~
The npm registry token is in the vault. ~ | We switched from npm to pnpm. ~
"""
"""What cannot be known."""

OTHERS = """
The registry token lies in the vault. + | The registry mirror lies in Oslo. +
The standup starts at 10. + | The standup is on Mondays. +
We deploy on Fridays. + | We deploy to AWS. +
We use React. + | We now use PostgreSQL. +
We use npm. - | The npm registry token is in the vault. + | We switched from npm to pnpm. +
We use Jest for tests. + | We never switched from Jest to Vitest. +
We use Jest for tests. + | We didn't move from Jest to Vitest. +
We switched from Jest to Vitest. + | The Jest snapshots fail again. +
We use Redis for caching. + | We also use Memcached for caching. +
I work at Initech. + | My brother works at Globex now. +
Redis has three nodes. + | Kafka has five nodes. +
The login service listens on port 8080. + | The billing service listens on port 9090. +
"""
"""What has nothing to do with each other."""

EITHER = {"/": ("-", "~"), "?": ("~", "+")}
CASES = [
    [(said[:-2], said[-1]) for said in line.split(" | ")]
    for line in (CHANGES + PARTS + DOUBTS + OTHERS).splitlines()
    if line
]


@pytest_asyncio.fixture
async def proxy(tmp_path: Path) -> AsyncIterator[Running]:
    hours = itertools.count()
    async with (
        fake_provider() as provider,
        running(provider, tmp_path, now=lambda: BEGAN + timedelta(minutes=next(hours))) as proxy,
    ):
        yield proxy


async def became(proxy: Running, project: str) -> dict[str, str]:
    """What has become of each of a project's sentences."""
    memory = proxy.edge.memory
    assert memory is not None
    told = await memory.commands.facts([f"up:/local/{project}", "u:/local"], states=frozenset(State))
    active = {fact.id for fact in told if fact.state is State.ACTIVE}
    marks: dict[str, str] = {}
    for fact in sorted(told, key=lambda fact: fact.id in active):
        contested = fact.id in active and not active.isdisjoint(fact.contradicts)
        marks[fact.text] = "-" if fact.id not in active else "~" if contested else "+"
    return marks


def astray(case: Sequence[tuple[str, str]], marks: dict[str, str]) -> list[str]:
    """A line of what has become otherwise than it should; none where nothing has."""
    wanted = dict(case)
    if all(marks.get(text) in EITHER.get(mark, (mark,)) for text, mark in wanted.items()):
        return []
    return [" | ".join(f"{text} {mark} is {marks.get(text, 'unknown')}" for text, mark in wanted.items())]


async def test_what_a_person_says_to_memory_itself(proxy: Running) -> None:
    memory = proxy.edge.memory
    assert memory is not None
    wrong: list[str] = []
    for number, case in enumerate(CASES):
        for text, _ in case:
            await memory.commands.remember(text, Scope(user="local", project=f"p{number}"))
        wrong += astray(case, await became(proxy, f"p{number}"))
    assert not wrong, "\n".join(["", *wrong])


async def test_what_is_said_in_sessions(proxy: Running) -> None:
    cases: dict[str, list[tuple[str, str]]] = {}
    for number, case in enumerate(CASES):
        drafts = [extract(text, Origin.USER, BEGAN) for text, _ in case]
        if all(len(each) == 1 and each[0].layer is Layer.USER_PROJECT and not each[0].unsure for each in drafts):
            cases[f"p{number}"] = case
    assert len(cases) > 20
    # Of each project in turn its next sentence: every one is learnt before the next of its project is said.
    for place in range(max(map(len, cases.values()))):
        for project, case in cases.items():
            if place < len(case):
                await proxy.chat(case[place][0], session=f"{project}.{place}", project=project)
        await proxy.learned()
    wrong = [line for project, case in cases.items() for line in astray(case, await became(proxy, project))]
    assert not wrong, "\n".join(["", *wrong])


async def test_a_rule_and_its_exception_are_shown_together(proxy: Running) -> None:
    memory = proxy.edge.memory
    assert memory is not None
    for text in ("We use Jest for tests.", *["We switched from Jest to Vitest for our unit tests."] * 2):
        await memory.commands.remember(text, Scope(user="local", project="loom"))
    for question in ("Which test framework do we use?", "What do we test with, Jest?"):
        explained = await memory.commands.explain(question, ["up:/local/loom", "u:/local"], 600)
        assert SCOPED in explained.text
        assert "Jest for tests" in explained.text and "Vitest for our unit tests" in explained.text


async def test_what_is_confirmed_of_a_part_ends_no_whole_and_neither_the_other_way_round(proxy: Running) -> None:
    memory = proxy.edge.memory
    assert memory is not None
    scope = Scope(user="local", project="loom")
    whole = await memory.commands.remember("The release manager is Priya.", scope)
    part = await memory.commands.remember("The docs release manager is Tomas.", scope)
    for each in (part, whole):
        await memory.fact_reviser.confirm(each.id, scope.owners())
        assert await became(proxy, "loom") == {whole.text: "~", part.text: "~"}
    other = await memory.commands.remember("The release manager is Anna.", scope)
    await memory.fact_reviser.confirm(other.id, scope.owners())
    assert (await became(proxy, "loom"))[whole.text] == "-"
    assert (await became(proxy, "loom"))[part.text] == "~"
