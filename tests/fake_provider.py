"""A small real provider: an aiohttp server that records what reaches it and answers as it is told.

Shared by the tests of the edge. It speaks the three formats just as far as a test needs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson
from aiohttp import web

from proxy.wire.lenient_json import loads


@dataclass
class Recorded:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class FakeProvider:
    """What has arrived, and how the next request is answered."""

    requests: list[Recorded] = field(default_factory=list)
    answer: Answer | None = None
    reply: str = "OK."
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    url: str = ""

    @property
    def last(self) -> Recorded:
        """The newest request."""
        return self.requests[-1]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Record, then answer."""
        body = await request.read()
        self.requests.append(Recorded(request.method, request.raw_path, dict(request.headers), body))
        if self.answer is not None:
            return await self.answer(request)
        if request.method != "POST":
            return web.json_response({"object": "list", "data": []})
        asked = (loads(body) if body[:1] == b"{" else None) or {}
        if request.path.endswith("/messages"):
            return await self._messages(request, asked)
        if request.path.endswith("/responses"):
            return await self._responses(request, asked)
        return await self._chat(request, asked)

    async def _chat(self, request: web.Request, asked: dict[str, object]) -> web.StreamResponse:
        usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": self.reply}
            return web.json_response(
                {"id": "c1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
            )
        deltas = [{"role": "assistant", "content": ""}, {"content": self.reply}]
        events: list[dict[str, object]] = [
            {"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
        ]
        events.append({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        events.append({"id": "c1", "choices": [], "usage": usage})
        return await stream(request, [*(b"data: " + orjson.dumps(event) for event in events), b"data: [DONE]"])

    async def _messages(self, request: web.Request, asked: dict[str, object]) -> web.StreamResponse:
        usage = {"input_tokens": 10, "output_tokens": 2}
        if not asked.get("stream"):
            content = [{"type": "text", "text": self.reply}]
            return web.json_response(
                {
                    "id": "m1",
                    "type": "message",
                    "role": "assistant",
                    "content": content,
                    "stop_reason": "end_turn",
                    "usage": usage,
                }
            )
        events: list[dict[str, object]] = [
            {"type": "message_start", "message": {"id": "m1", "role": "assistant", "content": [], "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": self.reply}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        ]
        return await stream(request, [_named(event) for event in events])

    async def _responses(self, request: web.Request, asked: dict[str, object]) -> web.StreamResponse:
        item = {
            "type": "message",
            "id": "i1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": self.reply, "annotations": []}],
        }
        usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
        whole = {"id": "r1", "object": "response", "status": "completed", "output": [item], "usage": usage}
        if not asked.get("stream"):
            return web.json_response(whole)
        events: list[dict[str, object]] = [
            {"type": "response.created", "response": {"id": "r1", "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
            {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": self.reply},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]
        return await stream(request, [_named(event) for event in events])


async def stream(request: web.Request, events: list[bytes]) -> web.StreamResponse:
    """Answer with server-sent events."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event in events:
        await response.write(event + b"\n\n")
    await response.write_eof()
    return response


@asynccontextmanager
async def fake_provider() -> AsyncIterator[FakeProvider]:
    """A running provider on a free loopback port."""
    provider = FakeProvider()
    app = web.Application(client_max_size=2**30)
    app.router.add_route("*", "/{path:.*}", provider.handle)
    runner = web.AppRunner(
        app,
        handler_cancellation=True,
        auto_decompress=False,
        access_log=None,
        max_field_size=2**17,
        shutdown_timeout=0.1,
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    provider.url = f"http://{host}:{port}"
    try:
        yield provider
    finally:
        await runner.cleanup()


def _named(event: dict[str, object]) -> bytes:
    return f"event: {event['type']}\n".encode() + b"data: " + orjson.dumps(event)
