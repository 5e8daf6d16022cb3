"""A model for background work, through the real litellm and a scripted provider."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from aiohttp import web

from memory.models.language import ANSWER_TOKENS, LitellmLanguage
from memory.ports import NoAnswer
from tests.fake_provider import FakeProvider, fake_provider

# litellm's own models warn.
pytestmark = [pytest.mark.litellm, pytest.mark.filterwarnings("ignore")]

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
SHAPE = {"type": "object", "properties": {"sentence": {"type": "string"}}}


class Kept:
    """Named values in a dictionary."""

    def __init__(self) -> None:
        self.values: dict[str, bytes] = {}

    async def meta(self, name: str) -> bytes | None:
        return self.values.get(name)

    async def set_meta(self, name: str, value: bytes) -> None:
        self.values[name] = value


def language(provider: FakeProvider, kept: Kept, budget: int = 100_000, at: datetime = NOON) -> LitellmLanguage:
    return LitellmLanguage("openai/m", provider.url + "/v1", "own-key", budget, kept, lambda: at)


async def test_it_is_asked_for_json_of_a_shape_and_what_it_costs_is_kept() -> None:
    async with fake_provider() as provider:
        provider.reply = '```json\n{"sentence": "Use pnpm"}\n```'
        kept = Kept()
        model = language(provider, kept)
        assert await model.ask("Say it.", "1. Use pnpm", SHAPE) == {"sentence": "Use pnpm"}
        sent: dict[str, Any] = orjson.loads(provider.last.body)
        assert sent["response_format"]["json_schema"]["schema"] == SHAPE
        assert [each["content"] for each in sent["messages"]] == ["Say it.", "1. Use pnpm"]
        assert provider.last.headers["Authorization"] == "Bearer own-key"
        assert await model.spent() == 12
        await model.ask("Say it.", "1. Use pnpm", SHAPE)
        assert await model.spent() == 24
        assert await language(provider, kept, at=NOON + timedelta(days=1)).spent() == 0


async def test_nothing_is_asked_beyond_the_days_budget() -> None:
    async with fake_provider() as provider:
        with pytest.raises(NoAnswer, match="budget of 100 tokens"):
            await language(provider, Kept(), budget=100).ask("Say it.", "1. Use pnpm", SHAPE)
        assert provider.requests == []
        provider.reply = "{}"
        model = language(provider, Kept(), budget=ANSWER_TOKENS + 16)
        assert await model.ask("Say it.", "1.", SHAPE) == {}
        with pytest.raises(NoAnswer, match="12 are spent"):
            await model.ask("Say it.", "1. Use pnpm", SHAPE)


@pytest.mark.parametrize("reply", ["I would rather talk.", '{"sentence": ', ""])
async def test_garbage_is_no_answer(reply: str) -> None:
    async with fake_provider() as provider:
        provider.reply = reply
        with pytest.raises(NoAnswer):
            await language(provider, Kept()).ask("Say it.", "1. Use pnpm", SHAPE)


async def test_what_may_pass_is_tried_again_and_what_may_not_is_told_without_the_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def at_once(seconds: float) -> None:
        await real(0)

    real = asyncio.sleep
    statuses = [503, 200, 401]

    async def answer(request: web.Request) -> web.StreamResponse:
        status = statuses.pop(0)
        if status != 200:
            return web.json_response({"error": {"message": "no, own-key is wrong"}}, status=status)
        message = {"role": "assistant", "content": "{}"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response({"id": "c", "model": "m", "object": "chat.completion", "choices": [choice]})

    monkeypatch.setattr("tenacity.asyncio._portable_async_sleep", at_once)
    async with fake_provider() as provider:
        provider.answer = answer
        model = language(provider, Kept())
        assert await model.ask("Say it.", "1.", SHAPE) == {}
        assert await model.spent() > ANSWER_TOKENS, "a provider that counts nothing is taken to have used it all"
        with pytest.raises(NoAnswer) as refused:
            await model.ask("Say it.", "1.", SHAPE)
    assert "own-key" not in str(refused.value) and statuses == []
