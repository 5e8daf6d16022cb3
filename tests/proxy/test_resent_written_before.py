"""What is left out of a request for its second try is in the journal before the provider has that: a process that is
killed in between makes the same prefix again, and what the provider finds fault with stands nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
from aiohttp import web

from memory.edits import Entry
from memory.ports import StoreError
from memory.services.sessions import live_sessions
from memory.session import Prepared, Session
from tests.fake_provider import Answer, FakeProvider, fake_provider
from tests.proxy.test_long_sessions import TOO_LONG, ask, failing, shed_session, stubs
from tests.running import Running, running
from tests.sparse_files import copy_tree


def killed_in_the_second_try(provider: FakeProvider, home: Path, killed: Path, status: int, body: bytes) -> Answer:
    """Refuse the first request for its length, and keep what a kill would leave behind when the second one comes."""
    first = len(provider.requests)

    async def answer(request: web.Request) -> web.StreamResponse:
        if len(provider.requests) == first + 1:
            return web.Response(status=400, body=TOO_LONG, content_type="application/json")
        copy_tree(home, killed, "*.sock", "instance*")
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


async def test_what_was_not_sent_since_the_client_went_away_is_taken_back_from_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider:
        async with running(provider, tmp_path) as proxy:
            messages = await shed_session(proxy, turns=4)
            assert proxy.edge.memory is not None
            preparation = proxy.edge.memory.preparation
            marked, withdrawn = preparation.ledgers.mark_sending, asyncio.Event()
            unread = preparation.ledgers.mark_unread

            async def then_the_client_goes_away(prepared: Prepared) -> None:
                await marked(prepared)
                client.cancel()
                await asyncio.Event().wait()

            async def noticed(prepared: Prepared) -> None:
                await unread(prepared)
                withdrawn.set()

            monkeypatch.setattr(preparation.ledgers, "mark_sending", then_the_client_goes_away)
            monkeypatch.setattr(preparation.ledgers, "mark_unread", noticed)
            failing(provider, (400, TOO_LONG))
            before = len(provider.requests)
            client = asyncio.create_task(ask(proxy, messages))
            await asyncio.wait({client})
            async with asyncio.timeout(60):
                await withdrawn.wait()
            assert client.cancelled() and len(provider.requests) == before + 1
        async with running(provider, tmp_path) as proxy:
            assert await ask(proxy, messages) == 200
            assert stubs(provider.last.body) == []


def locked(proxy: Running, monkeypatch: pytest.MonkeyPatch, times: int = 1) -> list[int]:
    """The journal takes nothing back the first times; how much it was asked to take back each time."""
    assert proxy.edge.memory is not None
    journal, asked = proxy.edge.memory.journal, list[int]()
    withdraw = journal.withdraw

    async def fails_at_first(session: Session, entries: Sequence[Entry]) -> None:
        asked.append(len(entries))
        if len(asked) <= times:
            raise StoreError("database is locked")
        await withdraw(session, entries)

    monkeypatch.setattr(journal, "withdraw", fails_at_first)
    return asked


@pytest.mark.parametrize("then", ["stopped", "killed after the next request", "refused once more"])
async def test_what_could_not_be_taken_back_at_once_is_taken_back_later(
    then: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, killed = tmp_path / "home", tmp_path / "killed"
    malformed = (422, b'{"error":{"message":"no"}}')
    async with fake_provider() as provider:
        async with running(provider, home) as proxy:
            messages = await shed_session(proxy, turns=4)
            asked = locked(proxy, monkeypatch)
            failing(provider, (400, TOO_LONG), malformed)
            assert await ask(proxy, messages) == 400
            assert stubs(provider.last.body) and len(asked) == 1
            if then == "refused once more":
                failing(provider, (400, TOO_LONG), malformed)
                assert await ask(proxy, messages) == 400
            elif then != "stopped":
                assert await ask(proxy, [*messages, {"role": "user", "content": "Go on."}]) == 200
                assert proxy.edge.memory is not None
                await proxy.edge.memory.preparation.ledgers.settle()
                assert len(asked) == 2
                copy_tree(home, killed, "*.sock", "instance*")
        assert asked[-1] == asked[0] > 0
        async with running(provider, killed if killed.exists() else home) as proxy:
            assert await ask(proxy, messages) == 200
            assert stubs(provider.last.body) == []


@pytest.mark.parametrize("then", ["goes on", "stopped"])
async def test_what_could_not_be_taken_back_outlives_the_session_in_memory(
    then: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider:
        async with running(provider, tmp_path) as proxy:
            messages = await shed_session(proxy, turns=4)
            asked = locked(proxy, monkeypatch)
            failing(provider, (400, TOO_LONG), (422, b'{"error":{"message":"no"}}'))
            assert await ask(proxy, messages) == 400
            assert stubs(provider.last.body) and len(asked) == 1
            monkeypatch.setattr(live_sessions, "MAX_SESSIONS", 1)
            another = {"model": "m", "messages": [{"role": "user", "content": "Another session."}]}
            await proxy.post("/v1/chat/completions", another, x_session_id="another")
            assert proxy.edge.memory is not None
            assert len(proxy.edge.memory.preparation._sessions.live_sessions) == 1
            if then == "goes on":
                assert await ask(proxy, messages) == 200
                assert stubs(provider.last.body) == []
        assert asked[-1] == asked[0] > 0
        async with running(provider, tmp_path) as proxy:
            assert await ask(proxy, messages) == 200
            assert stubs(provider.last.body) == []


async def test_what_stands_after_all_is_not_taken_back_though_it_was_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider:
        async with running(provider, tmp_path) as proxy:
            messages = await shed_session(proxy, turns=4)
            locked(proxy, monkeypatch, times=2)
            failing(provider, (400, TOO_LONG), (422, b'{"error":{"message":"no"}}'))
            assert await ask(proxy, messages) == 400
            failing(provider, (400, TOO_LONG))
            assert await ask(proxy, messages) == 200
            second = provider.last.body
            assert stubs(second)
        async with running(provider, tmp_path) as proxy:
            assert await ask(proxy, messages) == 200
            assert orjson.loads(provider.last.body) == orjson.loads(second)
