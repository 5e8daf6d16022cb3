"""A scripted provider in a process of its own: every request gets the same words, whole or in spaced chunks.

    python -m tests.bench.provider PORT [SPACING_MS] [LOG]

It reads no more of a body than whether a stream is asked for, and whether what is asked is answered in it (see
``planted``), which it says in its reply's id: so its own work is small and the same for all. Within the loop of an
agent it replies with the calls whose results come next (see ``shapes``).
What stands in the header ``x-bench-tag`` comes back in the reply, so that a reply can be told from the others. Into
``LOG`` goes a line for each request: its ``x-session-id``, a tab, its body.
"""

import asyncio
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import orjson
from aiohttp import web

from tests.bench.planted import mark_of, verdict
from tests.bench.sessions import CHAT
from tests.bench.shapes import loop
from tests.proxy.wire.rounds.scripts import Round, stream

WORDS = ("The ", "retries ", "stay ", "at ", "three", ", ", "as ", "decided", ".")
_STREAM = re.compile(rb'"stream"\s*:\s*true')
TAIL = 4096
"""Bytes at a body's beginning and at its end, in one of which the wish for a stream stands."""


def make_app(spacing: float, log: Path | None = None) -> web.Application:
    """The provider; ``spacing`` is in seconds, ``log`` takes what came."""
    lines = log.open("ab") if log is not None else None

    async def chat(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        if lines is not None:
            lines.write(request.headers.get("x-session-id", "").encode() + b"\t" + body + b"\n")
            lines.flush()
        tag = request.headers.get("x-bench-tag", "")
        words = (*WORDS, *filter(None, (tag,)))
        name, (question, step) = told(body), mark_of(body) or (0, 0)
        if not _STREAM.search(body[:TAIL]) and not _STREAM.search(body[-TAIL:]):
            return web.Response(body=_whole(name, "".join(words)), content_type="application/json")
        events = _calls(name, loop(question)[step - 1].reply) if step else _spoken(name, words)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for place, event in enumerate(events):
            if place:
                await asyncio.sleep(spacing)
            await response.write(event)
        await response.write_eof()
        return response

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "bench", "object": "model", "owned_by": "bench"}]})

    app = web.Application(client_max_size=2**30)
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    return app


_NUMBERS = {"prompt_tokens": 500, "completion_tokens": len(WORDS), "total_tokens": 500 + len(WORDS)}
_HEAD = {"created": 1, "model": "bench"}


def told(body: bytes) -> str:
    """The reply's id, which says whether the body's question is answered in it."""
    return f"chatcmpl-bench-{verdict(body).decode()}"


def _calls(name: str, reply: Round) -> list[bytes]:
    return [event + b"\n\n" for event in stream(CHAT, replace(reply, id=name)).split(b"\n\n") if event]


def _spoken(name: str, words: Sequence[str]) -> list[bytes]:
    events = [_event(name, {"delta": {"role": "assistant", "content": word}, "finish_reason": None}) for word in words]
    end = _event(name, {"delta": {}, "finish_reason": "stop"})
    usage = {"id": name, **_HEAD, "object": "chat.completion.chunk", "choices": [], "usage": _NUMBERS}
    events[-1] += end + b"data: " + orjson.dumps(usage) + b"\n\ndata: [DONE]\n\n"
    return events


def _event(name: str, choice: dict[str, object]) -> bytes:
    chunk = {"id": name, **_HEAD, "object": "chat.completion.chunk", "choices": [{"index": 0, **choice}]}
    return b"data: " + orjson.dumps(chunk) + b"\n\n"


def _whole(name: str, text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return orjson.dumps({"id": name, **_HEAD, "object": "chat.completion", "choices": [choice], "usage": _NUMBERS})


if __name__ == "__main__":
    spacing_ms = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    taken = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    web.run_app(
        make_app(spacing_ms / 1000, taken), host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None
    )
