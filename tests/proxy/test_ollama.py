"""Ollama's chat with memory: a stream of lines passes byte by byte, what was said is known next time, and nobody else
on the network reaches this machine's models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from tests.fake_provider import FakeProvider, fake_provider
from tests.running import Running, running

KNOWN = "The staging gateway listens on port 7443 behind the reverse proxy."
LINES = (
    b'{"model":"m","message":{"role":"assistant","content":"It is "},"done":false}\n'
    b'{"model":"m","message":{"role":"assistant","content":"so."},"done":false}\n'
    b'{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","eval_count":3}\n'
)


def answering(provider: FakeProvider) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        for line in LINES.splitlines(keepends=True):
            await response.write(line)
        await response.write_eof()
        return response

    provider.answer = answer


async def ask(proxy: Running, text: str, project: str) -> tuple[bytes, Any]:
    body = {"model": "qwen3:8b", "messages": [{"role": "user", "content": text}], "options": {"temperature": 0.0}}
    status, reply, headers = await proxy.post("/api/chat", body, x_palimpsest_project=project)
    assert status == 200, reply
    return reply, headers


async def test_what_was_said_is_known_in_the_next_session_and_in_no_other_project(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        answering(provider)
        reply, headers = await ask(proxy, KNOWN, "loom")
        assert reply == LINES and headers["Content-Type"] == "application/x-ndjson"
        await proxy.learned()
        await ask(proxy, "Which port does the staging gateway listen on?", "loom")
        told = orjson.loads(provider.last.body)
        assert "7443" in told["messages"][0]["content"]
        assert told["options"] == {"temperature": 0.0}
        await ask(proxy, "Which port does the staging gateway listen on?", "other")
        assert "7443" not in orjson.loads(provider.last.body)["messages"][0]["content"]


@pytest.mark.parametrize("path", ["/api/chat", "/api/generate", "/x/api/chat"])
async def test_somebody_else_does_not_reach_this_machines_models(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:

        async def nobodys(transport: object) -> bool:
            return False

        monkeypatch.setattr(type(proxy.edge.peers), "is_own", lambda self, transport: nobodys(transport))
        status, reply, _ = await proxy.post(path, {"model": "m", "messages": []}, user_agent="ollama/1")
        assert status == 401, reply
        assert provider.requests == []
