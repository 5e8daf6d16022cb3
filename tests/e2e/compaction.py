"""How a client asks for the summary with which it replaces its session's history.

Told by the words of the clients at the versions that are installed, and not by the proxy's own rules: each client
is run once with shedding off, where it must be seen here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.e2e.script import Action, flow_of

_LAST = (
    "CONTEXT CHECKPOINT COMPACTION",  # Codex
    "CRITICAL: Respond with TEXT ONLY",  # Claude Code
    "You are the component that summarizes",  # Qwen Code
    "create a detailed summary of the conversation so far",  # Copilot CLI
    "generate the updated <state_snapshot>",  # Gemini CLI
)
_SYSTEM = (
    "context summarization",  # opencode, pi
    "summarizing conversations",
    "You are the component that summarizes",
)

SUMMARY = Action(text="<summary>\nFiles were read, one after the other.\n</summary>")
"""What the model answers; Claude Code wants the tags."""


def asks_for_summary(body: Mapping[str, Any]) -> bool:
    """Whether a request asks for a summary of its session."""
    texts = [event.text for event in flow_of(body) if event.call is None]
    if texts and any(words in texts[-1] for words in _LAST):
        return True
    return not body.get("tools") and any(words in text for text in _system(body) for words in _SYSTEM)


def _system(body: Mapping[str, Any]) -> list[str]:
    told = [str(body.get("system", "")), str(body.get("instructions", "")), str(body.get("systemInstruction", ""))]
    items = body.get("messages") or body.get("input") or ()
    return told + [str(item.get("content", "")) for item in items if item.get("role") in ("system", "developer")]
