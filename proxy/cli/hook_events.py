"""What the clients' hooks tell, and what they read, as plain values: events of Cursor, Windsurf, Antigravity, Gemini
CLI, Claude Code, and of those that took over its form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

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
        return _windsurf(data, here)
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


def _windsurf(data: Mapping[str, Any], here: str) -> HookEvent:
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
