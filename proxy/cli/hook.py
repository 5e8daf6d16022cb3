"""``palimpsest hook``: memory for a client that can only take hooks.

Events of Cursor, Windsurf, Antigravity, Gemini CLI, Claude Code, and of those that took over its form, as plain values:
what they tell, and what the client reads.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from proxy.cli.faults import CommandError
from proxy.cli.options import ConfigFile, Home, Project, User, data_folder
from proxy.cli.server import running
from proxy.setting_sources import SettingsError

CLAUDE, GEMINI, CURSOR, WINDSURF, ANTIGRAVITY, PLAIN = "claude", "gemini", "cursor", "windsurf", "antigravity", "plain"


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One event. ``what`` is ``prompt``, ``reply`` or ``context``, or empty where it is none for memory; ``later``: no
    words can be given here, and they are asked for by a ``context`` behind it."""

    client: str
    name: str
    what: str = ""
    session: str = ""
    text: str = ""
    directory: str = ""
    later: bool = False


_FORMS: Final[Mapping[str, tuple[str, str, str]]] = {
    "UserPromptSubmit": (CLAUDE, "prompt", "prompt"),
    "Stop": (CLAUDE, "reply", "last_assistant_message"),
    "BeforeAgent": (GEMINI, "prompt", "prompt"),
    "AfterAgent": (GEMINI, "reply", "prompt_response"),
    "beforeSubmitPrompt": (CURSOR, "prompt", "prompt"),
    "afterAgentResponse": (CURSOR, "reply", "text"),
    "postToolUse": (CURSOR, "context", ""),
}
"""By the event's name: whose it is, what it is for memory, and in which field its words stand."""


def event_of(data: Mapping[str, Any], here: str) -> HookEvent:
    """An event out of what a hook reads on standard input; ``here`` is the folder that it runs in."""
    if "agent_action_name" in data:
        return _windsurf_event(data, here)
    if "event" in data and "session" in data:
        what = _text(data, "event")
        where = _text(data, "directory") or here
        return HookEvent(PLAIN, what, what, _text(data, "session"), _text(data, "text"), where)
    name = _text(data, "hook_event_name")
    client, what, words = _FORMS.get(name, ("", "", ""))
    if not client:
        ours = ANTIGRAVITY if "conversationId" in data else CURSOR if "cursor_version" in data else CLAUDE
        return HookEvent(ours, name or ("tool" if data.get("toolCall") else ""))
    roots = data.get("workspace_roots")
    folder = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else _text(data, "cwd")
    session = _text(data, "conversation_id") or _text(data, "session_id")
    text = _text(data, words) if words else ""
    if not session or (words and not text):
        what = ""
    return HookEvent(client, name, what, session, text, folder or here, later=name == "beforeSubmitPrompt")


def answer_of(event: HookEvent, added: str) -> dict[str, Any] | None:
    """What a client reads on standard output; None where it reads nothing."""
    match event.client:
        case "cursor" if event.name == "beforeSubmitPrompt":
            return {"continue": True}
        case "cursor":
            return {"additional_context": added} if added else {}
        case "windsurf":
            return None
        case "antigravity":
            # It takes silence about a tool for a refusal; what is allowed here is still asked of the person there.
            return {"decision": "allow"} if event.name in ("tool", "PreToolUse") else {}
        case "plain":
            return {"text": added}
    if not added:
        return {}
    return {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": added}}


def _windsurf_event(data: Mapping[str, Any], here: str) -> HookEvent:
    name, info = _text(data, "agent_action_name"), data.get("tool_info")
    info = info if isinstance(info, dict) else {}
    what, words = {
        "pre_user_prompt": ("prompt", "user_prompt"),
        "post_cascade_response": ("reply", "response"),
    }.get(name, ("", ""))
    text, session = _text(info, words), _text(data, "trajectory_id")
    return HookEvent(WINDSURF, name, what if text and session else "", session, text, here, later=True)


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


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
