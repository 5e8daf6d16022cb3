"""A talk that sends a sub-agent out: what it asks, what comes back, and what is kept of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from memory.research import Research, owners_of
from memory.scope import Scope
from tests import rooms
from tests.fake_provider import FakeProvider
from tests.proxy.asking import script
from tests.proxy.wire.rounds.scripts import PATHS, Call, Round, Say
from tests.running import Running

CHAT = PATHS[0]
PROMPT = "Find out how the retry policy of the billing service works, and list every parameter with its default."
REPORT = (
    "## Retry policy\nThe billing service retries in `billing/retry.py` with exponential backoff.\n"
    "- `max_attempts` defaults to 5 (RetryPolicy, line 14)\n- `base_delay_ms` defaults to 250\n"
    "- `jitter` is a share of the delay, 0.2 by default\nThe queue consumer in billing/consumer.py ignores it.\n"
)
REWORDED = "List the parameters of the billing service's retry policy with their defaults, and how that policy works."
READ = Call("t1", "read", '{"path": "billing/retry.py"}')
TOOLS = [{"type": "function", "function": {"name": "task", "parameters": {"type": "object"}}}]
SCOPE = Scope(None, "local", "loom")


def spawn(id: str, prompt: str, description: str = "Study the retry policy", tool: str = "task") -> Call:
    return Call(id, tool, orjson.dumps({"description": description, "prompt": prompt}).decode())


async def send(proxy: Running, messages: list[dict[str, Any]], project: str = "loom", **headers: str) -> bytes:
    body = {"model": "m", "messages": messages, "tools": TOOLS}
    status, reply, _ = await proxy.post(CHAT, body, x_palimpsest_project=project, **headers)
    assert status == 200, reply
    return reply


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def called(*calls: Call) -> dict[str, Any]:
    told = [
        {"id": each.id, "type": "function", "function": {"name": each.name, "arguments": each.arguments}}
        for each in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": told}


def result(id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


async def researched(proxy: Running, scope: Scope = SCOPE) -> list[Research]:
    await proxy.learned()
    memory = proxy.edge.memory
    assert memory is not None
    await rooms.subagents(memory).worker.catch_up()
    return sorted(await rooms.subagents(memory).library.newest(owners_of(scope), 100), key=lambda each: each.began)


async def play(proxy: Running, upstream: FakeProvider, prompt: str = PROMPT, report: str = REPORT) -> None:
    """A parent sends a child, which reads a file and reports; the parent gets the report back."""
    parent = [user("How do we retry?")]
    script(upstream, CHAT, Round((spawn("c1", prompt),)))
    await send(proxy, parent)
    script(upstream, CHAT, Round((READ,)), Round((Say(report),)))
    child = [user(prompt)]
    await send(proxy, child)
    await send(proxy, [*child, called(READ), result("t1", "max_attempts = 5\n" * 40)])
    script(upstream, CHAT, Round((Say("It retries five times."),)))
    await send(proxy, [*parent, called(spawn("c1", prompt)), result("c1", f"<task_result>\n{report}</task_result>")])


def stored(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.glob("journal.db*"))


def forwarded(upstream: FakeProvider) -> str:
    return str(orjson.loads(upstream.last.body)["messages"][-1]["content"])
