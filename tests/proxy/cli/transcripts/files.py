"""Files as agent runtimes write them, cut down to what is read of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

Said = tuple[str, str, str]
"""Who (user, assistant), when, what."""


def claude(folder: Path, session: str, said: Sequence[Said], cwd: str = "/srv/boat", **marks: Any) -> Path:
    """A session file of Claude Code, with the events around the talk that it has in life."""
    file = folder / ".claude" / "projects" / cwd.replace("/", "-") / f"{session}.jsonl"
    lines: list[dict[str, Any]] = [{"type": "queue-operation", "operation": "enqueue", "sessionId": session}]
    around = {"sessionId": session, "cwd": cwd, "isSidechain": False, "userType": "external", "version": "2.1.329"}
    for number, (role, at, text) in enumerate(said):
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{session}_{number}", "type": "message", "model": "claude-sonnet-4-5"}
        uuid = f"{session}-{number}"
        lines.append({**around, "type": role, "message": message, "uuid": uuid, "timestamp": at, **marks})
    lines.append({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}})
    return written(file, lines)


def codex(folder: Path, session: str, said: Sequence[Said], cwd: str = "/srv/boat", **meta: Any) -> Path:
    """A rollout of Codex."""
    file = folder / ".codex" / "sessions" / "2026" / "03" / "04" / f"rollout-2026-03-04T15-30-00-{session}.jsonl"
    head = {"id": session, "timestamp": said[0][1], "cwd": cwd, "originator": "codex_exec", "source": "exec", **meta}
    lines: list[dict[str, Any]] = [{"timestamp": said[0][1], "type": "session_meta", "payload": head}]
    environment = (
        f"<environment_context>\n  <cwd>{cwd}</cwd>\n  <current_date>2020-01-01</current_date>\n</environment_context>"
    )
    for role, at, text in (("user", said[0][1], environment), *said):
        kind = "input_text" if role == "user" else "output_text"
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        lines.append({"timestamp": at, "type": "response_item", "payload": item})
        lines.append({"timestamp": at, "type": "event_msg", "payload": {"type": "item_completed"}})
    return written(file, lines)


def opencode(folder: Path, said: Sequence[Said], whole: bool = False) -> Path:
    """opencode's database: with parts in a table of their own, or, since 2.0, with messages that are whole."""
    file = folder / "opencode" / "opencode.db"
    file.parent.mkdir(parents=True)
    with closing(sqlite3.connect(file)) as connection, connection:
        sessions = "session_v2" if whole else "session"
        connection.execute(f"CREATE TABLE {sessions} (id, parent_id, directory, time_created)")
        connection.execute("CREATE TABLE session_message (id, session_id, type, seq, time_created, data)")
        connection.execute("CREATE TABLE message (id, session_id, time_created, data)")
        connection.execute("CREATE TABLE part (id, message_id, session_id, data)")
        connection.execute(f"INSERT INTO {sessions} VALUES ('ses_1', NULL, '/srv/boat', 1)")
        for number, (role, at, text) in enumerate(said):
            id, when = f"msg_{number}", milliseconds(at)
            if whole:
                data: dict[str, Any] = {"text": text}
                if role == "assistant":
                    data = {"content": [{"type": "text", "text": text}]}
                values = (id, "ses_1", role, number, when, json.dumps(data))
                connection.execute("INSERT INTO session_message VALUES (?, ?, ?, ?, ?, ?)", values)
                continue
            connection.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (id, when, json.dumps({"role": role})))
            part = json.dumps({"type": "text", "text": text})
            connection.execute("INSERT INTO part VALUES (?, ?, 'ses_1', ?)", (f"prt_{number}", id, part))
            if role == "assistant":
                state = {"status": "completed", "input": {"path": "a"}, "output": "one\ntwo"}
                tool = json.dumps({"type": "tool", "tool": "read", "callID": f"call_{number}", "state": state})
                connection.execute("INSERT INTO part VALUES (?, ?, 'ses_1', ?)", (f"prt_{number}b", id, tool))
    return file


def milliseconds(at: str) -> int:
    """A time as opencode writes it."""
    from datetime import datetime

    return int(datetime.fromisoformat(at).timestamp() * 1000)


def written(file: Path, lines: Sequence[dict[str, Any]]) -> Path:
    """The file, with a JSON object a line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file
