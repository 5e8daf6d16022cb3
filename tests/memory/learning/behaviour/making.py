"""Sessions of an agent for tests: a person's words, and commands and edits with what came back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from memory.behaviour import FeedbackSign, StepKind, StepOutcome, WorkStep
from memory.conversation import Message, Part, Role, Text, ToolCall, ToolResult, digest
from memory.ports import Journaled
from memory.scope import Scope
from memory.session import Session

AT = datetime(2026, 3, 4, tzinfo=UTC)


def message(role: Role, *parts: Part, spoken: str = "") -> Message:
    """One message."""
    return Message(role, parts, digest(role, parts), spoken)


def person(words: str) -> list[Message]:
    """What a person said."""
    return [message(Role.USER, Text(words), spoken=words)]


def called(name: str, arguments: dict[str, Any], printed: str, failed: bool = False, id: str = "") -> list[Message]:
    """A call and its result."""
    id = id or f"{name}{hash((name, json.dumps(arguments), printed))}"
    return [
        message(Role.ASSISTANT, ToolCall(id, name, json.dumps(arguments))),
        message(Role.TOOL, ToolResult(id, (Text(printed),), failed)),
    ]


def ran(command: str, printed: str = "", failed: bool = False, id: str = "") -> list[Message]:
    """A shell command and what it printed."""
    return called("bash", {"command": command}, printed, failed, id)


def edited(path: str, old: str, new: str) -> list[Message]:
    """An edit that went through."""
    return called("edit", {"file_path": path, "old_string": old, "new_string": new}, f"edited {path}")


def exchange(
    *pieces: Sequence[Message], session: str = "s1", kind: str = "main", fresh: Sequence[int] | None = None
) -> Journaled:
    """All of it as one exchange in the journal; everything is new in it if nothing else is said."""
    messages = tuple(each for piece in pieces for each in piece)
    at = Session(session, "", Scope(None, "ada", "loom"), "test", AT, AT)
    new = tuple(range(len(messages))) if fresh is None else tuple(fresh)
    return Journaled(1, "e1", at, kind, AT, messages, new, None)


def did(session: str, *families: str) -> list[WorkStep]:
    """Steps of a session: ``!`` before one that failed, ``?`` before what a person's message says."""
    steps = []
    for number, told in enumerate(families):
        family, outcome, deed = told.lstrip("!?"), StepOutcome.DONE, StepKind.RUN
        if told.startswith("?"):
            deed, family = StepKind.PERSON, FeedbackSign(family)
        elif told.startswith("!"):
            outcome = StepOutcome.FAILED
        if family.startswith("edit "):
            deed = StepKind.EDIT
        mark = f"{session}{number}".encode()
        steps.append(WorkStep(deed, family, family, session, AT + timedelta(seconds=number), mark, b"", outcome))
    return steps
