"""A person confirms or updates a fact, by the API."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.context.page import EARLIER
from memory.fact import Origin, State
from memory.services.person.commands import NotFound
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.running import running

ONE, OTHER = "We always run the slow tests before a release.", "We never run the slow tests before a release."


async def test_an_update_supersedes_and_a_confirmation_settles(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        ask = asking(proxy)
        told = await ask("POST", "api/remember?project=loom", {"text": "The release manager is Priya."}, status=201)
        new = await ask("POST", f"api/facts/{told['id'][:8]}/update", {"text": "The release manager is Tomas."})
        assert (new["text"], new["supersedes"], new["origin"]) == (
            "The release manager is Tomas.",
            [told["id"]],
            Origin.PERSON,
        )
        old = await ask("GET", f"api/facts/{told['id']}")
        assert (old["state"], bool(old["valid_until"])) == (State.SUPERSEDED, True)
        refused = await ask("POST", f"api/facts/{told['id']}/confirm", {}, status=409)
        assert new["id"] in refused["error"]
        again = await ask("POST", f"api/facts/{new['id']}/confirm", {})
        assert again["access"] == 2
        assert (await ask("POST", f"api/facts/{new['id']}/update", {"text": new["text"]}))["id"] == new["id"]
        await ask("POST", f"api/facts/{new['id']}/update", {"text": "  "}, status=422)
        found = await ask("GET", "api/search?text=release+manager&project=loom")
        assert [each["id"] for each in found["results"]] == [new["id"]]


async def test_the_confirmed_one_of_two_rivals_wins(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        await proxy.chat(ONE)
        await proxy.chat(OTHER, session="s2")
        await proxy.learned()
        owners = ["up:/local/loom", "u:/local"]
        one, other = sorted(await memory.commands.facts(owners), key=lambda fact: fact.text)
        assert one.contradicts == (other.id,)
        await proxy.chat("What do we run before a release, the slow tests?", session="s3")
        body = provider.last.body.decode()
        assert f"{OTHER} (unsettled)\\n- {ONE}{EARLIER}" in body
        confirmed = await memory.fact_reviser.confirm(one.id, owners)
        assert (confirmed.contradicts, confirmed.origin) == ((), Origin.PERSON)
        [lost] = await memory.journal.facts([other.id])
        assert lost.state is State.SUPERSEDED


@pytest.mark.parametrize("revision", ["confirm", "update"])
async def test_what_is_forgotten_while_a_revision_waits_does_not_come_back(tmp_path: Path, revision: str) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        told = await asking(proxy)("POST", "api/remember", {"text": "The release manager is Priya."}, status=201)
        await proxy.learned()
        owners = ["u:/local"]
        async with memory.learner.resting():
            if revision == "confirm":
                waiting = asyncio.create_task(memory.fact_reviser.confirm(told["id"], owners))
            else:
                waiting = asyncio.create_task(memory.fact_reviser.update(told["id"], "It is Tomas.", owners))
            while not memory.learner._rest_requests:  # noqa: ASYNC110 (nobody is told of who waits)
                await asyncio.sleep(0)
            await memory.journal.forget([told["id"]], datetime.now(UTC), owners)
        with pytest.raises(NotFound):
            await waiting
        assert await memory.journal.facts_of(owners) == []
