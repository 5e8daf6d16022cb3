"""Ollama's own chat, ``/api/chat``: a stream of JSON lines, unless the request says that it wants one object."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from memory.conversation import (
    Conversation,
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
from memory.edits import Append, Edit
from proxy.wire.dialect import Framing, Listener, RequestView, Spoken, Unreadable
from proxy.wire.edit_writer import Place, arguments, free, written
from proxy.wire.incremental_read import IncrementalReader
from proxy.wire.lenient_json import dict_in, dump, int_in, list_in, loads, str_in
from proxy.wire.listener import LINE_END, DocumentListener, UnterminatedListener
from proxy.wire.parts.content import message, offered
from proxy.wire.parts.openai_chat import call_of, tool_names
from proxy.wire.refusals import ollama_refusal, ollama_too_long
from proxy.wire.slices import count_of, fields_of, is_object, is_string, items_of, string_of, text_of, value_of
from proxy.wire.splice import Splice, appended

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


def of_document(data: bytes) -> Reply:
    """The reply in a whole document."""
    return _heard([data])


def of_lines(chunks: Sequence[bytes]) -> Reply:
    """The reply in a stream of lines."""
    return _heard(b"".join(chunks).splitlines())


def _heard(lines: Sequence[bytes]) -> Reply:
    fields: dict[str, list[str]] = {"thinking": [], "content": []}
    calls: list[ToolCall] = []
    last: dict[str, Any] = {}
    failed = False
    for line in lines:
        value = loads(line) if line.strip() else None
        if not isinstance(value, dict):
            continue
        failed = failed or bool(value.get("error"))
        message = dict_in(value, "message")
        for name, texts in fields.items():
            texts.append(str_in(message, name))
        calls += [_called(call) for call in list_in(message, "tool_calls") if isinstance(call, dict)]
        last = value if value.get("done") is True else last
    thought, text = ("".join(texts) for texts in fields.values())
    parts: list[Part] = [*([Reasoning(thought)] if thought else []), *([Text(text)] if text else []), *calls]
    counted = "eval_count" in last or "prompt_eval_count" in last
    usage = Usage(int_in(last, "prompt_eval_count"), int_in(last, "eval_count")) if counted else None
    return Reply(tuple(parts), str_in(last, "done_reason"), usage, bool(last) and not failed)


def _called(call: dict[str, Any]) -> ToolCall:
    function = dict_in(call, "function")
    name = str_in(function, "name")
    return ToolCall(str_in(call, "id") or name, name, dump(function.get("arguments") or {}))


_KNOWN_ROLES = ("system", "user", "assistant", "tool")


def broken(body: bytes) -> list[str]:
    """The rules that the body breaks."""
    value = loads(body)
    if not isinstance(value, dict):
        return ["The body is not a JSON object."]
    messages = value.get("messages")
    if not isinstance(messages, list) or not messages:
        return ["There are no messages."]
    return [sentence for index, message in enumerate(messages) for sentence in _broken_message(index, message)]


def _broken_message(index: int, message: Any) -> list[str]:
    if not isinstance(message, dict):
        return [f"Message {index} is not an object."]
    found = []
    if str_in(message, "role") not in _KNOWN_ROLES:
        found.append(f"Message {index} has the unknown role {str_in(message, 'role')!r}.")
    if not isinstance(message.get("content", ""), str | None):
        found.append(f"The content of message {index} is no text.")
    calls = [dict_in(call, "function") for call in list_in(message, "tool_calls") if isinstance(call, dict)]
    if any(not isinstance(call.get("arguments", {}), dict) for call in calls):
        found.append(f"A call of message {index} has arguments that are no object.")
    return found


def places_of(message: msgspec.Raw) -> list[Place | None]:
    """One place for each part of a message, in their order; a picture has no place for a text."""
    fields = fields_of(message)
    content = fields.get("content")
    if string_of(fields.get("role")) == "tool":
        return [free(content)]
    places: list[Place | None] = [None] if string_of(fields.get("thinking")) else []
    places += [None for _ in items_of(fields.get("images"))]
    places += [free(content)] if string_of(content) else []
    calls = (fields_of(fields_of(call).get("function")) for call in items_of(fields.get("tool_calls")))
    return [*places, *(arguments(call.get("arguments")) for call in calls)]


_DONE = re.compile(rb'"done"\s*:\s*true')


class OllamaChat:
    """The dialect of ``/api/chat``."""

    name = "ollama-chat"
    paths: tuple[str, ...] = ("/api/chat",)
    listed = "messages"
    check = staticmethod(broken)
    refusal = staticmethod(ollama_refusal)
    too_long = staticmethod(ollama_too_long)

    def __init__(self, histories: IncrementalReader | None = None) -> None:
        self._histories = histories or IncrementalReader()

    def read(self, body: bytes, spoken: Spoken, path: str = "") -> RequestView:
        """Understand a body (see :class:`~proxy.wire.dialect.Dialect`)."""
        parted = self._histories.parted(body, self.listed, spoken, message_of)
        if parted.items is None:
            raise Unreadable("no list of messages")
        fields = parted.fields
        tools, schemas = offered(fields.get("tools"), tool_names, self._histories.memo)
        conversation = Conversation(
            dialect=self.name,
            model=string_of(fields.get("model")),
            messages=parted.messages,
            tools=tools,
            schemas=schemas,
            stream=value_of(fields.get("stream")) is not False,
            longest=count_of(fields_of(fields.get("options")).get("num_predict")),
        )
        return RequestView(body, conversation, fields, parted.items, cut_from=parted.text, framing=Framing.LINES)

    def write(self, view: RequestView, edits: Sequence[Edit]) -> bytes:
        """The body with the edits spliced in (see :class:`~proxy.wire.dialect.Dialect`)."""
        return written(view, edits, places_of, _append_text)

    def listen(self, streamed: bool) -> Listener:
        """A listener for one reply."""
        return UnterminatedListener(_DONE, LINE_END, of_lines) if streamed else DocumentListener(of_document)


def _append_text(text: bytes, message: msgspec.Raw, edits: Sequence[Append]) -> list[Splice]:
    """Text goes on in a message's own: a content is one string."""
    content = fields_of(message).get("content")
    if content is None or not is_string(content):
        return []
    return appended(text, content, [Append(edit.message, edit.text, Form.SUFFIX) for edit in edits], "")
