"""A request that its provider refuses for its length is shortened and sent once more; the client sees one reply."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web

from memory.conversation import Conversation
from memory.edits import Replace
from memory.session import Arrival, Prepared
from tests.fake_provider import Answer, FakeProvider, fake_provider
from tests.running import Running, running

LONG = "a very long text that the model will not miss. " * 50
SENTENCE = "prompt is too long: 208310 tokens > 200000 maximum"
REFUSAL = orjson.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": SENTENCE}})

BODIES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "model": "m",
        "messages": [
            {"role": "user", "content": "begin"},
            {"role": "assistant", "content": LONG},
            {"role": "user", "content": "go on"},
        ],
    },
    "/v1/messages": {
        "model": "m",
        "max_tokens": 10,
        "messages": [
            {"role": "user", "content": "begin"},
            {"role": "assistant", "content": LONG},
            {"role": "user", "content": "go on"},
        ],
    },
    "/v1/responses": {
        "model": "m",
        "input": [
            {"role": "user", "content": "begin"},
            {"role": "assistant", "content": [{"type": "output_text", "text": LONG}]},
            {"role": "user", "content": "go on"},
        ],
    },
}


@dataclass
class Shortening:
    """Leaves the long text out, or fails to; and knows what it was told."""

    told: list[tuple[int, int]] = field(default_factory=list)
    finds: bool = True
    fails: bool = False

    async def overflowed(
        self, conversation: Conversation, arrival: Arrival, prepared: Prepared, limit: int, size: int
    ) -> Prepared | None:
        self.told.append((limit, size))
        if self.fails:
            raise RuntimeError("broken")
        edits = (Replace(1, 0, "[left out]"),)
        return replace(prepared, edits=edits) if self.finds else None


def shortening(proxy: Running, monkeypatch: pytest.MonkeyPatch, **how: bool) -> Shortening:
    assert proxy.edge.memory is not None
    found = Shortening(finds=how.get("finds", True), fails=how.get("fails", False))
    monkeypatch.setattr(proxy.edge.memory.preparation, "shorten_after_overflow", found.overflowed, raising=False)
    return found


def refusing(provider: FakeProvider, times: int, body: bytes = REFUSAL, **headers: str) -> Answer:
    """Refuse so many requests for their length, then answer."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if len(provider.requests) > times:
            provider.answer, after = None, provider.requests.pop()
            response = await provider.handle(request)
            provider.requests[-1] = after
            return response
        return web.Response(
            status=400, body=body, content_type="application/json", headers={"request-id": "first", **headers}
        )

    return answer


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("path", BODIES)
async def test_the_client_sees_the_reply_to_the_shortened_request_only(
    path: str, streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        asked = shortening(proxy, monkeypatch)
        provider.answer = refusing(provider, times=1)
        status, reply, headers = await proxy.post(path, BODIES[path] | {"stream": streamed})
        assert status == 200 and b"OK." in reply and b"too long" not in reply
        assert "request-id" not in headers
        assert asked.told == [(200_000, 208_310)]
        first, second = provider.requests
        assert LONG.encode() in first.body and LONG.encode() not in second.body and b"[left out]" in second.body
        assert first.headers.get("Authorization") == second.headers.get("Authorization")


async def test_a_compressed_request_is_shortened_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        shortening(proxy, monkeypatch)
        provider.answer = refusing(provider, times=1)
        packed = gzip.compress(orjson.dumps(BODIES["/v1/chat/completions"]))
        status, _, _ = await proxy.post("/v1/chat/completions", packed, Content_Encoding="gzip")
        assert status == 200
        assert "Content-Encoding" not in provider.last.headers and b"[left out]" in provider.last.body


async def test_a_compressed_refusal_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        shortening(proxy, monkeypatch)
        packed = gzip.compress(REFUSAL)
        provider.answer = refusing(provider, 1, packed, **{"Content-Encoding": "gzip"})
        status, _, _ = await proxy.post("/v1/chat/completions", BODIES["/v1/chat/completions"])
        assert status == 200


@pytest.mark.parametrize(
    ("how", "sent"), [({}, 2), ({"finds": False}, 1), ({"fails": True}, 1)], ids=["refused again", "nothing", "broken"]
)
async def test_the_providers_first_word_stands_where_shortening_does_not_help(
    how: dict[str, bool], sent: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        asked = shortening(proxy, monkeypatch, **how)
        provider.answer = refusing(provider, times=5)
        status, reply, headers = await proxy.post("/v1/messages", BODIES["/v1/messages"])
        assert (status, reply, headers["request-id"]) == (400, REFUSAL, "first")
        assert len(provider.requests) == sent
        assert len(asked.told) == 1


async def test_a_plan_that_is_no_shorter_is_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        shortening(proxy, monkeypatch)
        provider.answer = refusing(provider, times=5)
        body = {"model": "m", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
        status, reply, _ = await proxy.post("/v1/chat/completions", body)
        assert (status, reply, len(provider.requests)) == (400, REFUSAL, 1)


@pytest.mark.parametrize(
    "body",
    [
        b'{"error":{"message":"messages.1: tool_use without tool_result"}}',
        b'{"error":{"message":"prompt is too long"}}' + b" " * (3 << 20),
        b"",
    ],
    ids=["another fault", "a large body", "no body"],
)
async def test_any_other_error_comes_back_as_it_was(
    body: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        asked = shortening(proxy, monkeypatch)
        provider.answer = refusing(provider, 5, body)
        status, reply, _ = await proxy.post("/v1/messages", BODIES["/v1/messages"])
        assert (status, reply, len(provider.requests), asked.told) == (400, body, 1, [])


async def test_the_exchange_is_journaled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        shortening(proxy, monkeypatch)
        provider.answer = refusing(provider, times=1)
        await proxy.post("/v1/chat/completions", BODIES["/v1/chat/completions"])
        await proxy.learned()
        assert proxy.edge.memory is not None
        assert (await proxy.edge.memory.journal.counts()).exchanges == 1
