"""The scripted model's server: four wire formats on the loopback address, and all that was forwarded to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.e2e.compaction import SUMMARY, asks_for_summary
from tests.e2e.frames import ASKS, HeldHistories
from tests.e2e.replies import CUT, Events, Replies
from tests.e2e.script import Action, Script, messages_of
from tests.e2e.usage import tokens_of


@dataclass(frozen=True, slots=True)
class Forwarded:
    """One request as it reached the model."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    raw: str
    step: int
    fault: str
    compaction: bool = False
    """Whether the client asks for its session's summary."""
    frame: str = ""
    """The frame that came, where it came over a WebSocket: ``body`` has all that the server holds before it, too."""

    @property
    def tokens(self) -> int:
        """Its size, as the model reports it."""
        return tokens_of(self.body)

    @property
    def messages(self) -> list[Any]:
        """Its messages, as a provider would cache them."""
        return messages_of(self.body)


WARM_UP = Action()
"""For a frame that only has its socket's server read what will be asked for."""


class Model:
    """A provider that follows a script."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.seen: list[Forwarded] = []
        self._replies = Replies()
        self._runner: web.AppRunner | None = None

    async def start(self) -> str:
        """Listen; the base address."""
        app = web.Application(client_max_size=64 * 2**20)
        replies = self._replies
        for base in ("", "/v1"):
            app.router.add_post(base + "/chat/completions", self._answer(replies.chat, replies.chat_whole))
            app.router.add_post(base + "/responses", self._answer(replies.responses, replies.responses_whole))
            app.router.add_get(base + "/responses", self._socket)
            app.router.add_post(base + "/messages", self._answer(replies.messages, replies.messages_whole))
        model = "/v1beta/models/{model}"
        app.router.add_post(model + ":generateContent", self._answer(replies.gemini, replies.gemini_whole))
        app.router.add_post(
            model + ":streamGenerateContent", self._answer(replies.gemini, replies.gemini_whole, streams=True)
        )
        app.router.add_post(model + ":countTokens", _counted)
        app.router.add_route("*", "/{path:.*}", _nothing)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        assert site._server is not None
        port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
        return f"http://127.0.0.1:{port}"

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    def of_step(self, step: int) -> list[Forwarded]:
        """The requests of one step, in order."""
        return [one for one in self.seen if one.step == step]

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        """Responses over a WebSocket. What it has answered on a connection it holds for as long as that lasts."""
        socket = web.WebSocketResponse(max_msg_size=64 * 2**20)
        await socket.prepare(request)
        held = HeldHistories()
        async for message in socket:
            frame = json.loads(message.data)
            if frame["type"] != ASKS:
                continue
            try:
                body = held.whole(frame)
            except KeyError:
                await socket.send_json(_not_found(frame["previous_response_id"]))
                continue
            warms_up = body.get("generate") is False
            raw = json.dumps(body, ensure_ascii=False)
            compaction = asks_for_summary(body)
            action = WARM_UP if warms_up else SUMMARY if compaction else self.script.decide(body, raw)
            told = (action.step, action.fault, compaction, message.data)
            self.seen.append(Forwarded(request.path, dict(request.headers), body, raw, *told))
            if action.fault in ("429", "500"):
                event = _refused_event(int(action.fault))
                held.told(event)
                await socket.send_json(event)
                continue
            for part in self._replies.responses(body, action):
                if isinstance(part, bytes):
                    event = json.loads(part.partition(b"data: ")[2])
                    held.told(event)
                    await socket.send_json(event)
                elif action.fault == "cut":
                    # What was written must be on its way before the connection breaks.
                    await asyncio.sleep(0.05)
                    if request.transport is not None:
                        request.transport.abort()
                    return socket
        return socket

    def _answer(
        self,
        streamed: Callable[[Mapping[str, Any], Action], Events],
        whole: Callable[[Mapping[str, Any], Action], Any],
        streams: bool = False,
    ) -> Callable[[web.Request], Any]:
        async def answer(request: web.Request) -> web.StreamResponse:
            raw = (await request.read()).decode("utf-8")
            body = json.loads(raw)
            compaction = asks_for_summary(body)
            action = SUMMARY if compaction else self.script.decide(body, raw)
            told = (action.step, action.fault, compaction)
            self.seen.append(Forwarded(request.path, dict(request.headers), body, raw, *told))
            if action.fault in ("429", "500"):
                return _refused(int(action.fault), "messages" in request.path)
            if not (streams or body.get("stream")):
                return web.json_response(whole(body, action))
            response = web.StreamResponse(headers={"content-type": "text/event-stream"})
            await response.prepare(request)
            for event in streamed(body, action):
                if isinstance(event, bytes):
                    await response.write(event)
                elif event is CUT and action.fault == "cut":
                    # What was written must be on its way before the connection breaks.
                    await asyncio.sleep(0.05)
                    if request.transport is not None:
                        request.transport.abort()
                    return response
            await response.write_eof()
            return response

        return answer


def _refused_event(status: int) -> dict[str, Any]:
    kind = "rate_limit_error" if status == 429 else "server_error"
    error = {"type": kind, "code": kind, "message": f"scripted {status}"}
    return {"type": "error", "status": status, "error": error, "headers": {"retry-after": "1"}}


def _not_found(response: str) -> dict[str, Any]:
    message = f"Previous response with id {response!r} not found."
    error = {"type": "invalid_request_error", "code": "previous_response_not_found", "message": message}
    return {"type": "error", "status": 400, "error": {**error, "param": "previous_response_id"}}


def _refused(status: int, anthropic: bool) -> web.Response:
    kind = "rate_limit_error" if status == 429 else "api_error"
    error = {"type": kind, "message": f"scripted {status}"}
    body = {"type": "error", "error": error} if anthropic else {"error": error}
    return web.json_response(body, status=status, headers={"retry-after": "1"} if status == 429 else {})


async def _counted(request: web.Request) -> web.Response:
    """What Gemini's clients ask before a request."""
    return web.json_response({"totalTokens": tokens_of(await request.json())})


async def _nothing(request: web.Request) -> web.Response:
    """``HEAD /api/hello``, ``GET /v1/models`` and whatever else a client may ask for."""
    if request.method == "HEAD":
        return web.Response()
    if request.path.endswith("/models"):
        return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model"}]})
    return web.json_response({"error": {"message": "there is nothing here"}}, status=404)
