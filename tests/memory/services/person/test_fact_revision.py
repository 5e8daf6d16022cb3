"""A person confirms or updates a fact, by the API."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.context.page import EARLIER
from memory.fact import Origin, State
from memory.services.lessons.indexing import lesson_of
from memory.services.person.commands import NotFound
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.drafts import draft
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
        assert f"{OTHER}\\n- {ONE}{EARLIER}" in body
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


async def test_the_learning_of_a_fact_is_undone_with_what_it_had_ended(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        ask = asking(proxy)

        async def states() -> dict[str, tuple[str, tuple[str, ...], str | None]]:
            found = [await ask("GET", f"api/facts/{id}") for id in ids]
            return {each["text"]: (each["state"], tuple(each["contradicts"]), each["valid_until"]) for each in found}

        old = await ask("POST", "api/remember?project=loom", {"text": "The release manager is Priya."}, status=201)
        ids = [old["id"]]
        before = await states()
        new = await ask("POST", f"api/facts/{old['id']}/update", {"text": "The release manager is Tomas."})
        ids.append(new["id"])
        learnt = await states()
        undone = await ask("POST", f"api/facts/{new['id']}/unlearn", {})
        assert undone["state"] == State.ARCHIVED
        assert (await states()) == before | {new["text"]: (State.ARCHIVED, (), None)}
        found = await ask("GET", "api/search?text=release+manager&project=loom")
        assert [each["id"] for each in found["results"]] == [old["id"]]
        await ask("POST", f"api/facts/{new['id']}/unlearn", {}, status=409)
        await ask("POST", f"api/facts/{new['id']}/take-back", {})
        assert await states() == learnt
        refused = await ask("POST", f"api/facts/{new['id']}/take-back", {}, status=409)
        assert "nothing to take back" in refused["error"]


async def test_what_was_only_said_again_waits_as_a_draft_when_that_was_no_lesson(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        ask = asking(proxy)
        held = await ask("POST", "api/remember?project=loom", {"text": "The roof of the shed is flat"}, status=201)
        record = draft(held["owner"])
        await ask("POST", "api/import/records?project=loom", record)
        again = await ask("POST", f"api/facts/{held['id']}/update", {"text": "The roof of the shed is steep"})
        memory = proxy.edge.memory
        assert memory is not None
        [fact] = await memory.journal.facts([again["id"]], [held["owner"]])
        [waiting] = await memory.journal.facts([record["id"]], [held["owner"]])
        said_again = replace(fact, supersedes=(*fact.supersedes, waiting.id))
        told = (said_again, replace(waiting, state=State.ARCHIVED))
        await memory.journal.learn(lesson_of(0, told, (), frozenset(each.id for each in told)))
        await ask("POST", f"api/facts/{fact.id}/unlearn", {})
        states = {id: (await ask("GET", f"api/facts/{id}"))["state"] for id in (held["id"], waiting.id)}
        assert states == {held["id"]: State.ACTIVE, waiting.id: State.DRAFT}


async def test_what_is_wrong_ends_and_frees_what_it_contradicted(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        ask = asking(proxy)
        for number, text in enumerate((ONE, OTHER)):
            await proxy.chat(text, session=f"s{number}")
            await proxy.learned()
        one, other = (await ask("GET", "api/facts"))["facts"]
        assert other["contradicts"] == [one["id"]]
        ended = await ask("POST", f"api/facts/{one['id']}/refute", {})
        assert (ended["state"], bool(ended["valid_until"])) == (State.SUPERSEDED, True)
        freed = await ask("GET", f"api/facts/{other['id']}")
        assert (freed["state"], freed["contradicts"]) == (State.ACTIVE, [])
        await ask("POST", f"api/facts/{one['id']}/take-back", {})
        [again, kept] = (await ask("GET", "api/facts"))["facts"]
        assert (again["contradicts"], kept["contradicts"]) == (one["contradicts"], other["contradicts"])


async def test_a_draft_is_put_off_and_taken_back(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        ask = asking(proxy)
        held = await ask("POST", "api/remember?project=loom", {"text": "The roof of the shed is flat"}, status=201)
        record = draft(held["owner"])
        await ask("POST", "api/import/records?project=loom", record)

        async def waiting() -> tuple[list[str], list[str]]:
            told = await ask("GET", "api/drafts")
            return [each["id"] for each in told["drafts"]], [each["id"] for each in told["deferred"]]

        assert await waiting() == ([record["id"]], [])
        await ask("POST", f"api/facts/{record['id']}/defer", {})
        assert await waiting() == ([], [record["id"]])
        assert (await ask("GET", "api/drafts?user=bob")) == {"drafts": [], "deferred": []}
        await ask("POST", f"api/facts/{record['id']}/take-back", {})
        assert await waiting() == ([record["id"]], [])
        await ask("POST", f"api/facts/{record['id']}/confirm", {})
        assert await waiting() == ([], [])
        await ask("POST", f"api/facts/{record['id']}/defer", {}, status=409)
        await ask("POST", f"api/facts/{record['id']}/take-back", {})
        assert await waiting() == ([record["id"]], [])
        await ask("POST", f"api/facts/{held['id']}/take-back?user=bob", {}, status=404)
