"""A scripted provider in a process of its own: every request gets the same words, whole or in spaced chunks.

    python -m tests.bench.provider PORT [SPACING_MS] [LOG]

It reads no more of a body than whether a stream is asked for, and whether what is asked is answered in it (see
``planted``), which it says at the end of its reply: so its own work is small and the same for all.
What stands in the header ``x-bench-tag`` comes back in the reply, so that a reply can be told from the others. Into
``LOG`` goes a line for each request: its ``x-session-id``, a tab, its body.
"""

import asyncio
import re
import sys
from pathlib import Path

import orjson
from aiohttp import web

from tests.bench.planted import verdict

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
        words = (*WORDS, *filter(None, (tag, told(body))))
        if not _STREAM.search(body[:TAIL]) and not _STREAM.search(body[-TAIL:]):
            return web.Response(body=_whole("".join(words)), content_type="application/json")
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for place, word in enumerate(words):
            if place:
                await asyncio.sleep(spacing)
            await response.write(_event({"delta": {"role": "assistant", "content": word}, "finish_reason": None}))
        await response.write(_event({"delta": {}, "finish_reason": "stop"}) + _USAGE + b"data: [DONE]\n\n")
        await response.write_eof()
        return response

    async def models(_: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "bench", "object": "model", "owned_by": "bench"}]})

    app = web.Application(client_max_size=2**30)
    app.router.add_post("/v1/chat/completions", chat)
    app.router.add_get("/v1/models", models)
    return app


_NUMBERS = {"prompt_tokens": 500, "completion_tokens": len(WORDS), "total_tokens": 500 + len(WORDS)}
_HEAD = {"id": "chatcmpl-bench", "created": 1, "model": "bench"}
_CHUNK = {**_HEAD, "object": "chat.completion.chunk"}
_USAGE = b"data: " + orjson.dumps({**_CHUNK, "choices": [], "usage": _NUMBERS}) + b"\n\n"


def told(body: bytes) -> str:
    """What the reply says of the body's question."""
    found = verdict(body)
    return f" [{found.decode()}]" if found else ""


def _event(choice: dict[str, object]) -> bytes:
    return b"data: " + orjson.dumps({**_CHUNK, "choices": [{"index": 0, **choice}]}) + b"\n\n"


def _whole(text: str) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return orjson.dumps({**_HEAD, "object": "chat.completion", "choices": [choice], "usage": _NUMBERS})


if __name__ == "__main__":
    spacing_ms = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    taken = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    web.run_app(
        make_app(spacing_ms / 1000, taken), host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None
    )
