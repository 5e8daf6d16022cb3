"""What a content of Gemini's format says. Its fields are spelt in two ways, as in all of Google's APIs.

What a reply of Gemini's says: a document, a list of them, or a stream of events that are documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
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
from proxy.wire.dialect import BadRequest, Spoken, Unreadable
from proxy.wire.lenient_json import int_in
from proxy.wire.parts.content import given_back, message
from proxy.wire.slices import cut, fields_of, is_list, is_object, is_string, items_of, string_of, text_of, value_of
from proxy.wire.sse import ServerEvent

Fields = Mapping[str, msgspec.Raw]

_ROLES = {"": Role.USER, "user": Role.USER, "model": Role.ASSISTANT, "function": Role.TOOL, "system": Role.SYSTEM}
_CAPITAL = re.compile("[A-Z]")


def field(fields: Fields, name: str) -> msgspec.Raw | None:
    """A field by its name in camel case, also where it is spelt in snake case."""
    found = fields.get(name)
    return found if found is not None else fields.get(_CAPITAL.sub(lambda letter: "_" + letter[0].lower(), name))


def message_of(raw: msgspec.Raw, spoken: Spoken) -> Message:
    """One content, from its slice."""
    if not is_object(raw):
        return message(Role.OTHER, (Opaque("", text_of(raw)),), spoken, None)
    fields = fields_of(raw)
    role = _ROLES.get(string_of(fields.get("role")), Role.OTHER)
    takes = _takes(fields.get("parts")) if role in (Role.USER, Role.TOOL) else None
    parts = tuple(content_of(fields.get("parts")))
    parsed = message(role, parts, spoken, takes)
    if role is not Role.USER:
        return parsed
    # Files that a person names come as parts of their own between marks that other parts hold, and what stands beside a
    # tool's result came from the tool.
    texts = [part.text for part in parts if isinstance(part, Text)]
    return replace(parsed, spoken="" if parsed.results or not texts else spoken("\n".join(texts)))


def content_of(parts: msgspec.Raw | None) -> Iterator[Part]:
    """The parts of a list; empty texts are left out."""
    for each in items_of(parts):
        part = part_of(each)
        if part is not None:
            yield part


def part_of(raw: msgspec.Raw) -> Part | None:
    """What one part says; None for an empty text.

    A call is tied to its result by an id. Where a client sends none, nothing ties them: names come again and again.
    """
    fields = fields_of(raw)
    signature = string_of(field(fields, "thoughtSignature"))
    if is_string(fields.get("text")):
        text = string_of(fields["text"])
        if value_of(fields.get("thought")) is True or (signature and not text):
            return Reasoning(text, signature)
        return Text(text) if text else None
    if is_object(call := field(fields, "functionCall")):
        called = fields_of(call)
        name = string_of(called.get("name"))
        return ToolCall(string_of(called.get("id")) or name, name, text_of(called.get("args")) or "{}")
    if is_object(answer := field(fields, "functionResponse")):
        return _result(fields_of(answer))
    for name in ("inlineData", "fileData"):
        if is_object(data := field(fields, name)):
            return _media(raw, name, fields_of(data))
    return Opaque(next(iter(fields), ""), text_of(raw))


def instructions_of(raw: msgspec.Raw) -> str:
    """The text of the system's instruction: a content, or a bare text."""
    if is_string(raw):
        return string_of(raw)
    return "\n".join(part.text for part in content_of(fields_of(raw).get("parts")) if isinstance(part, Text))


def tool_names(raw: msgspec.Raw) -> tuple[str, ...]:
    """The names of the declared functions; of a tool of Google's own, what it is called."""
    names: list[str] = []
    for tool in map(fields_of, items_of(raw)):
        declared = field(tool, "functionDeclarations")
        names += [string_of(fields_of(each).get("name")) for each in items_of(declared)]
        names += [] if declared is not None else list(tool)[:1]
    return tuple(names)


def only_text(response: msgspec.Raw | None) -> msgspec.Raw | None:
    """The slice of a function's response that is nothing but a text under one name (``{"output": …}``)."""
    values = list(fields_of(response).values())
    return values[0] if len(values) == 1 and is_string(values[0]) else None


def has_failed(response: msgspec.Raw | None) -> bool:
    """Whether a function's response tells of an error and of no output."""
    fields = fields_of(response)
    return "error" in fields and "output" not in fields


def open_result(parts: msgspec.Raw | None) -> Fields | None:
    """The function's response that ends a content, if one does: text for this message belongs inside it. A text part
    behind responses would be a human word in the middle of a tool loop."""
    listed = items_of(parts)
    answer = field(fields_of(listed[-1]), "functionResponse") if listed else None
    return fields_of(answer) if is_object(answer) else None


def _takes(parts: msgspec.Raw | None) -> Form | None:
    if not is_list(parts):
        return None
    result = open_result(parts)
    if result is None:
        return Form.PART
    return Form.SUFFIX if only_text(result.get("response")) is not None else None


def _result(answer: Fields) -> ToolResult:
    response = answer.get("response")
    result_text = only_text(response)
    text = string_of(result_text) if result_text is not None else text_of(response)
    # Pictures stand before the text here, so that what is appended goes on in that.
    parts = (*content_of(answer.get("parts")), *((Text(text),) if text else ()))
    return ToolResult(string_of(answer.get("id")), given_back(parts), has_failed(response))


def _media(raw: msgspec.Raw, kind: str, data: Fields) -> Image | Opaque:
    type = string_of(field(data, "mimeType"))
    if not type.startswith("image/"):
        return Opaque(kind, text_of(raw))
    if kind == "fileData":
        return Image(string_of(field(data, "fileUri")))
    return Image(f"data:{type};base64,{string_of(data.get('data'))}")


def of_document(data: bytes) -> Reply:
    """The reply in a whole document; a stream that is asked for without ``alt=sse`` is a list of them."""
    heard = _DocumentBuilder()
    if data.lstrip()[:1] != b"[":
        heard.take(data)
        return heard.reply()
    try:
        listed = items_of(fields_of(msgspec.Raw(b'{"all":' + data.strip() + b"}")).get("all"))
    except (msgspec.DecodeError, BadRequest, Unreadable):
        return Reply()
    for each in listed:
        heard.take(bytes(each))
    return heard.reply()


def of_stream(events: Iterable[ServerEvent]) -> Reply:
    heard = _DocumentBuilder()
    for event in events:
        heard.take(event.data)
    return heard.reply()


def usage_of(value: Any) -> Usage | None:
    """Tokens as this format reports them; thoughts are counted beside what is said."""
    if not isinstance(value, dict) or not value:
        return None
    return Usage(
        input=int_in(value, "promptTokenCount") + int_in(value, "toolUsePromptTokenCount"),
        output=int_in(value, "candidatesTokenCount") + int_in(value, "thoughtsTokenCount"),
        cached=int_in(value, "cachedContentTokenCount"),
    )


def first_candidate(fields: dict[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    """Of several candidates, the first."""
    listed = map(fields_of, items_of(fields.get("candidates")))
    return next((each for each in listed if not value_of(each.get("index"))), {})


class _DocumentBuilder:
    """A reply as its documents come. Adjacent texts are one, as are adjacent thoughts."""

    def __init__(self) -> None:
        self._id = ""
        self._stop = ""
        self._usage: dict[str, Any] = {}
        self._failed = False
        self._parts: list[list[Part]] = []

    def take(self, data: bytes) -> None:
        try:
            self._take(cut(data)[1])
        except (BadRequest, Unreadable, msgspec.DecodeError):
            return

    def _take(self, fields: dict[str, msgspec.Raw]) -> None:
        if value_of(fields.get("error")):
            self._failed = True
        self._id = self._id or string_of(fields.get("responseId"))
        if isinstance(counted := value_of(fields.get("usageMetadata")), dict):
            self._usage.update(counted)
        candidate = first_candidate(fields)
        blocked = string_of(fields_of(fields.get("promptFeedback")).get("blockReason"))
        self._stop = string_of(candidate.get("finishReason")) or blocked or self._stop
        content = candidate.get("content")
        for raw in items_of(fields_of(content).get("parts")) if is_object(content) else ():
            part = part_of(raw)
            if part is None:
                continue
            joins = isinstance(part, Text | Reasoning) and self._parts and type(self._parts[-1][-1]) is type(part)
            if joins and not (isinstance(part, Reasoning) and _signed(self._parts[-1])):
                self._parts[-1].append(part)
            else:
                self._parts.append([part])

    def reply(self) -> Reply:
        complete = bool(self._stop) and not self._failed
        parts = tuple(_joined(run) for run in self._parts)
        return Reply(parts, self._stop, usage_of(self._usage), complete, self._id)


def _signed(run: list[Part]) -> bool:
    return any(isinstance(part, Reasoning) and part.signature for part in run)


def _joined(run: list[Part]) -> Part:
    if len(run) == 1:
        return run[0]
    text = "".join(part.text for part in run if isinstance(part, Text | Reasoning))
    if isinstance(run[0], Text):
        return Text(text)
    return Reasoning(text, next((part.signature for part in run if isinstance(part, Reasoning) and part.signature), ""))
