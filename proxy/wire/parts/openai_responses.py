"""What an item of the Responses format says: in a request's ``input`` and in a reply's ``output`` alike.

What a Responses reply says, whole or streamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
from proxy.wire.slices import fields_of, is_list, is_object, is_string, items_of, string_of, text_of, value_of
from proxy.wire.sse import ServerEvent, typed

TEXT = "input_text"
"""The type of a text part in what a client sends."""

_TEXTS = ("input_text", "output_text", "text", "summary_text", "reasoning_text")
_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.DEVELOPER,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
}
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


def message_of(raw: msgspec.Raw, spoken: Spoken) -> Message:
    """One input item, from its slice."""
    fields = fields_of(raw)
    kind = kind_of(fields)
    role = Role.OTHER
    takes: Form | None = None
    if kind == "message":
        role = _ROLES.get(string_of(fields.get("role")), Role.OTHER)
        content = fields.get("content")
        if role is Role.USER and (is_string(content) or is_list(content)):
            takes = Form.PART
    elif kind in _RESULTS:
        role = Role.TOOL
        output = fields.get("output")
        if kind != "local_shell_call_output":  # that one is JSON in a string, for the server to read
            takes = Form.SUFFIX if is_string(output) else Form.PART if is_list(output) else None
    elif kind in ("reasoning", "function_call", "custom_tool_call", "local_shell_call"):
        role = Role.ASSISTANT
    return message(role, tuple(parts_of(raw)), spoken, takes)


def prompt_of(raw: msgspec.Raw, spoken: Spoken) -> Message:
    """The one user message that a bare string as ``input`` is."""
    return message(Role.USER, tuple(content_of(raw)), spoken, Form.SUFFIX)


def kind_of(fields: dict[str, msgspec.Raw]) -> str:
    """An item's type; a message may leave it out."""
    return string_of(fields.get("type")) or ("message" if "role" in fields else "")


def parts_of(raw: msgspec.Raw) -> Iterator[Part]:
    """What an item says. A kind that we do not know is one opaque part."""
    fields = fields_of(raw)
    kind = kind_of(fields)
    if kind == "message":
        yield from content_of(fields.get("content"))
    elif kind == "reasoning":
        yield _reasoning(fields)
    elif kind == "function_call":
        yield ToolCall(string_of(fields.get("call_id")), string_of(fields.get("name")), _verbatim(fields, "arguments"))
    elif kind == "custom_tool_call":
        yield ToolCall(string_of(fields.get("call_id")), string_of(fields.get("name")), _verbatim(fields, "input"))
    elif kind == "local_shell_call":
        yield ToolCall(_call_id(fields), "local_shell", text_of(fields.get("action")))
    elif kind in _RESULTS:
        failed = string_of(fields.get("status")) in ("failed", "incomplete")
        yield ToolResult(_call_id(fields), given_back(content_of(fields.get("output"))), failed)
    else:
        yield Opaque(kind, text_of(raw))


def content_of(content: msgspec.Raw | None) -> Iterator[Part]:
    """The parts of a content or an output; an object says one thing that we do not know."""
    if is_object(content):
        return iter((Opaque("", text_of(content)),))
    return parts_in(content, part_of)


def part_of(raw: msgspec.Raw) -> Part | None:
    """What one part of a content says; None for an empty text."""
    fields = fields_of(raw)
    kind = string_of(fields.get("type"))
    if kind in _TEXTS and is_string(fields.get("text")):
        return text_in(fields["text"])
    if kind == "input_image":
        return Image(string_of(fields.get("image_url")) or string_of(fields.get("file_id")))
    return Opaque(kind, text_of(raw))


def tool_names(raw: msgspec.Raw) -> tuple[str, ...]:
    """The names of the offered tools; a built-in tool's is its type, a namespace gives those of its tools."""
    names: list[str] = []
    for tool in items_of(raw):
        fields = fields_of(tool)
        if string_of(fields.get("type")) == "namespace":
            names.extend(tool_names(fields["tools"]) if "tools" in fields else ())
        else:
            names.append(string_of(fields.get("name")) or string_of(fields.get("type")))
    return tuple(names)


def continues_from(fields: Mapping[str, msgspec.Raw]) -> str | None:
    """The id of the history that the server holds, if the request goes on from one."""
    conversation = fields.get("conversation")
    id = string_of(conversation) or string_of(fields_of(conversation).get("id"))
    return string_of(fields.get("previous_response_id")) or id or None


def _reasoning(fields: dict[str, msgspec.Raw]) -> Reasoning:
    texts = [
        part.text for name in ("summary", "content") for part in content_of(fields.get(name)) if isinstance(part, Text)
    ]
    return Reasoning("\n".join(texts), string_of(fields.get("encrypted_content")))


def _call_id(fields: dict[str, msgspec.Raw]) -> str:
    return string_of(fields.get("call_id")) or string_of(fields.get("id"))


def _verbatim(fields: dict[str, msgspec.Raw], name: str) -> str:
    value = fields.get(name)
    return string_of(value) if is_string(value) else "" if value_of(value) is None else text_of(value)


def of_document(data: bytes) -> Reply:
    """The reply in a whole document."""
    value = loads(data)
    return _of_response(value) if isinstance(value, dict) else Reply()


def of_stream(events: Iterable[ServerEvent]) -> Reply:
    heard = _ResponseBuilder()
    for kind, event in typed(events):
        heard.take(kind, event)
    return heard.reply()


def usage_of(value: dict[str, Any]) -> Usage | None:
    """Tokens as this format reports them."""
    if not value:
        return None
    details = dict_in(value, "input_tokens_details")
    return Usage(
        input=int_in(value, "input_tokens"),
        output=int_in(value, "output_tokens"),
        cached=int_in(details, "cached_tokens"),
        written=int_in(details, "cache_write_tokens"),
    )


def _of_response(response: dict[str, Any]) -> Reply:
    status = str_in(response, "status")
    output = response.get("output")
    has_output = isinstance(output, list)
    # A server that leaves the status out has sent what it had.
    over = status in ("completed", "incomplete") or (not status and has_output)
    return Reply(
        parts=tuple(part for item in list_in(response, "output") for part in _parts(item)),
        stop=str_in(dict_in(response, "incomplete_details"), "reason") or status,
        usage=usage_of(dict_in(response, "usage")),
        complete=over and not response.get("error"),
        id=str_in(response, "id"),
    )


def _parts(item: Any) -> tuple[Part, ...]:
    if not isinstance(item, dict):
        return ()
    try:
        return tuple(parts_of(msgspec.Raw(dump(item).encode(errors="replace"))))
    except BadRequest:  # nested too deeply to be read
        return ()


class _ResponseBuilder:
    """A response as its events come."""

    def __init__(self) -> None:
        self._response: dict[str, Any] = {}
        self._last: dict[str, Any] | None = None
        self._failed = False
        self._items: dict[int, dict[str, Any]] = {}
        self._deltas: dict[int, dict[tuple[str, int], list[str]]] = {}

    def take(self, kind: str, event: dict[str, Any]) -> None:
        place = int_in(event, "output_index")
        match kind:
            case "response.created" | "response.in_progress" | "response.queued":
                self._response = dict_in(event, "response")
            case "response.completed" | "response.incomplete":
                self._last = dict_in(event, "response")
            case "response.failed" | "error":
                self._failed = True
                self._response = dict_in(event, "response") or self._response
            case "response.output_item.added":
                self._items.setdefault(place, dict_in(event, "item"))
            case "response.output_item.done":
                self._items[place] = dict_in(event, "item")
                self._deltas.pop(place, None)
            case _ if isinstance(event.get("delta"), str):
                slot = kind, int_in(event, "content_index") or int_in(event, "summary_index")
                self._deltas.setdefault(place, {}).setdefault(slot, []).append(event["delta"])

    def reply(self) -> Reply:
        last = self._last
        response = dict(self._response if last is None else last)
        if not list_in(response, "output"):
            places = sorted({*self._items, *self._deltas})
            response["output"] = [self._heard_item(place) for place in places]
        reply = _of_response(response)
        complete = last is not None and not self._failed and not response.get("error")
        return Reply(reply.parts, reply.stop, reply.usage, complete, reply.id)

    def _heard_item(self, place: int) -> dict[str, Any]:
        item = dict(self._items.get(place, {}))
        for (kind, _), deltas in sorted(self._deltas.get(place, {}).items()):
            text = "".join(deltas)
            match kind:
                case "response.output_text.delta":
                    item.setdefault("type", "message")
                    item["content"] = [*list_in(item, "content"), {"type": "output_text", "text": text}]
                case "response.reasoning_summary_text.delta":
                    item.setdefault("type", "reasoning")
                    item["summary"] = [*list_in(item, "summary"), {"type": "summary_text", "text": text}]
                case "response.reasoning_text.delta":
                    item.setdefault("type", "reasoning")
                    item["content"] = [*list_in(item, "content"), {"type": "reasoning_text", "text": text}]
                case "response.function_call_arguments.delta":
                    item["arguments"] = text
                case "response.custom_tool_call_input.delta":
                    item["input"] = text
        return item
