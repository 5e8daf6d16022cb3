"""One guide for each runtime: its file, its keys, and what its user should know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import quote

from proxy.connect.guides import config_files, environment, libraries
from proxy.connect.machine import Machine
from proxy.connect.mcp import COMMAND, noted, with_mcp
from proxy.connect.plan import Address, ConnectPlan
from proxy.connect.windows import WINDOW, stretched

Guide = Callable[[Address, Machine], ConnectPlan]

GUIDES: dict[str, Guide] = {
    "opencode": config_files.opencode,
    "codex": config_files.codex,
    "claude": config_files.claude,
    "qwen": config_files.qwen,
    "pi": config_files.pi,
    "cline": config_files.cline,
    "openclaw": config_files.openclaw,
    "aider": config_files.aider,
    "gemini": environment.gemini,
    "copilot": environment.copilot,
    "kilo": config_files.kilo,
    "cn": environment.continue_cli,
    "crush": config_files.crush,
    "goose": environment.goose,
    "zed": config_files.zed,
    "openai-agents": libraries.openai_agents,
    "pydantic-ai": libraries.pydantic_ai,
    "langgraph": libraries.langgraph,
    "openai-sdk": libraries.openai_sdk,
    "anthropic-sdk": libraries.anthropic_sdk,
    "curl": libraries.curl,
    "other": libraries.other,
}
"""Every runtime that can be connected."""


def plan(
    runtime: str,
    address: Address,
    machine: Machine,
    *,
    window: int = WINDOW,
    mcp: bool = False,
    command: Sequence[str] = COMMAND,
) -> ConnectPlan:
    """What connects a runtime to us. Pure: nothing is read or written.

    Args:
        runtime: its name.
        address: where it finds us.
        machine: what is on this machine.
        window: tokens that its model really reads at once, for runtimes that estimate by themselves.
        mcp: whether our MCP server is added to its configuration.
        command: what starts that server.

    Raises:
        KeyError: when there is no guide for the runtime; :data:`GUIDES` lists those that there are.
    """
    planned = _named(stretched(GUIDES[runtime](address, machine), window), address)
    return with_mcp(planned, command) if mcp else noted(planned, command)


def _named(planned: ConnectPlan, address: Address) -> ConnectPlan:
    """The plan with a word on what stands escaped in its addresses: the project of the present directory."""
    project = address.place
    if quote(project, safe="") == project or address.url(placeless=True, version=False) not in planned.snippet:
        return planned
    note = (
        f"/p/{quote(project, safe='')} in the address is the project {project}, by the name that it has for every "
        "client here; --project NAME says another."
    )
    return replace(planned, notes=(*planned.notes, note))
