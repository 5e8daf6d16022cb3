"""A person confirms or updates a fact, by the API."""

from __future__ import annotations

from pathlib import Path

from memory.fact import Origin, State
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
        assert f"{ONE} (unsettled)" in body
        assert f"{OTHER} (unsettled)" in body
        confirmed = await memory.revising.confirm(one.id, owners)
        assert (confirmed.contradicts, confirmed.origin) == ((), Origin.PERSON)
        [lost] = await memory.journal.facts([other.id])
        assert lost.state is State.SUPERSEDED
