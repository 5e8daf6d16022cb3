"""A session that is larger than its window: what was shed stands in the log, and every handle brings it back whole."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.running import running

WORDS = "the heron nests at the northern pier"


def turn(number: int) -> list[dict[str, Any]]:
    """A call that reads a file, and what it gave."""
    arguments = orjson.dumps({"path": f"src/module_{number}.py"}).decode()
    call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": arguments}}
    text = "\n".join(f"def function_{number}_{line}():\n    return {line}" for line in range(40))
    return [
        {"role": "assistant", "content": f"I look at file {number}.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"{text}\n# {WORDS}, {number}"},
    ]


async def test_what_was_shed_is_told_and_comes_back_by_its_handle(tmp_path: Path) -> None:
    small = {"memory.default_window": 6000, "memory.shedding.reserve": 500}
    async with fake_provider() as provider, running(provider, tmp_path / "home", **small) as proxy:
        ask = asking(proxy)
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Look at the files."}]
        for number in range(14):
            messages += turn(number)
            await proxy.post("/v1/chat/completions", {"model": "m", "messages": messages}, x_session_id="s1")
            await proxy.learned()
            assert proxy.edge.memory is not None
            await proxy.edge.memory.tier_worker.catch_up()
        shed = [each["id"] for each in (await ask("GET", "api/log"))["receipts"] if each["shed"]]
        assert shed
        told = await ask("GET", f"api/log/{shed[-1]}")
        assert told["shed"]["removed"] > 0
        assert told["seen"]["requests"]
        lines = told["shed"]["parts"]
        assert lines
        for line in lines:
            whole = await ask("GET", f"api/content/{line.split()[0]}?tier=L2")
            assert WORDS in whole["text"] or "I look at file" in whole["text"]


SMALL = {"memory.default_window": 6000, "memory.shedding.reserve": 500}


async def test_no_secret_that_a_client_sends_gets_into_the_ledger(tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    async with fake_provider() as provider, running(provider, tmp_path / "home", **SMALL) as proxy:
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Look at the files."}]
        for number in range(16):
            messages += turn(number)
            messages[-1]["content"] += f"\nexport DEPLOY_TOKEN_{number}={secret}"
            await proxy.post("/v1/chat/completions", {"model": "m", "messages": messages}, x_session_id="s1")
            await proxy.learned()
        assert len(orjson.loads(provider.last.body)["messages"]) < len(messages), "a new segment was begun"
    with closing(sqlite3.connect(tmp_path / "home" / "journal.db")) as journal:
        texts = [text for (text,) in journal.execute("SELECT text FROM ledger")]
    assert any("earlier-in-this-session" in text for text in texts)
    assert not [text for text in texts if secret in text]


async def test_what_no_journal_gets_is_never_shed(tmp_path: Path) -> None:
    settings = SMALL | {"memory.mode": "read-only"}
    async with fake_provider() as provider, running(provider, tmp_path / "home", **settings) as proxy:
        messages: list[dict[str, Any]] = [{"role": "user", "content": "Look at the files."}]
        for number in range(14):
            messages += turn(number)
            await proxy.post("/v1/chat/completions", {"model": "m", "messages": messages}, x_session_id="s1")
        assert orjson.loads(provider.last.body)["messages"] == messages


async def test_a_limit_that_an_error_only_mentions_is_not_believed(tmp_path: Path) -> None:
    async def refuse(request: web.Request) -> web.StreamResponse:
        said = "Invalid value: 'maximum context length is 4096 tokens'."
        return web.json_response({"error": {"message": said, "code": "context_length_exceeded"}}, status=400)

    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:
        provider.answer = refuse
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
        await proxy.post("/v1/chat/completions", body, x_session_id="s1")
        assert proxy.edge.memory is not None
        assert proxy.edge.memory.windows.of("m") == 200_000
