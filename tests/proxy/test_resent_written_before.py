"""What is left out of a request for its second try is in the journal before the provider has that: a process that is
killed in between makes the same prefix again, and what the provider finds fault with stands nowhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
from aiohttp import web

from tests.fake_provider import Answer, FakeProvider, fake_provider
from tests.proxy.test_long_sessions import TOO_LONG, ask, shed_session, stubs
from tests.running import running


def killed_in_the_second_try(provider: FakeProvider, home: Path, killed: Path, status: int, body: bytes) -> Answer:
    """Refuse the first request for its length, and keep what a kill would leave behind when the second one comes."""
    first = len(provider.requests)

    async def answer(request: web.Request) -> web.StreamResponse:
        if len(provider.requests) == first + 1:
            return web.Response(status=400, body=TOO_LONG, content_type="application/json")
        shutil.copytree(home, killed, ignore=shutil.ignore_patterns("*.sock", "instance*"))
        provider.answer = None
        return web.Response(status=status, body=body, content_type="application/json")

    return answer


async def test_a_second_try_is_made_again_by_the_process_after_one_that_was_killed(tmp_path: Path) -> None:
    home, killed = tmp_path / "home", tmp_path / "killed"
    async with fake_provider() as provider:
        async with running(provider, home) as proxy:
            messages = await shed_session(proxy, turns=4)
            provider.answer = killed_in_the_second_try(provider, home, killed, 503, b"{}")
            await ask(proxy, messages)
            second = provider.last.body
            assert stubs(second)
        async with running(provider, killed) as proxy:
            assert await ask(proxy, messages) == 200
            assert orjson.loads(provider.last.body) == orjson.loads(second)


async def test_what_the_provider_finds_fault_with_is_taken_back_from_the_journal(tmp_path: Path) -> None:
    home, killed = tmp_path / "home", tmp_path / "killed"
    async with fake_provider() as provider:
        async with running(provider, home) as proxy:
            messages = await shed_session(proxy, turns=4)
            provider.answer = killed_in_the_second_try(provider, home, killed, 422, b'{"error":{"message":"no"}}')
            await ask(proxy, messages)
            assert stubs(provider.last.body)
        async with running(provider, home) as proxy:
            assert await ask(proxy, messages) == 200
            assert stubs(provider.last.body) == []
