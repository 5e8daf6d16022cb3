"""How a runtime is told of our MCP server, which offers memory's tools: by its own command, or in its file."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from proxy.connect.plan import ConfigChange, ConnectPlan

NAME = "palimpsest"
"""What our server is called in a runtime's configuration."""

COMMAND = ("palimpsest", "mcp")

AddServer = Callable[[ConnectPlan, Sequence[str]], ConnectPlan]


def writes_mcp(runtime: str) -> bool:
    """Whether a runtime's servers stand in a file that we write."""
    return runtime in _WRITTEN


def mcp_runtimes() -> tuple[str, ...]:
    """The runtimes whose servers we write."""
    return tuple(_WRITTEN)


def with_mcp(planned: ConnectPlan, command: Sequence[str]) -> ConnectPlan:
    """A plan that adds our MCP server, too; where it cannot, one that says how."""
    write = _WRITTEN.get(planned.runtime)
    return write(planned, command) if write else noted(planned, command)


def noted(planned: ConnectPlan, command: Sequence[str]) -> ConnectPlan:
    """A plan that says how to add the server, and adds nothing."""
    by_command = _COMMANDS.get(planned.runtime)
    how = [f"{by_command} {shlex.join(command)}"] if by_command else []
    how += ["--with-mcp writes it"] if planned.runtime in _WRITTEN else []
    if not how:
        return planned
    note = f"If the model shall ask memory by itself, give it memory's tools (MCP): {'; '.join(how)}"
    return replace(planned, notes=(*planned.notes, note))


def _opencode(planned: ConnectPlan, command: Sequence[str]) -> ConnectPlan:
    fields = {"type": "local", "command": list(command), "enabled": True}
    return planned.with_values(planned.changes[0].path, {("mcp", NAME): fields})


def _codex(planned: ConnectPlan, command: Sequence[str]) -> ConnectPlan:
    return planned.with_values(planned.changes[0].path, {("mcp_servers", NAME): _started(command)})


def _qwen(planned: ConnectPlan, command: Sequence[str]) -> ConnectPlan:
    return planned.with_values(planned.changes[0].path, {("mcpServers", NAME): _started(command)})


def _openclaw(planned: ConnectPlan, command: Sequence[str]) -> ConnectPlan:
    return planned.with_values(planned.changes[0].path, {("mcp", "servers", NAME): _started(command)})


def _cline(planned: ConnectPlan, command: Sequence[str]) -> ConnectPlan:
    file: Path = planned.changes[0].path.with_name("cline_mcp_settings.json")
    change = ConfigChange(file, "json", {("mcpServers", NAME): _started(command)})
    return replace(planned, changes=(*planned.changes, change))


def _started(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": list(command[1:])}


_WRITTEN: dict[str, AddServer] = {
    "opencode": _opencode,
    "codex": _codex,
    "qwen": _qwen,
    "cline": _cline,
    "openclaw": _openclaw,
}

# Claude Code keeps its servers in a file that it writes itself all the time, which could not be put back to the byte.
_COMMANDS = {
    "claude": f"claude mcp add --scope user {NAME} --",
    "codex": f"codex mcp add {NAME} --",
}
