"""What a message of Ollama's chat says: a text, pictures beside it, and calls whose arguments are objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from memory.conversation import Form, Image, Message, Opaque, Part, Reasoning, Role, Text, ToolCall, ToolResult
from proxy.wire.dialect import Spoken
from proxy.wire.parts.content import message
from proxy.wire.parts.openai_chat import call_of
from proxy.wire.slices import fields_of, is_object, is_string, items_of, string_of, text_of

_ROLES = {"system": Role.SYSTEM, "user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}


def message_of(raw: msgspec.Raw, spoken: Spoken) -> Message:
    """One message, from its slice."""
    if not is_object(raw):
        return message(Role.OTHER, (Opaque("", text_of(raw)),), spoken, None)
    fields = fields_of(raw)
    role = _ROLES.get(string_of(fields.get("role")), Role.OTHER)
    takes = Form.SUFFIX if role in (Role.USER, Role.TOOL) and is_string(fields.get("content")) else None
    return message(role, tuple(parts_of(role, fields)), spoken, takes)


def parts_of(role: Role, fields: Mapping[str, msgspec.Raw]) -> Iterator[Part]:
    """The parts of a message. Where a client sends no ids, nothing ties a result to its call."""
    text = string_of(fields.get("content"))
    if role is Role.TOOL:
        yield ToolResult(string_of(fields.get("tool_call_id")), (Text(text),) if text else ())
        return
    if thought := string_of(fields.get("thinking")):
        yield Reasoning(thought)
    # Pictures stand before the text here, so that what is appended goes on in that.
    yield from (Image(string_of(each)) for each in items_of(fields.get("images")))
    if text:
        yield Text(text)
    for raw in items_of(fields.get("tool_calls")):
        call = call_of(raw)
        yield ToolCall(call.id or call.name, call.name, call.arguments)
