"""What a Chat Completions message says."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from memory.conversation import (
    Form,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Role,
    ToolCall,
    ToolResult,
)
from proxy.wire.dialect import Spoken
from proxy.wire.parts.content import given_back, message, parts_in, text_in
from proxy.wire.slices import fields_of, is_list, is_object, is_string, items_of, string_of, text_of, value_of

TEXT = "text"
"""The type of a text part."""

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.DEVELOPER,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}


def message_of(raw: msgspec.Raw, spoken: Spoken) -> Message:
    """One message, from its slice."""
    fields = fields_of(raw)
    role = _ROLES.get(string_of(fields.get("role")), Role.OTHER)
    content = fields.get("content")
    parts: tuple[Part, ...]
    if not is_object(raw):
        parts = (Opaque("", text_of(raw)),)
    elif role is Role.TOOL:
        parts = (ToolResult(string_of(fields.get("tool_call_id")), given_back(content_of(content))),)
    elif role is Role.ASSISTANT:
        parts = tuple(_assistant_parts(fields))
    else:
        parts = tuple(content_of(content))
    return message(role, parts, spoken, _takes(role, content))


def content_of(content: msgspec.Raw | None) -> Iterator[Part]:
    """The parts of a content: a string, a list of parts, or null."""
    return parts_in(content, part_of)


def part_of(raw: msgspec.Raw) -> Part | None:
    """What one part says; None for an empty text."""
    fields = fields_of(raw)
    kind = string_of(fields.get("type"))
    if kind == TEXT and is_string(fields.get("text")):
        return text_in(fields["text"])
    if kind == "image_url":
        return Image(_image_source(fields))
    return Opaque(kind, text_of(raw))


def tool_names(raw: msgspec.Raw) -> tuple[str, ...]:
    """The names of the offered tools (of ``tools`` or of the older ``functions``)."""
    names = []
    for tool in items_of(raw):
        fields = fields_of(tool)
        inner = fields_of(fields.get("function")) or fields_of(fields.get("custom")) or fields
        names.append(string_of(inner.get("name")) or string_of(fields.get("type")))
    return tuple(names)


def _assistant_parts(fields: dict[str, msgspec.Raw]) -> Iterator[Part]:
    reasoning = string_of(fields.get("reasoning_content")) or string_of(fields.get("reasoning"))
    if reasoning:
        yield Reasoning(reasoning)
    yield from content_of(fields.get("content"))
    for kind in ("refusal", "audio", "reasoning_details"):
        extra = fields.get(kind)
        if extra is not None and value_of(extra):
            yield Opaque(kind, text_of(extra))
    for call in items_of(fields.get("tool_calls")):
        yield call_of(call)
    if is_object(fields.get("function_call")):
        legacy = fields_of(fields["function_call"])
        yield ToolCall("", string_of(legacy.get("name")), _arguments(legacy.get("arguments")))


def call_of(raw: msgspec.Raw) -> ToolCall:
    """One of a message's tool calls: a function's, or a custom tool's with free text for arguments."""
    fields = fields_of(raw)
    id = string_of(fields.get("id"))
    custom = fields_of(fields.get("custom"))
    if custom:
        return ToolCall(id, string_of(custom.get("name")), string_of(custom.get("input")))
    function = fields_of(fields.get("function"))
    return ToolCall(id, string_of(function.get("name")), _arguments(function.get("arguments")))


def _arguments(raw: msgspec.Raw | None) -> str:
    """JSON text: as a string, as the format has it, or as the object that some clients send."""
    return string_of(raw) if is_string(raw) else text_of(raw)


def _image_source(fields: dict[str, msgspec.Raw]) -> str:
    image = fields.get("image_url")
    return string_of(image) if is_string(image) else string_of(fields_of(image).get("url"))


def _takes(role: Role, content: msgspec.Raw | None) -> Form | None:
    if role not in (Role.USER, Role.TOOL):
        return None
    if is_string(content):
        return Form.SUFFIX
    return Form.PART if is_list(content) else None
