"""``palimpsest mcp``: memory's tools over the Model Context Protocol, for a runtime that starts us as a subprocess."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proxy.cli.faults import CommandError
from proxy.cli.mcp_messages import reply
from proxy.cli.options import ConfigFile, Home, Project, User, data_folder, here
from proxy.cli.server import running
from proxy.setting_sources import SettingsError

SECONDS = 30.0
"""How long one call may take."""


def mcp(project: Project = None, user: User = None, home: Home = None, config: ConfigFile = None) -> None:
    """Offer memory's tools to a runtime over MCP (stdio); the project is that of the folder it is started in.

    Only the running server has the stores open: where none runs, each call says so, and works once one does.
    """

    def call(name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
        try:
            return _call_tool(data_folder(home, config), name, arguments, project, user)
        except CommandError as error:
            return str(error), True
        except SettingsError as error:
            return f"Memory cannot be asked: {error}", True

    while line := sys.stdin.buffer.readline():
        if line.strip() and (answer := reply(line, call)) is not None:
            sys.stdout.buffer.write(answer + b"\n")
            sys.stdout.buffer.flush()


def _call_tool(
    home: Path, name: str, arguments: Mapping[str, Any], project: str | None, user: str | None
) -> tuple[str, bool]:
    server = running(home)
    if server is None:
        raise CommandError(
            f"Memory cannot be asked: no palimpsest server has {home} open. Start one with "
            "`palimpsest serve`; this tool works again as soon as it runs."
        )
    scope = {"project": project or here(server), "user": user}
    response = server.ask("POST", f"api/tools/{name}", scope, {"arguments": dict(arguments)}, seconds=SECONDS)
    return str(response["text"]), bool(response.get("failed"))
