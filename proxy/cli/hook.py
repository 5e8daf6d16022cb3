"""``palimpsest hook``: memory for a client that can only take hooks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from proxy.cli.faults import CommandError
from proxy.cli.hook_events import HookEvent, answer_of, event_of
from proxy.cli.options import ConfigFile, Home, Project, User, data_folder
from proxy.cli.server import running
from proxy.setting_sources import SettingsError

SECONDS = 5.0
"""How long a client may be kept waiting."""
MAX_EVENT_BYTES = 4 * 2**20
"""Bytes of an event that are read."""


def hook(project: Project = None, user: User = None, home: Home = None, config: ConfigFile = None) -> None:
    """Read a hook's event as JSON on standard input; give page and recall, and take what was said.

    Knows the events of Cursor, Windsurf, Gemini CLI and Claude Code, and of clients that took over their forms; any
    other sends {"event": "prompt", "session": …, "text": …} and {"event": "reply", …}. It never blocks: whatever is
    wrong is said on standard error, and the exit code is 0."""
    try:
        data = json.loads(sys.stdin.buffer.read(MAX_EVENT_BYTES) or b"{}")
    except ValueError as error:
        print(f"palimpsest hook: this is no JSON: {error}", file=sys.stderr)
        data = {}
    event = event_of(data if isinstance(data, dict) else {}, str(Path.cwd()))
    added = ""
    try:
        added = _ask_server(event, project, user, home, config) if event.what else ""
    except (CommandError, SettingsError, OSError) as error:
        print(f"palimpsest hook: {error}", file=sys.stderr)
    if (answer := answer_of(event, added)) is not None:
        print(json.dumps(answer))


def _ask_server(event: HookEvent, project: str | None, user: str | None, home: Path | None, config: Path | None) -> str:
    folder = data_folder(home, config)
    server = running(folder)
    if server is None:
        raise CommandError(f"no palimpsest server has {folder} open: start one with `palimpsest serve`")
    body = {
        "client": event.client,
        "session": event.session,
        "event": event.what,
        "directory": event.directory,
        "later": event.later,
    }
    if event.text:
        body["text"] = event.text
    response = server.ask("POST", "api/hook", {"project": project, "user": user}, body, seconds=SECONDS)
    return str(response.get("text", ""))
