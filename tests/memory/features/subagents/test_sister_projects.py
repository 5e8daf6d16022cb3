"""Research of an organisation's other projects: offered as such where its policy says so, and to nobody else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from memory.policy import Policies
from memory.ports import StoreError
from memory.research import Research
from memory.scope import ANY_PROJECT, OWN_PROJECT, ProjectReach, Scope
from memory.settings import PolicySettings
from tests import rooms
from tests.fake_provider import FakeProvider, fake_provider
from tests.memory.features.subagents.errands import (
    CHAT,
    PROMPT,
    REPORT,
    REWORDED,
    forwarded,
    play,
    researched,
    send,
)
from tests.proxy.api.asking import asking
from tests.proxy.asking import script
from tests.proxy.wire.rounds.scripts import Round, Say
from tests.running import Running, running

SHARES = {"share_research": True}
FOUND = "`base_delay_ms` defaults to 250"
LABEL = "of the sister project “loom”, not of this one"
KEYS = {"ada": "key-of-ada-0001", "ann": "key-of-ann-0002", "eve": "key-of-eve-0003", "bob": "key-of-bob-0004"}
CREDENTIALS = [
    {"key": "key-of-bob-0004", "user": "bob", "org": "acme"},
    {"key": KEYS["ada"], "user": "ada", "org": "acme"},
    {"key": KEYS["ann"], "user": "ann", "org": "acme", "projects": ["boat"]},
    {"key": KEYS["eve"], "user": "eve", "org": "globex"},
]
LOOM = Scope("acme", "ada", "loom")

Started = Callable[..., AbstractAsyncContextManager[tuple[Running, FakeProvider]]]


@pytest.fixture
def started(database_options: dict[str, str], tmp_path: Path) -> Started:
    """A server for two of acme, of whom one may work in boat alone, and for one of globex."""

    @asynccontextmanager
    async def start(
        policy: dict[str, Any] | None = None, **options: Any
    ) -> AsyncIterator[tuple[Running, FakeProvider]]:
        options |= {"memory.research.deadline_ms": 10_000, "credentials": CREDENTIALS, **database_options}
        options["memory.policies"] = {"acme": SHARES if policy is None else policy, "globex": SHARES}
        async with fake_provider() as provider, running(provider, tmp_path / "home", **options) as proxy:
            yield proxy, provider

    return start


async def found_in_both(proxy: Running, provider: FakeProvider) -> None:
    """What sub-agents of ada's find in loom and in boat, each its own number."""
    await found_in_loom(proxy, provider)
    script(provider, CHAT, Round((Say(REPORT.replace("250", "900")),)))
    await ask(proxy, PROMPT, "boat")
    await researched(proxy, Scope("acme", "ada", "boat"))


async def found_in_loom(proxy: Running, provider: FakeProvider, prompt: str = PROMPT, report: str = REPORT) -> Research:
    """What a sub-agent of ada's finds in the project loom."""
    proxy.client.headers["x-palimpsest-key"] = KEYS["ada"]
    await play(proxy, provider, prompt, report)
    [found] = await researched(proxy, LOOM)
    return found


async def ask(proxy: Running, text: str, project: str, who: str = "ada", session: str = "p", *more: str) -> None:
    """A sub-agent of somebody's asks in a session of its own; ``more`` is what it said and was told since."""
    roles = ("user", "assistant")
    said = [{"role": roles[place % 2], "content": each} for place, each in enumerate((text, *more))]
    ids = {"x_session_id": f"{who}-{project}-{session}", "x_parent_session_id": "parent"}
    await send(proxy, said, project, x_palimpsest_key=KEYS[who], **ids)


async def given(
    proxy: Running,
    provider: FakeProvider,
    project: str = "boat",
    who: str = "ada",
    asked: str = REWORDED,
    session: str = "p",
) -> str:
    """What stands behind the question of a sub-agent of somebody's in a project."""
    script(provider, CHAT, Round((Say("Thanks."),)))
    await ask(proxy, asked, project, who, session)
    sent = forwarded(provider)
    assert sent.startswith(asked)
    return sent.removeprefix(asked)


async def test_what_a_sister_project_found_is_offered_as_such(started: Started) -> None:
    async with started() as (proxy, provider):
        found = await found_in_loom(proxy, provider)
        told = await given(proxy, provider)
        assert FOUND in told and LABEL in told and f"{found.ended:%Y-%m-%d}" in told
        assert "memory_expand" not in told and "billing/retry.py (" not in told
        # In its own project it is no sister's.
        assert LABEL not in (own := await given(proxy, provider, "loom")) and FOUND in own
        # Whose key is for one project alone is given nothing of others, nor is another organisation.
        assert await given(proxy, provider, who="ann") == ""
        assert await given(proxy, provider, who="eve") == ""
        asked = "Describe how the mobile application caches thumbnails on disk, and which class evicts them."
        assert await given(proxy, provider, asked=asked) == ""


@pytest.mark.parametrize(
    "policy",
    [
        {},
        {"share_research": False},
        {**SHARES, "private_projects": ["loom"]},
        {**SHARES, "private_projects": ["boat"]},
    ],
)
async def test_without_the_policy_or_out_of_a_private_project_nothing_is_given(
    started: Started, policy: dict[str, Any]
) -> None:
    async with started(policy) as (proxy, provider):
        await found_in_loom(proxy, provider)
        assert await given(proxy, provider) == ""
        assert FOUND in await given(proxy, provider, "loom")


async def test_the_policy_is_all_that_lets_it_cross(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    async with started({}) as (proxy, provider):
        await found_in_loom(proxy, provider)
        assert await given(proxy, provider) == ""
        monkeypatch.setattr("memory.policy.Policy.shares_research", lambda policy, project: True)
        assert LABEL in await given(proxy, provider, session="q")
        memory = proxy.edge.memory
        assert memory is not None
        # A policy that is taken away ends it, whatever was given before.
        monkeypatch.undo()
        monkeypatch.setattr(rooms.subagents(memory).findings, "_policies", Policies({}))
        assert await given(proxy, provider, session="r") == ""


async def test_members_alone_are_given_it_where_there_are_members(started: Started) -> None:
    async with started() as (proxy, provider):
        await found_in_loom(proxy, provider)
        ask = asking(proxy)
        assert LABEL in await given(proxy, provider)
        await ask("POST", "api/members?org=acme", {"user": "kim", "role": "owner"}, status=201)
        assert await given(proxy, provider, session="q") == ""
        await ask("POST", "api/members?org=acme", {"user": "ada", "role": "read-only"}, status=201)
        assert LABEL in await given(proxy, provider, session="r")


@pytest.mark.parametrize(
    "more",
    [
        "The root password is hunter2hunter2, keep it a secret.",
        "- owner: Rosa. She is on leave until June.",
        "Ask rosa.meier@acme.example before it is changed.",
        "My name is Rosa and I live in Lisbon.",
        "Peter was fired for drinking.",
        f"{'The consumer reads the queue in batches of fifty. ' * 90}Strictly confidential: it is sold to Globex.",
    ],
)
async def test_what_is_guarded_or_about_people_never_crosses(started: Started, more: str) -> None:
    async with started() as (proxy, provider):
        await found_in_loom(proxy, provider)
        memory = proxy.edge.memory
        assert memory is not None
        findings, boat = rooms.subagents(memory).findings, Scope("acme", "ada", "boat")
        [found] = await researched(proxy, LOOM)
        assert await findings.of_sisters(REWORDED, boat, ANY_PROJECT, proxy.edge.now())
        await memory.journal.write_research([replace(found, reports=(f"{REPORT}\n{more}\n",))])
        assert await findings.of_sisters(REWORDED, boat, ANY_PROJECT, proxy.edge.now()) == ()
        assert await given(proxy, provider) == ""


@pytest.mark.parametrize("whole", [False, True])
async def test_what_is_forgotten_at_its_source_is_gone_where_it_was_given(started: Started, whole: bool) -> None:
    async with started() as (proxy, provider):
        found = await found_in_loom(proxy, provider)
        assert FOUND in await given(proxy, provider, who="bob")
        await proxy.learned()
        assert await ledger_holds(proxy, FOUND) and "Study the retry" in await receipts(proxy)
        if whole:
            await asking(proxy)("POST", "api/person/forget?org=acme&user=ada")
        else:
            await asking(proxy)("DELETE", f"api/research/{found.id}?org=acme&user=ada&project=loom")
        assert not await ledger_holds(proxy, FOUND) and "Study the retry" not in await receipts(proxy)
        assert await asked_again(proxy) == []
        if not whole:
            script(provider, CHAT, Round((Say("Yes."),)))
            await ask(proxy, REWORDED, "boat", "bob", "p", "Thanks.", "And the jitter?")
            assert FOUND not in provider.last.body.decode()
            assert await given(proxy, provider, who="bob", session="q") == ""


async def ledger_holds(proxy: Running, text: str) -> bool:
    """Whether a text was added to anything, as the journal knows it."""
    memory = proxy.edge.memory
    assert memory is not None
    rows = await memory.journal._db.read(lambda each: each.execute("SELECT id FROM sessions").fetchall())
    entries = [entry for row in rows for entry in await memory.journal.ledger(row["id"])]
    assert entries
    return any(text in entry.text for entry in entries)


async def receipts(proxy: Running) -> str:
    """What requests were shown, as it is told."""
    memory = proxy.edge.memory
    assert memory is not None
    rows = await memory.journal._db.read(lambda each: each.execute("SELECT body FROM receipts").fetchall())
    assert rows
    return str([tuple(row) for row in rows])


async def asked_again(proxy: Running) -> list[Any]:
    """What sister projects share of the same question."""
    query = "org=acme&user=bob&project=boat&sisters=yes"
    told = await asking(proxy)("GET", f"api/research?{query}&text={quote(REWORDED)}")
    return list(told["sisters"])


async def test_who_asks_by_hand_is_told_the_same(started: Started) -> None:
    async with started() as (proxy, provider):
        found = await found_in_loom(proxy, provider)
        [told] = await asked_again(proxy)
        assert (told["project"], told["handle"], told["title"]) == ("loom", found.handle, found.title)
        assert FOUND in told["report"] and told.keys().isdisjoint({"trail", "sources", "owner", "session"})
        memory = proxy.edge.memory
        assert memory is not None
        rooms.subagents(memory).findings._policies = Policies({})
        assert await asked_again(proxy) == []


async def test_who_asks_by_hand_and_is_given_nothing_is_told_why(started: Started) -> None:
    async with started() as (proxy, provider):
        await found_in_loom(proxy, provider)
        person, question = asking(proxy), f"sisters=yes&text={quote(REWORDED)}"

        async def why(query: str) -> str:
            told = await person("GET", f"api/research?{query}&{question}")
            assert told["sisters"] == []
            return str(told["why_no_sisters"])

        assert "bob belongs to no organisation" in await why("user=bob&project=boat")
        assert "say in which project" in await why("org=acme&user=bob")
        assert "no other project of acme" in await why("org=acme&user=bob&project=loom")
        told = await person("GET", "api/research?org=acme&user=bob&project=boat&sisters=yes&text=weather")
        assert told["sisters"] == [] and "why_no_sisters" not in told
        memory = proxy.edge.memory
        assert memory is not None
        findings = rooms.subagents(memory).findings
        for policy, expected in (
            (PolicySettings(), "memory.policies.acme.share_research"),
            (PolicySettings(share_research=True, private_projects=("boat",)), "boat takes no part"),
        ):
            findings._policies = Policies({"acme": policy})
            assert expected in await why("org=acme&user=bob&project=boat")
        findings._policies = Policies({"acme": PolicySettings(share_research=True)})
        await person("POST", "api/members?org=acme", {"user": "ada", "role": "owner"}, status=201)
        assert "bob is no member of acme" in await why("org=acme&user=bob&project=boat")


async def test_a_projects_own_findings_come_first_and_alone_stand_for_a_reply(started: Started) -> None:
    async with started(**{"memory.research.answer": 0.1}) as (proxy, provider):
        await found_in_loom(proxy, provider)
        script(provider, CHAT, Round((Say(REPORT.replace("250", "900")),)))
        await ask(proxy, PROMPT, "boat")
        # What the sister found was offered, and the model was asked all the same.
        assert FOUND in forwarded(provider)
        await researched(proxy, Scope("acme", "ada", "boat"))
        before = len(provider.requests)
        script(provider, CHAT, Round((Say("Thanks."),)))
        await ask(proxy, PROMPT, "boat", session="q")
        assert len(provider.requests) == before, "its own answers it"


async def test_a_projects_own_findings_stand_before_a_sisters(started: Started) -> None:
    async with started() as (proxy, provider):
        await found_in_both(proxy, provider)
        told = await given(proxy, provider, session="q")
        assert 0 < told.index("defaults to 900") < told.index(LABEL) < told.index(FOUND)


async def test_beside_a_line_about_what_may_be_meant_a_sisters_stands_whole(started: Started) -> None:
    title = "Study the retry policy"
    async with started(**{"memory.research.unsure": "line"}) as (proxy, provider):
        await found_in_loom(proxy, provider)
        memory = proxy.edge.memory
        assert memory is not None
        # Boat's own has no title, so that nobody can tell whether it is meant.
        [found] = await researched(proxy, LOOM)
        id, person = "0d000001-0000-4000-8000-000000000000", "u:acme/ada"
        long = f"{PROMPT} Name the queue, the consumer, the module, the branch, and whoever calls each of them twice."
        own = replace(found, id=id, owner="p:acme/boat", person=person, question=long, description="", trail=())
        await rooms.subagents(memory).worker.keep(own)
        told = await given(proxy, provider, asked=title)
        assert "Perhaps asked before" in told and own.handle in told
        assert told.index("Perhaps asked before") < told.index(LABEL) < told.index(FOUND)


async def test_where_there_is_no_time_for_sisters_a_projects_own_findings_stand(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with started() as (proxy, provider):
        await found_in_both(proxy, provider)
        monkeypatch.setattr("memory.features.subagents.findings.SISTERS_WITHIN", 0.0)
        told = await given(proxy, provider, session="q")
        assert "defaults to 900" in told and LABEL not in told
        assert await given(proxy, provider, "keel", session="q") == ""


async def test_where_sisters_fail_a_projects_own_findings_stand(
    started: Started, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with started() as (proxy, provider):
        await found_in_both(proxy, provider)
        memory = proxy.edge.memory
        assert memory is not None

        async def broken(*args: Any) -> Any:
            raise StoreError("is locked")

        monkeypatch.setattr(rooms.subagents(memory).findings, "of_sisters", broken)
        told = await given(proxy, provider, session="q")
        assert "defaults to 900" in told and LABEL not in told
        assert "what sister projects found is not offered" in caplog.text
        # Where there is nothing of its own, that it failed is told as any failure is.
        assert await given(proxy, provider, "keel", session="q") == ""
        assert proxy.edge.degradations.counts == {"looking for earlier research": 1}


async def test_the_sessions_of_other_projects_are_not_named_in_what_used_a_research(started: Started) -> None:
    async with started() as (proxy, provider):
        found = await found_in_loom(proxy, provider)
        assert FOUND in await given(proxy, provider, who="ada", session="own")
        assert FOUND in await given(proxy, provider, who="bob", session="other")
        assert FOUND in await given(proxy, provider, "loom", "bob", session="colleague")
        await proxy.learned()

        async def uses(who: str) -> list[bool]:
            told = await asking(proxy)("GET", f"api/research/{found.id}?org=acme&user={who}&project=loom")
            assert all(use["how"] == "given" and use["tokens"] for use in told["uses"])
            return [bool(use["session"]) for use in told["uses"]]

        # One's own and those of the project are named; bob's in boat are not, but to him.
        assert await uses("ada") == [True, False, True]
        assert await uses("bob") == [False, True, True]


async def test_no_project_of_a_sessions_own_takes_part_nor_one_that_is_switched_off(started: Started) -> None:
    async with started() as (proxy, provider):
        await found_in_loom(proxy, provider)
        memory = proxy.edge.memory
        assert memory is not None
        findings, now = rooms.subagents(memory).findings, proxy.edge.now()
        for project, reach, many in (
            ("boat", ANY_PROJECT, 1),
            ("boat", ProjectReach(("boat", "loom")), 1),
            ("boat", ProjectReach(("boat",)), 0),
            ("boat", ProjectReach(without=frozenset({"loom"})), 0),
            ("boat", ProjectReach(without=frozenset({"boat"})), 0),
            ("boat", ProjectReach(("loom",)), 0),
            (f"{OWN_PROJECT}1", ANY_PROJECT, 0),
            (None, ANY_PROJECT, 0),
        ):
            found = await findings.of_sisters(REWORDED, Scope("acme", "ada", project), reach, now)
            assert len(found) == many, (project, reach)


async def test_memory_that_is_off_in_a_project_is_off_for_its_sisters(started: Started) -> None:
    async with started() as (proxy, provider):
        await found_in_loom(proxy, provider)
        assert LABEL in await given(proxy, provider)
    async with started(projects={"loom": {"memory": "off"}}) as (proxy, provider):
        assert await given(proxy, provider, asked=PROMPT, session="q") == ""
