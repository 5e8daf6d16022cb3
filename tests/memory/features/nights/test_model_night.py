"""A night with a model: what it may do, and that the rules' night stands where it fails."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from memory.bootstrap import open_memory
from memory.fact import Fact, MemoryTier
from memory.parts import Memory
from memory.settings import MemorySettings, ModelSettings, NightSettings
from tests import rooms
from tests.fake_provider import FakeProvider, fake_provider
from tests.memory.features.nights.test_runner import dump, lessons, taught, unguarded
from tests.memory.stores.derived_facts import ANN, owner

# litellm's own models warn.
pytestmark = [pytest.mark.litellm, pytest.mark.filterwarnings("ignore")]


@asynccontextmanager
async def with_model(provider: FakeProvider, home: Path, **more: Any) -> AsyncIterator[Memory]:
    model = ModelSettings(name="openai/m", url=provider.url + "/v1", **more)
    opened = await open_memory(MemorySettings(night=NightSettings(enabled=False), model=model), home, unguarded)
    assert opened is not None
    rooms.plan_nights_here(opened)
    yield opened
    await opened.close()


def answering(wording: str) -> Any:
    async def answer(request: web.Request) -> web.StreamResponse:
        asked = orjson.loads(await request.read())
        changes = asked["response_format"]["json_schema"]["schema"]["properties"].get("changes")
        told: dict[str, Any] = {"changes": []} if changes else {"sentence": wording}
        message = {"role": "assistant", "content": orjson.dumps(told).decode()}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response({"id": "c", "model": "m", "object": "chat.completion", "choices": [choice]})

    return answer


async def knowledge(memory: Memory) -> list[Fact]:
    return [each for each in await memory.journal.facts_of([owner(ANN)]) if each.tier is MemoryTier.LONG_TERM]


async def test_a_model_words_what_a_night_makes_and_it_is_taken_back_to_the_byte(tmp_path: Path) -> None:
    async with fake_provider() as provider, with_model(provider, tmp_path) as memory:
        provider.answer = answering("Install packages with pnpm in every workspace, not npm")
        await taught(memory, *lessons())
        before = dump(memory)
        [(number, _)] = (await rooms.nights(memory).runner.run()).nights
        [made] = await knowledge(memory)
        assert made.text == "Install packages with pnpm in every workspace, not npm" and len(made.derived_from) == 2
        await rooms.nights(memory).runner.undo(number)
        assert dump(memory) == before


@pytest.mark.parametrize("wording", ["Install packages with yarn 4 on Bob's server", ""])
async def test_the_rules_night_stands_where_the_model_invents(wording: str, tmp_path: Path) -> None:
    async with fake_provider() as provider, with_model(provider, tmp_path) as memory:
        provider.answer = answering(wording)
        await taught(memory, *lessons())
        await rooms.nights(memory).runner.run()
        [made] = await knowledge(memory)
        assert "pnpm" in made.text and "yarn" not in made.text


async def test_a_spent_budget_and_a_silent_model_leave_the_rules_night(tmp_path: Path) -> None:
    async with fake_provider() as provider, with_model(provider, tmp_path, daily_tokens=10) as memory:
        await taught(memory, *lessons())
        assert (await rooms.nights(memory).runner.run()).nights
        assert provider.requests == [] and len(await knowledge(memory)) == 1
    with sqlite3.connect(tmp_path / "journal.db") as connection:
        assert connection.execute("SELECT count(*) FROM nights").fetchone() == (1,)
