"""A small scripted model for the demonstration: a real server that speaks chat completions and knows a few lines."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

UNHURRIED = {"memory.recall.deadline_ms": 10_000, "memory.journal.hold_ms": 10_000}
"""Settings of a proxy that is shown: a machine that is busy takes longer to show the same."""


@dataclass
class ScriptedModel:
    """Answers by rule: it repeats what memory put before it (where it ``tells``), and nods at everything else.
    ``bodies`` are the requests as they reached it."""

    url: str = ""
    tells: bool = True
    bodies: list[bytes] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.Response:
        """One chat completion."""
        body = await request.read()
        self.bodies.append(body)
        newest_text = newest(body)
        recalled = newest_text.partition("<recalled-memory>")[2].partition("</recalled-memory>")[0]
        known = [line.partition(": ")[2] for line in recalled.splitlines() if line.startswith("user: ")]
        text = f"You told me: {' '.join(known)}" if known and self.tells else "Understood."
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": len(body) // 4, "completion_tokens": len(text) // 4}
        usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response(
            {"id": "scripted", "object": "chat.completion", "model": "scripted", "choices": [choice], "usage": usage}
        )


@asynccontextmanager
async def scripted_model(tells: bool = True) -> AsyncIterator[ScriptedModel]:
    """The model, on a free loopback port."""
    model = ScriptedModel(tells=tells)
    app = web.Application(client_max_size=2**24)
    app.router.add_post("/{path:.*}", model.answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        model.url = f"http://{host}:{port}/v1"
        yield model
    finally:
        await runner.cleanup()


def newest(body: bytes) -> str:
    """The text of a request's newest message."""
    content: str | list[dict[str, str]] = json.loads(body)["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
