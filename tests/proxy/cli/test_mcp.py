"""``palimpsest mcp`` as a runtime starts it: a subprocess that is spoken to over its pipes."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import orjson

from proxy.cli.server import RunningServer
from tests.proxy.cli.running import ROOT, clean_environment, run


async def spoken(home: Path, *requests: dict[str, Any], project: str = "loom") -> list[dict[str, Any]]:
    """The answers of one subprocess to some requests; it ends when its input does."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "proxy", "mcp", "--home", str(home), "--project", project),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=clean_environment(PYTHONPATH=str(ROOT)),
    )
    lines = b"".join(orjson.dumps({"jsonrpc": "2.0", **request}) + b"\n" for request in requests)
    out, err = await process.communicate(lines)
    assert (process.returncode, err) == (0, b"")
    return [orjson.loads(line) for line in out.splitlines()]


def call(id: int, name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


def text_of(answer: dict[str, Any]) -> str:
    told: str = answer["result"]["content"][0]["text"]
    return told


async def test_a_runtime_notes_something_and_finds_it_again(home: Path, server: RunningServer) -> None:
    hello, noted, found, day, other = await spoken(
        home,
        {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}},
        {"method": "notifications/initialized"},
        call(2, "memory_note", action="add", text="The flaky login test was caused by a clock skew of 2 s."),
        call(3, "memory_search", query="flaky login test"),
        call(4, "memory_day", date="today"),
        call(5, "memory_get", id="ffffffff"),
    )
    assert hello["result"]["serverInfo"]["name"] == "palimpsest"
    assert text_of(noted).startswith("Noted as ")
    assert "clock skew" in text_of(found) and "tool:" in text_of(found)
    assert "clock skew" in text_of(day)
    assert "there is no memory" in text_of(other) and other["result"]["isError"] is True
    assert not any(each["result"]["isError"] for each in (noted, found, day))
    [elsewhere] = await spoken(home, call(1, "memory_search", query="flaky login test"), project="another")
    assert "clock skew" not in text_of(elsewhere)


async def test_where_no_server_runs_the_call_says_what_to_do(home: Path) -> None:
    listed, answer = await spoken(home, {"id": 1, "method": "tools/list"}, call(2, "memory_day", date="today"))
    assert len(listed["result"]["tools"]) == 5
    assert answer["result"]["isError"] is True
    assert "palimpsest serve" in text_of(answer)


def test_the_command_tells_what_it_is_for() -> None:
    assert "MCP" in run("mcp", "--help").out
