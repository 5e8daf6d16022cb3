"""What a session's edits make of its messages, as a view: for a person to read or to take along. Requests themselves
are never made this way; there the edits go into the client's own bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from memory.conversation import Form, Image, Message, Part, Text, ToolCall, ToolResult
from memory.edits import Append, Drop, Edit, Replace

P = TypeVar("P", bound=Part)


def edited(messages: Sequence[Message], edits: Sequence[Edit]) -> tuple[Message, ...]:
    """The messages with the edits made, in the order in which a request takes them: a part's new content first, then
    what is appended. A message that changes keeps its digest, by which it is still the client's. What is inserted
    (rounds that the client never saw) is not shown."""
    parts = [list(message.parts) for message in messages]
    gone = {message for edit in edits if isinstance(edit, Drop) for message in edit.messages}
    for edit in edits:
        if isinstance(edit, Replace) and edit.part < len(parts[edit.message]):
            parts[edit.message][edit.part] = _replaced(parts[edit.message][edit.part], edit.text)
    for edit in edits:
        if isinstance(edit, Append):
            parts[edit.message] = _appended(parts[edit.message], edit.text, edit.form)
    return tuple(
        replace(message, parts=tuple(parts[index])) for index, message in enumerate(messages) if index not in gone
    )


def _replaced(part: Part, text: str) -> Part:
    match part:
        case ToolCall(id, name, _):
            return ToolCall(id, name, text)
        case ToolResult(call_id, _, failed):
            return ToolResult(call_id, (Text(text),), failed)
        case Text() | Image():
            return Text(text)
        case _:
            return part


def _appended(parts: list[Part], text: str, form: Form) -> list[Part]:
    if parts and isinstance(parts[-1], ToolResult):
        # At a tool's result text stands inside it, so that no human word stands in the middle of a tool loop.
        return [*parts[:-1], replace(parts[-1], content=tuple(_joined(parts[-1].content, text, form)))]
    return [*_joined(parts, text, form)]


def _joined(parts: Sequence[P], text: str, form: Form) -> list[P | Text]:
    if form is Form.SUFFIX and parts and isinstance(parts[-1], Text):
        return [*parts[:-1], Text(parts[-1].text + text)]
    return [*parts, Text(text)]
