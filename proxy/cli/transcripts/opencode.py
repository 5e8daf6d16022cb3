"""opencode's sessions: a database (since 1.2), or a folder of small JSON files (before).

The database has had two shapes: messages with parts in a table of their own, and, since 2.0, messages that hold all
that was said in them. Both may stand side by side, then the newer one of a session is right.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from proxy.cli.transcripts.transcript import Problem, Transcript, text_of, time_of

RUNTIME = "opencode"
PATH = "/v1/chat/completions"

JsonObject = dict[str, Any]


def read(file: Path, problem: Problem, seen: set[str]) -> Iterator[Transcript]:
    """The sessions in a database or a storage folder, the oldest first."""
    if file.is_dir():
        yield from _sessions_in_files(file, problem)
        return
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            connection.row_factory = sqlite3.Row
            yield from _database(connection, file, problem)
    except sqlite3.Error as error:
        problem(file, 0, f"it cannot be read as opencode's database: {error}")


def looks_so(file: Path) -> bool:
    """Whether it is opencode's database, or its storage folder."""
    if file.is_dir():
        return (file / "message").is_dir() and (file / "session").is_dir()
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return {"message", "session_message"} & _tables(connection) != set()
    except sqlite3.Error:
        return False


def _database(connection: sqlite3.Connection, file: Path, problem: Problem) -> Iterator[Transcript]:
    tables = _tables(connection)
    sessions: dict[str, sqlite3.Row] = {}
    for table in ("session", "session_v2"):
        if table in tables:
            rows = connection.execute(f"SELECT id, parent_id, directory, time_created FROM {table}")
            sessions.update((row["id"], row) for row in rows)
    for id, row in sorted(sessions.items(), key=lambda each: each[1]["time_created"]):
        whole = _whole_messages(connection, id, file, problem) if "session_message" in tables else []
        parted = (
            [] if whole or not {"message", "part"} <= tables else _messages_with_parts(connection, id, file, problem)
        )
        yield _transcript(id, text_of(row["parent_id"]), text_of(row["directory"]), whole or parted)


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _whole_messages(connection: sqlite3.Connection, session: str, file: Path, problem: Problem) -> list[JsonObject]:
    """Messages that hold what was said in them."""
    rows = connection.execute(
        "SELECT id, type, time_created, data FROM session_message WHERE session_id = ? ORDER BY seq", (session,)
    )
    found: list[JsonObject] = []
    for row in rows:
        data = _decoded(row["data"], file, problem, row["id"])
        if data is None or row["type"] not in ("user", "assistant"):
            continue
        content = data.get("content") if row["type"] == "assistant" else [{"type": "text", "text": data.get("text")}]
        parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
        found.append({"role": row["type"], "at": row["time_created"], "parts": parts})
    return found


def _messages_with_parts(
    connection: sqlite3.Connection, session: str, file: Path, problem: Problem
) -> list[JsonObject]:
    """Messages whose parts stand in a table of their own."""
    parts: dict[str, list[JsonObject]] = {}
    query = "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY message_id, id"
    for row in connection.execute(query, (session,)):
        data = _decoded(row["data"], file, problem, row["id"])
        if data is not None:
            parts.setdefault(row["message_id"], []).append(data)
    found: list[JsonObject] = []
    query = "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id"
    for row in connection.execute(query, (session,)):
        data = _decoded(row["data"], file, problem, row["id"])
        if data is not None:
            found.append({**data, "at": row["time_created"], "parts": parts.get(row["id"], [])})
    return found


def _sessions_in_files(folder: Path, problem: Problem) -> Iterator[Transcript]:
    """The sessions of a storage folder: session/<project>/<id>.json, message/<session>/<id>.json, part/<message>/…"""
    sessions = [
        each_session
        for file in folder.glob("session/*/ses_*.json")
        if (each_session := _loaded(file, problem)) is not None
    ]
    for session in sorted(sessions, key=lambda each: _created(each) or 0):
        id = text_of(session.get("id")) or ""
        found: list[JsonObject] = []
        for file in sorted((folder / "message" / id).glob("*.json")):
            message = _loaded(file, problem)
            if message is not None:
                loaded = (_loaded(part, problem) for part in sorted((folder / "part" / file.stem).glob("*.json")))
                parts = [part for part in loaded if part is not None]
                found.append({**message, "at": _created(message), "parts": parts})
        found.sort(key=lambda each: each["at"] or 0)
        yield _transcript(id, text_of(session.get("parentID")), text_of(session.get("directory")), found)


def _transcript(id: str, parent: str | None, directory: str | None, messages: Iterable[JsonObject]) -> Transcript:
    transcript = Transcript(RUNTIME, id, PATH, parent=parent, subagent=parent is not None, directory=directory)
    for message in messages:
        at = time_of(message["at"])
        # What it wrote when it compacted the session is no talk.
        if at is None or message.get("summary") is True or "compaction" in (message.get("mode"), message.get("agent")):
            continue
        transcript.model = text_of(message.get("modelID")) or transcript.model
        for wire_message in _wire_messages(message.get("role", ""), message["parts"]):
            transcript.add(wire_message, at)
    return transcript


def _wire_messages(role: str, parts: list[JsonObject]) -> Iterator[JsonObject]:
    """A message as it goes over the wire: its text with the calls, then a message for each result."""
    texts = [
        part["text"]
        for part in parts
        if part.get("type") == "text"
        and text_of(part.get("text"))
        and not (part.get("synthetic") or part.get("ignored"))
    ]
    text = "\n".join(texts)
    if role == "user":
        if text:
            yield {"role": "user", "content": text}
        return
    if role != "assistant":
        return
    tools = [part for part in parts if part.get("type") == "tool" and isinstance(part.get("state"), dict)]
    calls = [_call(part) for part in tools]
    if text or calls:
        yield {"role": "assistant", "content": text or None} | ({"tool_calls": calls} if calls else {})
    for part, call in zip(tools, calls, strict=True):
        yield {"role": "tool", "tool_call_id": call["id"], "content": _tool_output(part["state"])}


def _call(part: JsonObject) -> JsonObject:
    id = text_of(part.get("callID")) or text_of(part.get("id")) or ""
    name = text_of(part.get("tool")) or text_of(part.get("name")) or ""
    arguments = orjson.dumps(part["state"].get("input") or {}).decode()
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _tool_output(state: JsonObject) -> str:
    """What a tool gave back, or what went wrong."""
    for value in (state.get("output"), state.get("error"), state.get("content")):
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list):
            return "\n".join(str(each["text"]) for each in value if isinstance(each, dict) and each.get("text"))
    return ""


def _created(record: JsonObject) -> int | None:
    times = record.get("time")
    created = times.get("created") if isinstance(times, dict) else None
    return created if isinstance(created, int) else None


def _loaded(file: Path, problem: Problem) -> JsonObject | None:
    try:
        return _decoded(file.read_bytes(), file, problem, "")
    except OSError as error:
        problem(file, 0, str(error))
        return None


def _decoded(data: str | bytes, file: Path, problem: Problem, row: str) -> JsonObject | None:
    try:
        value = orjson.loads(data)
        if isinstance(value, dict):
            return value
        why = "it is no JSON object"
    except orjson.JSONDecodeError as error:
        why = f"it is no JSON: {error}"
    problem(file, 0, f"{row}: {why}" if row else why)
    return None
