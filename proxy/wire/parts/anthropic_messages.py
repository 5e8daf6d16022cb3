"""What a message of the Anthropic format says, and where in it text can stand.

What an Anthropic reply says, whole or streamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from memory.conversation import (
    Form,
    Image,
    Message,
    Opaque,
    Part,
    Reasoning,
    Reply,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from proxy.wire.dialect import BadRequest, Spoken
from proxy.wire.lenient_json import dict_in, dump, int_in, list_in, loads, str_in
from proxy.wire.parts.content import given_back, message, parts_in, text_in
from proxy.wire.slices import fields_of, is_list, is_object, is_string, items_of, masked, string_of, text_of, value_of
from proxy.wire.sse import ServerEvent, typed

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


def of_document(data: bytes) -> Reply:
    """The reply in a whole document."""
    value = loads(data)
    if not isinstance(value, dict):
        return Reply()
    return Reply(
        parts=tuple(part for block in list_in(value, "content") for part in _parts(block, None)),
        stop=str_in(value, "stop_reason"),
        usage=usage_of(dict_in(value, "usage")),
        complete=isinstance(value.get("content"), list) and not value.get("error"),
        id=str_in(value, "id"),
    )


def of_stream(events: Iterable[ServerEvent]) -> Reply:
    heard = _MessageBuilder()
    for kind, event in typed(events):
        heard.take(kind, event)
    return heard.reply()


def usage_of(value: dict[str, Any]) -> Usage | None:
    """Tokens as this format reports them; its input leaves out what was cached, ours does not."""
    if not value:
        return None
    cached = int_in(value, "cache_read_input_tokens")
    written = int_in(value, "cache_creation_input_tokens")
    return Usage(int_in(value, "input_tokens") + cached + written, int_in(value, "output_tokens"), cached, written)


def _parts(block: Any, arguments: str | None) -> tuple[Part, ...]:
    """What a block says; ``arguments`` is a tool's input as the stream spelt it, which is kept letter by letter."""
    if not isinstance(block, dict):
        return ()
    text = dump(block).encode(errors="replace")
    if arguments:  # a key that stands twice counts where it stands last
        text = text[:-1] + b',"input":' + masked(arguments.encode(errors="replace")) + b"}"
    try:
        part = part_of(msgspec.Raw(text))
    except (BadRequest, msgspec.DecodeError):  # nested too deeply, or broken off
        return ()
    return () if part is None else (part,)


class _MessageBuilder:
    """A message as its events come."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._stop = ""
        self._stopped = False
        self._failed = False
        self._blocks: dict[int, dict[str, Any]] = {}
        self._block_texts: dict[int, dict[str, list[str]]] = {}

    def take(self, kind: str, event: dict[str, Any]) -> None:
        place = int_in(event, "index")
        match kind:
            case "message_start":
                self._message = dict_in(event, "message")
                self._take_usage(dict_in(self._message, "usage"))
            case "content_block_start":
                self._blocks[place] = dict_in(event, "content_block")
            case "content_block_delta":
                self._take_delta(place, dict_in(event, "delta"))
            case "message_delta":
                self._stop = str_in(dict_in(event, "delta"), "stop_reason") or self._stop
                self._take_usage(dict_in(event, "usage"))
            case "message_stop":
                self._stopped = True
            case "error":
                self._failed = True

    def _take_delta(self, place: int, delta: dict[str, Any]) -> None:
        # text, thinking, signature, partial_json, content (of a compaction): each delta carries one string,
        # and the strings of one field belong together. Citations carry objects and say nothing to us.
        texts = self._block_texts.setdefault(place, {})
        for field, value in delta.items():
            if field != "type" and isinstance(value, str):
                texts.setdefault(field, []).append(value)

    def _take_usage(self, usage: dict[str, Any]) -> None:
        # The counts are cumulative: a later report replaces an earlier one, field by field. A later zero is a server
        # that reports only what it counted since.
        self._usage.update((key, value) for key, value in usage.items() if value)

    def reply(self) -> Reply:
        parts: list[Part] = []
        for place, start in sorted(self._blocks.items()):
            block = dict(start)
            fields = {field: "".join(texts) for field, texts in self._block_texts.get(place, {}).items()}
            arguments = fields.pop("partial_json", None)
            for field, text in fields.items():
                block[field] = str_in(block, field) + text
            parts.extend(_parts(block, arguments))
        return Reply(
            parts=tuple(parts),
            stop=self._stop or str_in(self._message, "stop_reason"),
            usage=usage_of(self._usage),
            complete=self._stopped and bool(self._message) and not self._failed,
            id=str_in(self._message, "id"),
        )
