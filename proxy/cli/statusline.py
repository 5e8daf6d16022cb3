"""``palimpsest statusline``: one line for a shell's prompt, or for Claude Code's status line."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from proxy.cli import output
from proxy.cli.options import Home, Json
from proxy.cli.status_summary import glance, home_of


def statusline(as_json: Json = False, home: Home = None) -> None:
    """Print how memory stands on one line, at once; the exit code is 0 well, 1 not well, 2 nothing runs."""
    folder = home.expanduser() if home else home_of([], os.environ) or Path()
    line, code, status = glance(folder)
    if as_json:
        output.as_json(status)
    else:
        print(line)
    raise typer.Exit(code)
