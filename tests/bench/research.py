"""Recorded sub-agents played again through the proxy, framed as each runtime frames them: is every one recognised,
tied to the call that sent it, and kept whole?

    python -m tests.bench.research FOLDER [--limit 0] [--runtime NAME] [--json]

Every call of a sub-agent's tool in the transcripts is a session: its parent is told to call, the child asks (and reads
one file), the report comes back in the runtime's own frame. All children of one parent are under way at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from aiohttp import web

from memory.learning.redact import redact
from memory.learning.reports import acknowledges, plain, unframed
from memory.learning.spawning import is_spawner
from memory.research import Delivery, Research, ResearchOutcome, owners_of
from memory.scope import Scope
from tests import rooms
from tests.bench.transcripts import Body, text_of, transcripts
from tests.fake_provider import FakeProvider, fake_provider
from tests.running import Running, running

LEAST = 40
"""Characters that a recorded result must have to be a report."""

READ = "x = 1\n" * 200
_READING: Body = {"id": "t1", "type": "function", "function": {"name": "read", "arguments": '{"path": "src/x.py"}'}}


@dataclass(frozen=True)
class Call:
    """One recorded errand with its report."""

    parent: str
    id: str
    prompt: str
    description: str
    report: str


@dataclass(frozen=True)
class Client:
    """How a runtime sends a child out: its tool and the arguments, what stands around the child's prompt, the frame of
    the report, and the headers of both. ``later``: the call is acknowledged, and the report comes in a message."""

    name: str
    agent: str
    tool: str
    arguments: Callable[[Call], Mapping[str, Any]]
    opening: Callable[[Call], list[str]]
    back: Callable[[Call], str]
    of_parent: Callable[[str], dict[str, str]] = lambda parent: {}
    of_child: Callable[[str, str], dict[str, str]] = lambda parent, child: {}
    later: bool = False
    nobody: bool = False
    """Whether the child does not pass through the proxy."""


def _plainly(call: Call) -> list[str]:
    return [call.prompt]


def _told(call: Call) -> Mapping[str, Any]:
    return {"description": call.description, "prompt": call.prompt, "subagent_type": "explore"}


def _indented(call: Call) -> str:
    return "[Subagent hand-back]\n" + "\n".join(f"  {line}" for line in call.report.splitlines()) + "\nagentId: a1"


def _notified(call: Call) -> str:
    return (
        f"<task-notification><tool-use-id>{call.id}</tool-use-id><result>\n{call.report}\n</result></task-notification>"
    )


REMIND = "<system-reminder>\nThe date is 2026-11-20.\n</system-reminder>"

CLIENTS = (
    Client(
        "opencode",
        "opencode/1.18.33",
        "task",
        _told,
        _plainly,
        lambda call: f'<task id="ses_1" state="completed"><task_result>\n{call.report}\n</task_result></task>',
        lambda parent: {"x_session_id": parent},
        lambda parent, child: {"x_session_id": child, "x_parent_session_id": parent},
    ),
    Client(
        "Codex",
        "codex_exec/0.169.0",
        "spawn_agent",
        lambda call: {"message": call.prompt},
        lambda call: ["<environment_context>\n  <cwd>/work/loom</cwd>\n</environment_context>", call.prompt],
        lambda call: orjson.dumps({"status": {"019a": {"completed": call.report}}}).decode(),
        lambda parent: {"thread_id": parent, "session_id": parent, "originator": "codex_exec"},
        lambda parent, child: {
            "thread_id": child,
            "session_id": parent,
            "x_codex_parent_thread_id": parent,
            "x_openai_subagent": "collab_spawn",
            "originator": "codex_exec",
        },
    ),
    Client(
        "Claude Code",
        "claude-cli/2.1.329",
        "Agent",
        _told,
        lambda call: [REMIND, call.prompt],
        _indented,
        lambda parent: {"x_claude_code_session_id": parent},
        lambda parent, child: {"x_claude_code_session_id": parent, "x_claude_code_agent_id": child},
    ),
    Client(
        "Claude Code, in the background",
        "claude-cli/2.1.329",
        "Agent",
        lambda call: {**_told(call), "run_in_background": True},
        lambda call: [REMIND, call.prompt],
        _notified,
        lambda parent: {"x_claude_code_session_id": parent},
        lambda parent, child: {"x_claude_code_session_id": parent, "x_claude_code_agent_id": child},
        later=True,
    ),
    Client("Qwen Code", "QwenCode/0.24.4", "agent", _told, lambda call: [REMIND, call.prompt], _notified, later=True),
    Client(
        "pi",
        "pi (linux 6.1)",
        "subagent",
        lambda call: {"agent": "scout", "task": call.prompt},
        lambda call: [f"Task: {call.prompt}"],
        lambda call: call.report,
    ),
    Client(
        "Cline",
        "ai-sdk/openai-compatible/3.0.37",
        "spawn_agent",
        lambda call: {"systemPrompt": "You are careful.", "task": call.prompt},
        _plainly,
        lambda call: orjson.dumps({"text": call.report, "iterations": 2, "finishReason": "stop"}).decode(),
    ),
    Client(
        "OpenClaw",
        "OpenAI/JS 7.15.0",
        "tool_call",
        lambda call: {"id": "sessions_spawn", "args": {"task": call.prompt, "label": call.description}},
        lambda call: [
            "[Fri 2026-11-20 10:59 UTC] [Subagent Context] You are a sub-agent.\n\n"
            f"[Subagent Task]\n\n{call.prompt}\n\nBegin. Your assigned task is in the system prompt."
        ],
        lambda call: f"session_key: agent:main:subagent:1\n<prompt-data>{call.report}</prompt-data>",
        later=True,
    ),
    Client(
        "openai-agents",
        "Agents/Python 0.24.0",
        "ask_the_researcher",
        lambda call: {"input": call.prompt},
        _plainly,
        lambda call: call.report,
    ),
    Client(
        "deepagents",
        "OpenAI/Python 3.51.0",
        "task",
        lambda call: {"description": call.prompt, "subagent_type": "general"},
        _plainly,
        lambda call: call.report,
    ),
    Client(
        "one that does not pass", "claude-cli/2.1.329", "Agent", _told, _plainly, _indented, nobody=True,
        of_parent=lambda parent: {"x_claude_code_session_id": parent},
    ),
)  # fmt: skip


def calls_in(folder: Path, limit: int) -> list[Call]:
    """Every recorded errand, one of each prompt and parent."""
    found: dict[tuple[str, str], Call] = {}
    for transcript in transcripts(folder, 0, 0):
        results = {body["tool_call_id"]: text_of(body) for body in transcript.messages if body["role"] == "tool"}
        for body in transcript.messages:
            for made in body.get("tool_calls") or ():
                if not is_spawner(made["function"]["name"]):
                    continue
                told = json.loads(made["function"]["arguments"])
                back = results.get(made["id"], "")
                report = "" if acknowledges(back) else unframed(back)
                if not isinstance(told.get("prompt"), str) or not told["prompt"].strip():
                    continue
                if len(report.strip()) < LEAST:
                    report = f"Nothing is recorded of what {transcript.id} was told for {made['id']}."
                call = Call(transcript.id, made["id"], told["prompt"], str(told.get("description", "")), report)
                found.setdefault((call.parent, call.prompt), call)
    calls = list(found.values())
    return calls[:limit] if limit else calls


async def play(proxy: Running, upstream: FakeProvider, client: Client, calls: Sequence[Call]) -> None:
    """The sessions of one parent."""
    by_prompt = {call.prompt: call for call in calls}
    parent = calls[0].parent

    async def answer(request: web.Request) -> web.StreamResponse:
        body = orjson.loads(upstream.last.body)
        return web.json_response(_reply(_next(client, body["messages"], by_prompt)))

    upstream.answer = answer
    asked: list[Body] = [{"role": "user", "content": f"Look into it all, {parent}."}]
    made = [_made(client, call) for call in calls]
    await _send(proxy, client, asked, client.of_parent(parent))
    asked.append({"role": "assistant", "content": None, "tool_calls": made})

    async def child(call: Call) -> None:
        texts = [{"type": "text", "text": text} for text in client.opening(call)]
        opening: list[Body] = [{"role": "user", "content": texts}]
        headers = client.of_child(parent, f"{parent}-{call.id}")
        await _send(proxy, client, opening, headers)
        went_on = [
            *opening,
            {"role": "assistant", "content": None, "tool_calls": [_READING]},
            {"role": "tool", "tool_call_id": "t1", "content": READ},
        ]
        await _send(proxy, client, went_on, headers)

    if not client.nobody:
        for each in calls:  # the fake provider answers by its newest request
            await child(each)
    acknowledged = "Async agent launched successfully.\nagentId: a1"
    for call in calls:
        content = acknowledged if client.later else client.back(call)
        asked.append({"role": "tool", "tool_call_id": call.id, "content": content})
    await _send(proxy, client, asked, client.of_parent(parent))
    if client.later:
        asked.append({"role": "assistant", "content": "They run."})
        asked += [{"role": "user", "content": client.back(call)} for call in calls]
        await _send(proxy, client, asked, client.of_parent(parent))


def _made(client: Client, call: Call) -> Body:
    arguments = orjson.dumps(client.arguments(call)).decode()
    return {"id": call.id, "type": "function", "function": {"name": client.tool, "arguments": arguments}}


def _next(client: Client, messages: Sequence[Body], calls: Mapping[str, Call]) -> Body:
    """What the model says next: the parent's calls, a child's reading, a child's report, or a nod."""
    first = text_of(messages[0])
    if first.startswith("Look into it all"):
        made = [_made(client, call) for call in calls.values()]
        begins: Body = {"content": None, "tool_calls": made}
        return begins if len(messages) == 1 else {"content": "They run."}
    if messages[-1]["role"] == "user":
        return {"content": None, "tool_calls": [_READING]}
    # The longest prompt that stands in the opening is the child's.
    prompt = max((each for each in calls if each in first), key=len)
    return {"content": calls[prompt].report}


def _reply(message: Body) -> dict[str, Any]:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}


async def _send(proxy: Running, client: Client, messages: Sequence[Body], headers: Mapping[str, str]) -> None:
    tools = [{"type": "function", "function": {"name": client.tool, "parameters": {"type": "object"}}}]
    named = {"user_agent": client.agent, "x_palimpsest_project": "loom", **headers}
    body = {"model": "m", "messages": list(messages), "tools": tools}
    status, reply, _ = await proxy.post("/v1/chat/completions", body, **named)
    if status != 200:
        raise aiohttp.ClientError(f"{status}: {reply[:200]!r}")


async def measured(client: Client, calls: Sequence[Call]) -> dict[str, Any]:
    """How many of the calls were recognised, tied and kept whole."""
    by_parent: dict[str, list[Call]] = defaultdict(list)
    for call in calls:
        by_parent[call.parent].append(call)
    with tempfile.TemporaryDirectory() as folder:
        async with fake_provider() as upstream, running(upstream, Path(folder) / "home") as proxy:
            for several in by_parent.values():
                await play(proxy, upstream, client, several)
            await proxy.learned()
            memory = proxy.edge.memory
            assert memory is not None
            await rooms.subagents(memory).worker.catch_up()
            found = await rooms.subagents(memory).library.newest(owners_of(Scope(None, "local", "loom")), 100_000)
            trails = {each.id: await rooms.subagents(memory).library.trail(each) for each in found}
    whole = {each.id: any(result.text == READ for m in trails[each.id] for result in m.results) for each in found}
    by_call: dict[tuple[str, str], list[Research]] = defaultdict(list)
    for each in found:
        by_call[each.call, plain(each.question)].append(each)
    counts = {"calls": len(calls), "recognised": 0, "tied": 0, "whole": 0, "came back": 0, "extra": 0}
    for call in calls:
        mine = by_call.get((call.id, plain(redact(call.prompt).text)), [])
        if not mine:
            continue
        each = mine[0]
        done = each.outcome is (ResearchOutcome.UNSEEN if client.nobody else ResearchOutcome.FINISHED)
        counts["recognised"] += done
        counts["tied"] += bool(each.parent)
        same = plain(each.report) == plain(redact(call.report).text)
        counts["whole"] += same and (whole[each.id] or client.nobody)
        counts["came back"] += each.delivery is Delivery.WHOLE
    counts["extra"] = len(found) - sum(bool(each) for each in by_call.values())
    return {"runtime": client.name, **counts}


async def main() -> None:
    """Play and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--runtime", default="")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    calls = calls_in(given.folder, given.limit)
    rows = []
    for client in CLIENTS:
        if given.runtime in client.name:
            rows.append(await measured(client, calls))
            if not given.json:
                row = rows[-1]
                print("  ".join(f"{name} {value}" for name, value in row.items()), flush=True)
    if given.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    asyncio.run(main())
