"""What a case needs to know of an API: its paths, and how its requests, replies and errors look."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]

EVENTS: Final = "text/event-stream"
LINES: Final = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class ApiFormat:
    """One API. ``turns`` puts alternating texts of a person and a model into a body, ``work`` is a history of parallel
    calls and their results, ``signed`` one with signed or encrypted reasoning, ``marked`` one with cache markers and
    what the server shall do about a long history. ``reply`` and ``events`` answer with a text, whole and streamed;
    ``calls`` answers with two calls at once."""

    name: str
    path: Callable[[str, bool], str]
    headers: Mapping[str, str]
    turns: Callable[[str, Sequence[str], bool], Json]
    work: Json
    signed: Json
    marked: Json
    reply: Callable[[str], Json]
    events: Callable[[str], list[bytes]]
    calls: Json
    error: Callable[[str], Json]
    stream_error: bytes
    comment: bytes
    end: bytes
    stream: str = EVENTS

    def body(self, model: str, *texts: str, stream: bool = False, **more: Any) -> Json:
        """A request's body."""
        return {**self.turns(model, texts, stream), **more}

    def with_history(self, model: str, history: Json) -> Json:
        """A request's body with a history of its own."""
        return {**self.turns(model, ["Go on."], False), **history}

    def history_key(self, body: Json) -> str:
        """Where a body has what was said."""
        return next(key for key in ("messages", "input", "contents") if key in body)

    def texts(self, body: Json) -> list[str]:
        """What a body's messages say, one text for each."""
        held = (message.get("content", message.get("parts")) for message in body[self.history_key(body)])
        return [each if isinstance(each, str) else "\n".join(part.get("text", "") for part in each) for each in held]


def event(data: object, name: str = "") -> bytes:
    """A server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode()


def named_event(data: Json) -> bytes:
    """A server-sent event with its type as its name."""
    return event(data, data["type"])


TOOL: Final[Json] = {"name": "read", "description": "Read a file.", "parameters": {"type": "object", "properties": {}}}

ODD_ARGUMENTS: Final = '{"path":  "a.py", "n": 1.0, "q": "\\u00e9"}'
"""JSON that no encoder would write: a proxy that parses and writes it anew changes it."""
