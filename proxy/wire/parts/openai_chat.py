"""What a Chat Completions message says.

What a Chat Completions reply says, whole or streamed. Of several choices, the first is heard.
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
from proxy.wire.dialect import Spoken
from proxy.wire.lenient_json import dict_in, dump, int_in, list_in, loads, loads_all, str_in
from proxy.wire.parts.content import given_back, message, parts_in, text_in
from proxy.wire.slices import fields_of, is_list, is_object, is_string, items_of, string_of, text_of, value_of
from proxy.wire.sse import ServerEvent

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


def of_document(data: bytes) -> Reply:
    """The reply in a whole document."""
    value = loads(data)
    heard = _ChoiceBuilder()
    heard.take(value, "message")
    return heard.reply(complete=heard.began and not heard.failed)


def of_stream(events: Iterable[ServerEvent]) -> Reply:
    heard = _ChoiceBuilder()
    done = False
    chunks = []
    for event in events:
        if event.data.strip() == b"[DONE]":
            done = True
            break
        chunks.append(event.data)
    for chunk in loads_all(chunks):
        heard.take(chunk, "delta")
    return heard.reply(complete=done and heard.began and not heard.failed)


def usage_of(value: dict[str, Any]) -> Usage | None:
    """Tokens as this format reports them, with the fields that other providers add to it."""
    if not value:
        return None
    details = dict_in(value, "prompt_tokens_details")
    return Usage(
        input=int_in(value, "prompt_tokens"),
        output=int_in(value, "completion_tokens"),
        cached=int_in(details, "cached_tokens")
        or int_in(value, "prompt_cache_hit_tokens")
        or int_in(value, "cached_tokens"),
        written=int_in(details, "cache_write_tokens") or int_in(details, "cache_creation_tokens"),
    )


class _Call:
    """A tool call as its fragments come: id and name once, arguments piece by piece."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []

    def take(self, call: dict[str, Any]) -> None:
        function = dict_in(call, "function")
        custom = dict_in(call, "custom")
        self.id = self.id or str_in(call, "id")
        self.name = self.name or str_in(function, "name") or str_in(custom, "name")
        arguments = function.get("arguments", custom.get("input"))
        if isinstance(arguments, str):
            self.arguments.append(arguments)
        elif arguments is not None:
            self.arguments.append(dump(arguments))


class _ChoiceBuilder:
    """A choice as its deltas come; a whole message is one large delta."""

    def __init__(self) -> None:
        self.id = ""
        self.stop = ""
        self.began = False
        self.failed = False
        self._usage: Usage | None = None
        self._texts: dict[str, list[str]] = {}
        self._calls: dict[Any, _Call] = {}
        self._latest: dict[int, Any] = {}

    def take(self, chunk: Any, field: str) -> None:
        if not isinstance(chunk, dict):
            return
        if chunk.get("error"):
            self.failed = True
        self.id = self.id or str_in(chunk, "id")
        if chunk.get("usage"):
            self._usage = usage_of(dict_in(chunk, "usage")) or self._usage
        for choice in list_in(chunk, "choices"):
            if not isinstance(choice, dict) or choice.get("index"):
                continue
            self.stop = str_in(choice, "finish_reason") or self.stop
            delta = choice.get(field)
            if isinstance(delta, dict):
                self.began = True
                self._take_delta(delta)

    def _take_delta(self, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            if isinstance(value, str):
                self._texts.setdefault(key, []).append(value)
            elif key == "content" and isinstance(value, list):
                texts = [str_in(part, "text") for part in value if isinstance(part, dict)]
                self._texts.setdefault(key, []).extend(texts)
            elif key == "tool_calls" and isinstance(value, list):
                for place, call in enumerate(value):
                    if isinstance(call, dict):
                        self._call_for(call, place).take(call)
            elif key == "function_call" and isinstance(value, dict):
                self._calls.setdefault(key, _Call()).take({"function": value})

    def _text(self, key: str) -> str:
        return "".join(self._texts.get(key, ()))

    def _call_for(self, call: dict[str, Any], place: int) -> _Call:
        """Fragments belong together by index; where calls share an index, a new id tells them apart."""
        index = call["index"] if isinstance(call.get("index"), int) else place
        id = str_in(call, "id")
        key = self._latest.get(index, (index, id))
        if id and key in self._calls and self._calls[key].id not in ("", id):
            key = (index, id)
        self._latest[index] = key
        return self._calls.setdefault(key, _Call())

    def reply(self, complete: bool) -> Reply:
        parts: list[Part] = []
        if reasoning := self._text("reasoning_content") or self._text("reasoning"):
            parts.append(Reasoning(reasoning))
        if text := self._text("content"):
            parts.append(Text(text))
        if refusal := self._text("refusal"):
            parts.append(Opaque("refusal", dump(refusal)))
        parts.extend(ToolCall(call.id, call.name, "".join(call.arguments)) for call in self._calls.values())
        return Reply(tuple(parts), self.stop, self._usage, complete, self.id)
