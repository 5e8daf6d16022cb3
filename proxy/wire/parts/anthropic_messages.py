"""What a message of the Anthropic format says, and where in it text can stand."""

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
    Text,
    ToolCall,
    ToolResult,
)
from proxy.wire.dialect import Spoken
from proxy.wire.parts.content import given_back, message, parts_in, text_in
from proxy.wire.slices import fields_of, is_list, is_object, is_string, items_of, string_of, text_of, value_of

TEXT = "text"
"""The type of a text block."""

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}

# Blocks beside which a text may stand in a tool's result. A result of another kind (a reference to a deferred tool,
# say) is read by the server, which refuses company for it.
_PLAIN = ("text", "image", "document", "search_result")


def message_of(raw: msgspec.Raw, spoken: Spoken) -> Message:
    """One message, from its slice."""
    fields = fields_of(raw)
    role = _ROLES.get(string_of(fields.get("role")), Role.OTHER)
    parts: tuple[Part, ...]
    parts = tuple(content_of(fields.get("content"))) if is_object(raw) else (Opaque("", text_of(raw)),)
    return message(role, parts, spoken, _takes(fields.get("content")) if role is Role.USER else None)


def content_of(content: msgspec.Raw | None) -> Iterator[Part]:
    """The parts of a content: a string or a list of blocks."""
    return parts_in(content, part_of)


def part_of(block: msgspec.Raw) -> Part | None:
    """What one block says; None for an empty text."""
    fields = fields_of(block)
    kind = string_of(fields.get("type"))
    if kind == TEXT and is_string(fields.get("text")):
        return text_in(fields["text"])
    match kind:
        case "image":
            return Image(_image_source(fields_of(fields.get("source"))))
        case "thinking":
            return Reasoning(string_of(fields.get("thinking")), string_of(fields.get("signature")))
        case "redacted_thinking":
            return Reasoning("", string_of(fields.get("data")))
        case "tool_use":
            return ToolCall(string_of(fields.get("id")), string_of(fields.get("name")), text_of(fields.get("input")))
        case "tool_result":
            failed = value_of(fields.get("is_error")) is True
            return ToolResult(
                string_of(fields.get("tool_use_id")), given_back(content_of(fields.get("content"))), failed
            )
    return Opaque(kind, text_of(block))


def instructions_of(raw: msgspec.Raw) -> str:
    """The text of ``system``, a string or a list of text blocks."""
    return "\n".join(part.text for part in content_of(raw) if isinstance(part, Text))


def tool_names(raw: msgspec.Raw) -> tuple[str, ...]:
    """The names of the offered tools."""
    fields = map(fields_of, items_of(raw))
    return tuple(string_of(tool.get("name")) or string_of(tool.get("type")) for tool in fields)


def open_result(content: msgspec.Raw | None) -> msgspec.Raw | None:
    """The tool result that ends a content, if one does: text for this message belongs inside it.

    A text block behind results would be a human word in the middle of a tool loop, and some models then lose the
    thinking before it.
    """
    blocks = items_of(content)
    if blocks and string_of(fields_of(blocks[-1]).get("type")) == "tool_result":
        return blocks[-1]
    return None


def _takes(content: msgspec.Raw | None) -> Form | None:
    result = open_result(content)
    if result is None:
        return Form.PART if is_string(content) or is_list(content) else None
    inner = fields_of(result).get("content")
    if is_string(inner):
        return Form.SUFFIX
    if not is_list(inner) or any(string_of(fields_of(block).get("type")) not in _PLAIN for block in items_of(inner)):
        return None
    return Form.PART


def _image_source(source: dict[str, msgspec.Raw]) -> str:
    if "data" in source:
        return f"data:{string_of(source.get('media_type'))};base64,{string_of(source['data'])}"
    return string_of(source.get("url")) or string_of(source.get("file_id"))
