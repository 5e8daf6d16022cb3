"""A person is forgotten with what was learnt or was under way while they were being forgotten."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory.fact import MemoryTier
from memory.ports import Lesson
from memory.scope import Layer, Scope
from tests.fake_provider import fake_provider
from tests.memory.stores.derived_facts import fact
from tests.proxy.api.asking import asking
from tests.running import running

ADA = Scope("acme", "ada", "loom")


async def test_what_is_learnt_before_learning_rests_goes_too(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        own, shared = (ADA.owner(layer) or "" for layer in (Layer.USER_PROJECT, Layer.PROJECT))
        hers = fact("We use pnpm", owner=own)
        alone = replace(fact("Use pnpm", owner=shared), tier=MemoryTier.SHARED, derived_from=(hers.id,))
        async with memory.learner.resting():
            forgetting = asyncio.create_task(memory.whole_person.forget(Scope("acme", "ada")))
            while not memory.learner._rest_requests:  # noqa: ASYNC110 (nobody is told of who waits)
                await asyncio.sleep(0)
            await memory.journal.learn(Lesson(0, facts=(hers, alone)))
        gone = await forgetting
        assert gone.shared == 1
        assert await memory.journal.facts([hers.id, alone.id]) == []


async def test_a_forgetting_that_failed_keeps_nothing_from_being_journaled_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None

        async def fails(person: Scope) -> None:
            raise ConnectionError

        ada = Scope(None, "local")
        monkeypatch.setattr(memory.journal, "erase_person", fails)
        with pytest.raises(ConnectionError):
            await memory.whole_person.forget(ada)
        await proxy.chat("We always run the slow tests before a release.")
        await proxy.learned()
        assert (await memory.whole_person.share(ada)).rows["exchanges"] == 1


async def test_nobody_comes_with_a_persons_key_while_they_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory, ask = proxy.edge.memory, asking(proxy)
        assert memory is not None
        for name, user in (("laptop", "ada"), ("desk", "grace")):
            await ask("POST", "api/keys", {"name": name, "user": user, "org": "acme"}, status=201)
        erase, in_force = memory.journal.erase_person, list[str]()

        async def looks(person: Scope) -> Any:
            in_force.extend(key.name for key in await memory.journal.client_keys() if key.revoked_at is None)
            return await erase(person)

        monkeypatch.setattr(memory.journal, "erase_person", looks)
        gone = await ask("POST", "api/person/forget?org=acme&user=ada")
        assert gone["keys"] == ["laptop"] and in_force == ["desk"]
        assert [key.name for key in await memory.journal.client_keys()] == ["desk"]


async def test_what_they_wrote_on_their_pages_until_now_is_given_out(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory, ask = proxy.edge.memory, asking(proxy)
        assert memory is not None
        whom = "user=ada&org=acme"
        taught = {"text": "We always deploy on Mondays", "kind": "convention", "pinned": True}
        await ask("POST", f"api/remember?{whom}&project=loom", taught, status=201)
        await ask("POST", "api/remember?user=eve&org=acme&project=loom", taught, status=201)
        for user in ("ada", "eve"):
            files = (await memory.pages.files(replace(ADA, user=user))).values()
            [file] = [path for path, text in files if "Mondays" in text]
            own = {"own": f"The key of {user} hangs behind the jar."}
            await ask("PUT", f"api/page?user={user}&org=acme&project=loom", own)
            await asyncio.to_thread(file.write_text, file.read_text() + f"- Ask Petra of {user} before a release\n")
        tables = (await ask("GET", f"api/person?{whom}"))["tables"]
        person = Scope("acme", "ada")
        told = str([await memory.whole_person.rows(person, table, 0, 100) for table in tables])
        assert "Ask Petra of ada" in told and "The key of ada" in told and "of eve" not in told


async def test_a_page_that_cannot_be_made_keeps_nobody_from_being_told_and_forgotten(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory, ask = proxy.edge.memory, asking(proxy)
        assert memory is not None
        taught = {"text": "We always deploy on Mondays", "kind": "convention", "pinned": True}
        await ask("POST", "api/remember?user=ada&org=acme&project=loom", taught, status=201)
        [file] = [path for path, text in (await memory.pages.files(ADA)).values() if "Mondays" in text]
        await asyncio.to_thread(file.write_text, file.read_text() + "- The mast is made of spruce\n")
        file.with_name(".made.json.new").mkdir()
        assert (await ask("GET", "api/person?user=ada&org=acme"))["would_go"]["facts"]
        assert (await ask("POST", "api/person/forget?user=ada&org=acme"))["forgotten"]["facts"]
