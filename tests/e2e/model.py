"""The scripted model's server: four wire formats on the loopback address, and all that was forwarded to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from tests.e2e.compaction import SUMMARY, asks_for_summary
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

    @property
    def tokens(self) -> int:
        """Its size, as the model reports it."""
        return tokens_of(self.body)

    @property
    def messages(self) -> list[Any]:
        """Its messages, as a provider would cache them."""
        return messages_of(self.body)


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
