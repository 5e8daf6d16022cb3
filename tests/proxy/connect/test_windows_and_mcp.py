"""What keeps a runtime from compacting by itself, and how it is told of our MCP server."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.connect import GUIDES, Address, ConnectPlan, Machine, carry_out, plan, preview, undo, writes_mcp
from proxy.connect.windows import TIMES

COMMAND = ("/opt/palimpsest", "mcp", "--home", "/srv/my memory")
BY_USAGE = ("opencode", "codex", "claude", "qwen", "pi", "kilo", "crush")
SERVERS: dict[str, tuple[str, ...]] = {
    "opencode": ("mcp",),
    "codex": ("mcp_servers",),
    "qwen": ("mcpServers",),
    "cline": ("mcpServers",),
    "openclaw": ("mcp", "servers"),
}
"""Where a runtime's servers stand."""


def planned(runtime: str, tmp_path: Path, **more: Any) -> ConnectPlan:
    return plan(runtime, Address(), Machine(tmp_path / "home", tmp_path), command=COMMAND, **more)


def read(each: ConnectPlan, file: int = 0) -> dict[str, Any]:
    """A file of a plan, as its runtime reads it."""
    change = each.changes[file]
    readers: dict[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
    found: dict[str, Any] = readers[change.format](change.snippet)
    return found


@pytest.mark.parametrize("runtime", BY_USAGE)
def test_who_decides_by_the_usage_keeps_its_window_and_is_told_so(runtime: str, tmp_path: Path) -> None:
    each = planned(runtime, tmp_path, window=64_000)
    assert any("by the usage that the provider reports" in note for note in each.notes)
    assert str(4 * 64_000) not in each.snippet
    told = json.dumps(read(each)).lower()
    assert "window" not in told and "limit" not in told


def test_who_estimates_by_itself_is_told_a_larger_window(tmp_path: Path) -> None:
    cline = planned("cline", tmp_path, window=64_000)
    assert read(cline)["providers"]["openai-compatible"]["settings"]["contextWindow"] == TIMES * 64_000
    aider = planned("aider", tmp_path, window=64_000)
    assert read(aider)["max-chat-history-tokens"] == TIMES * 64_000
    for each in (cline, aider):
        assert any("256,000" in note and "64,000" in note and "--window" in note for note in each.notes)
    assert 3 <= TIMES <= 5


def test_where_there_is_a_switch_it_is_set(tmp_path: Path) -> None:
    assert read(planned("opencode", tmp_path))["compaction"] == {"prune": False}
    openclaw = planned("openclaw", tmp_path)
    assert read(openclaw)["agents"]["defaults"]["compaction"] == {"enabled": False}
    # Its schema is strict: a key that it does not know would keep it from starting.
    assert read(openclaw)["models"]["providers"].keys() == {"openai", "anthropic"}
    assert all(provider.keys() == {"baseUrl"} for provider in read(openclaw)["models"]["providers"].values())


def test_what_stood_there_comes_back_to_the_byte(tmp_path: Path) -> None:
    each, kept = planned("cline", tmp_path, mcp=True), tmp_path / "kept"
    mine = b'{"mcpServers": {"mine": {"command": "x"}}, "y": [1]}\n'
    servers = each.changes[1].path
    servers.parent.mkdir(parents=True)
    servers.write_bytes(mine)
    carry_out(preview(each), kept)
    assert set(json.loads(servers.read_bytes())["mcpServers"]) == {"mine", "palimpsest"}
    # The window of another day does not matter for undoing.
    undo(planned("cline", tmp_path, window=8000, mcp=True), kept)
    assert servers.read_bytes() == mine
    assert not each.changes[0].path.exists()


@pytest.mark.parametrize("runtime", SERVERS)
def test_the_server_is_written_only_where_that_is_asked_for(runtime: str, tmp_path: Path) -> None:
    assert writes_mcp(runtime)
    plain, with_it = planned(runtime, tmp_path), planned(runtime, tmp_path, mcp=True)
    assert "/opt/palimpsest" not in plain.snippet
    assert any("--with-mcp" in note for note in plain.notes)
    told = read(with_it, len(with_it.changes) - 1)
    for key in SERVERS[runtime]:
        told = told[key]
    command = told["palimpsest"]["command"]
    started = command if isinstance(command, list) else [command, *told["palimpsest"]["args"]]
    assert started == list(COMMAND)
    assert read(with_it).keys() >= read(plain).keys()


def test_codexs_own_servers_stay(tmp_path: Path) -> None:
    each = planned("codex", tmp_path, mcp=True)
    before = '[mcp_servers.docs]\ncommand = "docs"\nargs = ["-x"]\n'
    told = tomllib.loads(each.changes[0].apply(before))
    assert told["mcp_servers"]["docs"] == {"command": "docs", "args": ["-x"]}
    assert told["mcp_servers"]["palimpsest"]["args"] == ["mcp", "--home", "/srv/my memory"]


def test_what_was_written_with_a_server_is_undone_with_its_folders(tmp_path: Path) -> None:
    each = planned("cline", tmp_path, mcp=True)
    assert len(each.changes) == 2
    carry_out(preview(each), tmp_path / "kept")
    undo(each, tmp_path / "kept")
    assert not (tmp_path / "home").exists()


def test_claude_is_told_by_its_own_command(tmp_path: Path) -> None:
    for mcp in (False, True):
        [note] = [note for note in planned("claude", tmp_path, mcp=mcp).notes if "MCP" in note]
        assert "claude mcp add --scope user palimpsest -- /opt/palimpsest mcp --home '/srv/my memory'" in note
        assert "--with-mcp" not in note


def test_who_knows_no_servers_is_told_nothing_of_them(tmp_path: Path) -> None:
    for runtime in set(GUIDES) - {*SERVERS, "claude"}:
        assert not writes_mcp(runtime)
        each = planned(runtime, tmp_path, mcp=True)
        assert not any("MCP" in note for note in each.notes)
        assert "/opt/palimpsest" not in each.snippet
