"""Recorded sessions are played into the journal: once, with their own times, and not what came through here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest_asyncio

from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.running import Running, running

WORDS = "We decided to use PostgreSQL 16 for the billing service."


@pytest_asyncio.fixture
async def proxy(tmp_path: Path) -> AsyncIterator[Running]:
    async with fake_provider() as provider, running(provider, tmp_path) as started:
        yield started


def recorded(session: str, *said: tuple[datetime, str], runtime: str = "generic") -> dict[str, Any]:
    """A session in the chat format: what a person said, each answered at once."""
    messages: list[dict[str, str]] = []
    times: list[str] = []
    for at, text in said:
        messages += [{"role": "user", "content": text}, {"role": "assistant", "content": f"Noted: {text}"}]
        times += [at.isoformat(), (at + timedelta(seconds=5)).isoformat()]
    path = "/v1/chat/completions"
    return {"runtime": runtime, "session": session, "path": path, "messages": messages, "at": times}


async def test_what_came_through_here_when_it_was_said_is_not_played_again(proxy: Running) -> None:
    ask = asking(proxy)
    await proxy.chat(WORDS, session="s1")
    await proxy.learned()
    now = datetime.now().astimezone()
    long_ago = now - timedelta(days=100)
    file = recorded("s1", (long_ago, "Our office is in the old harbour."), (now, WORDS))
    told = await ask("POST", "api/import/session?project=loom", file)
    assert (told["turns"], told["seen"], told["new"]) == (2, 1, 1)
    await proxy.learned()
    facts = (await ask("GET", "api/facts?text=PostgreSQL"))["facts"]
    assert [each["access"] for each in facts] == [1]


async def test_a_turn_that_has_grown_teaches_only_what_is_new_in_it(proxy: Running) -> None:
    ask = asking(proxy)
    at = datetime.fromisoformat("2026-03-04T15:30:00+00:00")
    file = recorded("s1", (at, WORDS))
    open_turn = {**file, "messages": file["messages"][:1], "at": file["at"][:1]}
    assert (await ask("POST", "api/import/session?project=loom", open_turn))["new"] == 1
    await proxy.learned()
    assert (await ask("POST", "api/import/session?project=loom", file))["new"] == 1
    await proxy.learned()
    facts = (await ask("GET", "api/facts?text=PostgreSQL"))["facts"]
    assert [(each["access"], each["recorded_at"][:10]) for each in facts if each["origin"] == "user"] == [
        (1, "2026-03-04")
    ]
    assert (await ask("GET", "api/log"))["receipts"] == []


async def test_who_ran_in_a_folder_was_at_work_though_no_tool_was_called(proxy: Running, tmp_path: Path) -> None:
    ask = asking(proxy)
    said = "The tide table lives in data/tides, could you rename its loader?"
    file = recorded("s1", (datetime.now().astimezone(), said))
    await ask("POST", "api/import/session?project=loom", {**file, "directory": str(tmp_path)})
    await proxy.learned()
    assert (await ask("GET", "api/facts?text=tide"))["facts"]


async def test_a_recorded_session_that_is_none_is_refused_with_a_sentence(proxy: Running) -> None:
    ask = asking(proxy)
    good = recorded("s1", (datetime.now().astimezone(), "x"))
    for wrong in (
        {**good, "path": "/v1/poems"},
        {**good, "at": good["at"][:1]},
        {**good, "at": ["yesterday", "today"]},
        {**good, "messages": "none"},
        {**good, "session": ""},
        {"runtime": "generic"},
    ):
        assert (await ask("POST", "api/import/session", wrong, status=422))["error"]
    assert (await ask("POST", "api/import/session", b"{", status=422))["error"]
    assert (await ask("GET", "api/status"))["stored"]["exchanges"] == 0


async def test_a_session_of_no_project_is_a_project_of_its_own(proxy: Running) -> None:
    ask = asking(proxy)
    told = await ask("POST", "api/import/session", recorded("s1", (datetime.now().astimezone(), WORDS)))
    assert told["project"] is None
    await proxy.learned()
    [fact] = [each for each in (await ask("GET", "api/facts"))["facts"] if each["origin"] == "user"]
    assert fact["owner"].startswith("up:/local/session%20")


async def test_where_memory_learns_nothing_nothing_is_played(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__mode="read-only") as proxy:
        file = recorded("s1", (datetime.now().astimezone(), WORDS))
        assert "memory.mode" in (await asking(proxy)("POST", "api/import/session", file, status=403))["error"]
