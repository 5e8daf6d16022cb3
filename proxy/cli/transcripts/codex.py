"""Codex' rollouts: a line for each thing that was recorded; the items of the conversation are some of them.

An item is as it goes over the wire. The files of versions before September 2025 hold the items themselves, line by
line, without times: then the session's own time stands for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proxy.cli.transcripts.transcript import Problem, Transcript, objects, text_of, time_of

RUNTIME = "codex"
PATH = "/v1/responses"

_ITEMS = (
    "message",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "web_search_call",
    "mcp_call",
)
"""The items that say something. Reasoning is encrypted, and what compacts a history is no talk."""


def read(file: Path, problem: Problem, seen: set[str]) -> Iterator[Transcript]:
    """The session in a file. ``seen`` are the ids of items that were read before: a fork begins with copies."""
    transcript: Transcript | None = None
    began: str | None = None
    for number, line in objects(file, problem):
        payload = line.get("payload")
        recorded = payload if isinstance(payload, dict) else line
        kind = line.get("type")
        if kind == "session_meta" or _is_old_head(line):
            if transcript is None:  # a fork repeats that of the session it comes from
                began = time_of(recorded.get("timestamp")) or time_of(line.get("timestamp"))
                transcript = _begun(recorded, file)
            continue
        if kind == "turn_context" and transcript is not None:
            transcript.directory = transcript.directory or text_of(recorded.get("cwd"))
            transcript.model = text_of(recorded.get("model")) or transcript.model
        item = recorded if kind == "response_item" else line
        if item.get("type") not in _ITEMS or (kind != "response_item" and payload is not None):
            continue
        at = time_of(line.get("timestamp")) or began
        if transcript is None or at is None:
            problem(file, number, "an item stands before the line that says which session it is of, and when")
            continue
        id = text_of(item.get("id")) or ""
        transcript.add(item, at, copied=bool(id) and item.get("role") == "user" and id in seen)
        if id:
            seen.add(id)
    if transcript is not None:
        yield transcript


def looks_so(line: dict[str, Any]) -> bool:
    """Whether a file with such a line is one of Codex'."""
    return line.get("type") in ("session_meta", "response_item", "turn_context") or _is_old_head(line)


def _is_old_head(line: dict[str, Any]) -> bool:
    return "type" not in line and "instructions" in line and text_of(line.get("id")) is not None


def _begun(meta: dict[str, Any], file: Path) -> Transcript:
    source, git = meta.get("source"), meta.get("git")
    spawned = source.get("subagent") if isinstance(source, dict) else None
    above = spawned.get("thread_spawn") if isinstance(spawned, dict) else None
    parent = text_of(meta.get("parent_thread_id"))
    if parent is None and isinstance(above, dict):
        parent = text_of(above.get("parent_thread_id"))
    return Transcript(
        RUNTIME,
        text_of(meta.get("id")) or file.stem,
        PATH,
        parent=parent,
        subagent=spawned is not None or meta.get("thread_source") == "subagent" or parent is not None,
        directory=text_of(meta.get("cwd")),
        remote=text_of(git.get("repository_url")) if isinstance(git, dict) else None,
    )
