"""OpenAI Responses: what Codex speaks, and some others on request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import orjson

from memory.conversation import Conversation, Form, Message, Reasoning, Role
from memory.edits import Append, Drop, Edit
from proxy.wire.dialect import Listener, RequestView, Spoken, Unreadable
from proxy.wire.edit_writer import (
    PartNames,
    Place,
    Swap,
    arguments,
    by_message,
    free,
    in_content,
    leaving,
    result,
    sealed,
    written,
)
from proxy.wire.incremental_read import IncrementalReader
from proxy.wire.listener import DocumentListener, StreamListener, Terminator
from proxy.wire.parts import openai_responses as parts
from proxy.wire.parts.content import offered
from proxy.wire.parts.openai_responses import kind_of
from proxy.wire.refusals import openai_refusal, openai_too_long
from proxy.wire.slices import count_of, fields_of, is_string, offset_of, string_of, value_of
from proxy.wire.splice import Splice, appended, spliced
from proxy.wire.validation import openai_responses as rules

_TEXTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})
_SENT = PartNames("input_text", _TEXTS, frozenset({"input_image", "input_file", "input_audio"}))
_ANSWERED = PartNames("output_text", _TEXTS, frozenset())


def places_of(item: msgspec.Raw) -> list[Place | None]:
    """One place for each part of an item, in their order."""
    fields = fields_of(item)
    if sealed(fields):
        return []
    match kind_of(fields):
        case "message":
            answered = string_of(fields.get("role")) == "assistant"
            return in_content(fields.get("content"), _ANSWERED if answered else _SENT)
        case "function_call":
            return [arguments(fields.get("arguments"))]
        case "custom_tool_call":
            return [free(fields.get("input"))]
        case "function_call_output" | "custom_tool_call_output":
            return [result(fields.get("output"), _SENT)]
        case "local_shell_call_output":
            return [_shell(fields.get("output"))]
    return []


def _shell(output: msgspec.Raw | None) -> Place | None:
    """The server's own shell tool reads its output, JSON in a string: what was JSON stays JSON."""
    inside = free(output)
    if inside is None or not is_string(output) or not _is_json(string_of(output)):
        return inside

    def place(text: str) -> list[Swap]:
        return list(inside(text)) if _is_json(text) else []

    return place


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


_END = Terminator(types=frozenset({b"response.completed", b"response.incomplete", b"response.failed"}))


class OpenAIResponses:
    """The dialect of ``/responses``. Each input item is a message of the conversation."""

    name = "openai-responses"
    paths: tuple[str, ...] = ("/responses", "/responses/compact")
    listed = "input"
    check = staticmethod(rules.broken)
    refusal = staticmethod(openai_refusal)
    too_long = staticmethod(openai_too_long)

    def __init__(self, histories: IncrementalReader | None = None) -> None:
        self._histories = histories or IncrementalReader()

    def read(self, body: bytes, spoken: Spoken, path: str = "") -> RequestView:
        """Understand a body (see :class:`~proxy.wire.dialect.Dialect`)."""
        parted = self._histories.parted(body, self.listed, spoken, parts.message_of)
        fields, items, messages = parted.fields, parted.items, parted.messages
        prompt_items = fields.get("input")
        if prompt_items is not None and is_string(prompt_items):
            items, messages = [prompt_items], (parts.prompt_of(prompt_items, spoken),)
        if items is None:
            raise Unreadable("no input")
        tools, schemas = offered(fields.get("tools"), parts.tool_names, self._histories.memo)
        conversation = Conversation(
            dialect=self.name,
            model=string_of(fields.get("model")),
            messages=messages,
            instructions=string_of(fields.get("instructions")),
            tools=tools,
            schemas=schemas,
            stream=value_of(fields.get("stream")) is True,
            longest=count_of(fields.get("max_output_tokens")),
            continues=parts.continues_from(fields),
            stored=value_of(fields.get("store")) is not False,
        )
        return RequestView(body, conversation, fields, items, prompt=is_string(prompt_items), cut_from=parted.text)

    def write(self, view: RequestView, edits: Sequence[Edit]) -> bytes:
        """The body with the edits spliced in (see :class:`~proxy.wire.dialect.Dialect`).

        Reasoning and what it led to leave together or stay together; a bare prompt is only appended to.
        """
        if view.prompt:
            edits_of_first = by_message(edits, 1).get(0)
            return spliced(
                view.body, _in_prompt(view, edits_of_first.appends) if edits_of_first and edits_of_first.appends else []
            )
        return written(view, _complete_groups(view, edits), places_of, _append)

    def listen(self, streamed: bool) -> Listener:
        """A listener for one reply."""
        return StreamListener(_END, parts.of_stream) if streamed else DocumentListener(parts.of_document)


def _append(text: bytes, item: msgspec.Raw, edits: Sequence[Append]) -> list[Splice]:
    fields = fields_of(item)
    content = fields.get("content" if parts.kind_of(fields) == "message" else "output")
    return [] if content is None else appended(text, content, edits, parts.TEXT)


def _complete_groups(view: RequestView, edits: Sequence[Edit]) -> Sequence[Edit]:
    """The edits without drops that would tear reasoning from what the model said and called after it."""
    messages = view.conversation.messages
    gone = leaving(edits, len(messages))
    if not gone:
        return edits
    staying: set[int] = set()
    # Only a group that lies at the edge of what leaves can be torn.
    for edge in {at for index in gone for at in (index, index + 1) if (at - 1 in gone) != (at in gone)}:
        for group in _reasoning_groups(messages, _group_bounds(messages, edge)):
            if not gone.issuperset(group):
                staying.update(group)
    if gone.isdisjoint(staying):
        return edits
    stays = [edit for edit in edits if not isinstance(edit, Drop)]
    return [*stays, *(Drop(index) for index in sorted(gone - staying))]


def _group_bounds(messages: Sequence[Message], edge: int) -> range:
    """The messages around a place of which none is in one group with any other: what people and tools say begins a
    group of its own."""
    begin, end = max(edge - 1, 0), edge
    while begin > 0 and messages[begin].role in _MODEL:
        begin -= 1
    while end < len(messages) and messages[end].role in _MODEL:
        end += 1
    return range(begin, end)


_MODEL = (Role.ASSISTANT, Role.OTHER)


def _reasoning_groups(messages: Sequence[Message], among: range) -> Iterator[list[int]]:
    """Reasoning with the item behind it and all that the model said and called until it reasoned again or another
    spoke; every other item by itself."""
    group: list[int] = []
    reasoned = reasons = False
    for index in among:
        message = messages[index]
        before, reasons = reasons, any(isinstance(part, Reasoning) for part in message.parts)
        follows = before and message.role in (Role.ASSISTANT, Role.OTHER)
        goes_on = message.role is Role.ASSISTANT and not reasons
        if not (reasoned and (follows or goes_on)):
            if group:
                yield group
            group, reasoned = [], reasons
        group.append(index)
    if group:
        yield group


def _in_prompt(view: RequestView, edits: Sequence[Append]) -> list[Splice]:
    """Text for a bare string: it goes on where it can; a part of its own needs the message that it stands for."""
    prompt = view.items[0]
    splices = appended(view.cut_from, prompt, edits, parts.TEXT)
    if all(edit.form is Form.SUFFIX for edit in edits):
        return splices
    start = offset_of(view.cut_from, prompt)
    end = start + len(memoryview(prompt))
    return [Splice(start, start, b'[{"role":"user","content":'), *splices, Splice(end, end, b"}]")]
