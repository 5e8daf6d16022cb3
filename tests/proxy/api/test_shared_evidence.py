"""Who reviews a candidate sees what bears it out, and no words of others'."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory.candidate import CandidateKind, Proposal
from memory.clock import local_now
from memory.features.approvals.feature import Approvals
from memory.scope import Scope
from proxy.auth.tokens import TokenRole
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import Asking, asking
from tests.proxy.api.test_tokens import issued
from tests.running import Running, running

KEYS = {"ada": "key-of-ada-0001", "eve": "key-of-eve-0002"}
RULE = "We decided that every migration of the billing service is reviewed by two people before it is merged."
THEIRS = {
    "eve": (
        "We decided that migrations of the billing service are reviewed by two people, always.",
        "My name is Eve and I live in Lisbon.",
        "Keep this between us, top secret: the merger with Globex closes on Friday, never share it.",
    ),
    "ada": (RULE,),
}
PRIVATE = ("Lisbon", "Globex", "always")


@pytest.fixture
async def team(database_options: dict[str, str], tmp_path: Path) -> AsyncIterator[Running]:
    """A server at which ada and eve of acme have said something, each with a key of her own."""
    options: dict[str, Any] = {
        "credentials": [{"key": key, "user": user, "org": "acme", "projects": ["*"]} for user, key in KEYS.items()]
    }
    options |= database_options
    async with fake_provider() as provider, running(provider, tmp_path / "home", **options) as proxy:
        for user, said in THEIRS.items():
            for number, text in enumerate(said):
                body = {"model": "m", "messages": [{"role": "user", "content": text}]}
                headers = {"x_palimpsest_key": KEYS[user], "x_palimpsest_project": "loom"}
                session = f"{user}-{number}"
                status, _, _ = await proxy.post("/v1/chat/completions", body, x_session_id=session, **headers)
                assert status == 200
        await proxy.learned()
        yield proxy


async def learnt(proxy: Running, user: str) -> list[str]:
    told = await asking(proxy)("GET", f"api/facts?user={user}&org=acme")
    assert told["facts"]
    return [each["id"] for each in told["facts"]]


async def put_forward(proxy: Running) -> str:
    """A candidate of the whole project, which all that both have said bears out."""
    memory = proxy.edge.memory
    assert memory is not None
    evidence = tuple([id for user in THEIRS for id in await learnt(proxy, user)])
    proposal = Proposal(
        "0c000000-0000-4000-8000-000000000001", CandidateKind.KNOWLEDGE, "m", RULE, RULE, "decision", 4, 4, evidence
    )
    [id] = await memory.journal.propose("p:acme/loom", [proposal], local_now())
    return id


async def seen_by(person: Asking, id: str) -> tuple[str, int]:
    held = await person("GET", f"api/candidates/{id}")
    return str(held["evidence"]), held["withheld"]


async def test_each_reviewer_sees_her_own_words_and_how_many_others_there_are(team: Running) -> None:
    id = await put_forward(team)
    ada, eve = (issued(team, TokenRole.USER, user, org="acme") for user in KEYS)
    hers, withheld = await seen_by(ada, id)
    assert RULE in hers and withheld == len(await learnt(team, "eve")) >= 2
    assert not any(word in hers for word in PRIVATE)
    theirs, withheld = await seen_by(eve, id)
    assert "Lisbon" in theirs and RULE not in theirs and withheld == len(await learnt(team, "ada"))
    # What is restricted is not listed with its text, to her who said it either.
    assert "Globex" not in theirs
    # An admin who asks for ada sees no more than she does.
    as_ada = await asking(team)("GET", f"api/candidates/{id}?user=ada&org=acme")
    assert RULE in str(as_ada["evidence"]) and not any(word in str(as_ada) for word in PRIVATE)


async def test_of_what_many_share_nothing_confidential_or_about_people_is_shown(team: Running) -> None:
    id = await put_forward(team)
    memory = team.edge.memory
    assert memory is not None
    shared = {}
    for number, fact in enumerate(await memory.journal.facts(await learnt(team, "eve"))):
        shared[fact.id] = f"5a000000-0000-4000-8000-00000000000{number}"

        await memory.learner.remember([replace(fact, id=shared[fact.id], owner="p:acme/loom")])
    proposal = Proposal(
        "0c000000-0000-4000-8000-000000000002",
        CandidateKind.KNOWLEDGE,
        "n",
        "another",
        "another",
        "decision",
        3,
        3,
        tuple(shared.values()),
    )
    [id] = await memory.journal.propose("p:acme/loom", [proposal], local_now())
    ada = issued(team, TokenRole.USER, "ada", org="acme")
    told, withheld = await seen_by(ada, id)
    assert "always" in told and withheld >= 1 and "Lisbon" not in told and "Globex" not in told


async def test_nobody_imports_a_candidate_that_others_facts_bear_out(team: Running) -> None:
    [theirs, *_] = await learnt(team, "eve")
    record = {
        "sort": "candidate",
        "id": "0c000000-0000-4000-8000-000000000003",
        "owner": "up:acme/ada/loom",
        "kind": "knowledge",
        "mark": "x",
        "title": "mine",
        "text": "mine",
        "what": "decision",
        "sources": 1,
        "sessions": 1,
        "layer": "project",
        "made_at": "2026-03-04T15:30:00+00:00",
        "evidence": [theirs],
    }
    memory = team.edge.memory
    assert memory is not None

    approvals = memory.features.of(Approvals)
    scope = Scope("acme", "ada", "loom")
    assert await approvals.take(record, scope, False) == "forgotten"
    assert await approvals.take(record | {"evidence": (await learnt(team, "ada"))[:1]}, scope, False) == "taken"
