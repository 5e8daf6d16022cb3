"""OpenAI Chat Completions: what nearly every runtime and server speaks."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memory.conversation import Conversation
from memory.edits import Append, Edit
from proxy.wire.dialect import Listener, RequestView, Spoken, Unreadable
from proxy.wire.edit_writer import Fields, PartNames, Place, arguments, free, in_content, result, sealed, written
from proxy.wire.incremental_read import IncrementalReader
from proxy.wire.listener import DocumentListener, StreamListener, Terminator
from proxy.wire.parts import openai_chat as parts
from proxy.wire.parts.content import offered
from proxy.wire.refusals import openai_refusal, openai_too_long
from proxy.wire.slices import count_of, fields_of, is_object, items_of, string_of, value_of
from proxy.wire.splice import Splice, appended
from proxy.wire.validation import openai_chat as rules

_WORDS = PartNames("text", frozenset({"text"}), frozenset({"image_url", "file", "input_audio"}))


def places_of(message: msgspec.Raw) -> list[Place | None]:
    """One place for each part of a message, in their order."""
    fields = fields_of(message)
    role = string_of(fields.get("role"))
    if sealed(fields):
        return []
    if role in ("tool", "function"):
        return [result(fields.get("content"), _WORDS)]
    if role != "assistant":
        return in_content(fields.get("content"), _WORDS)
    reasons = bool(string_of(fields.get("reasoning_content")) or string_of(fields.get("reasoning")))
    extras = sum(1 for kind in ("refusal", "audio", "reasoning_details") if value_of(fields.get(kind)))
    places: list[Place | None] = [None] * reasons
    places += in_content(fields.get("content"), _WORDS)
    places += [None] * extras
    places += [_of_call(fields_of(call)) for call in items_of(fields.get("tool_calls"))]
    if is_object(fields.get("function_call")):
        places.append(arguments(fields_of(fields["function_call"]).get("arguments")))
    return places


def _of_call(call: Fields) -> Place | None:
    custom, function = fields_of(call.get("custom")), fields_of(call.get("function"))
    if sealed(call) or sealed(function) or sealed(custom):
        return None
    return free(custom.get("input")) if custom else arguments(function.get("arguments"))


_DONE = Terminator(text=b"[DONE]")


class OpenAIChat:
    """The dialect of ``/chat/completions``."""

    name = "openai-chat"
    paths: tuple[str, ...] = ("/chat/completions",)
    listed = "messages"
    check = staticmethod(rules.broken)
    refusal = staticmethod(openai_refusal)
    too_long = staticmethod(openai_too_long)

    def __init__(self, histories: IncrementalReader | None = None) -> None:
        self._histories = histories or IncrementalReader()

    def read(self, body: bytes, spoken: Spoken, path: str = "") -> RequestView:
        """Understand a body (see :class:`~proxy.wire.dialect.Dialect`)."""
        parted = self._histories.parted(body, self.listed, spoken, parts.message_of)
        if parted.items is None:
            raise Unreadable("no list of messages")
        fields = parted.fields
        tools, schemas = offered(fields.get("tools", fields.get("functions")), parts.tool_names, self._histories.memo)
        conversation = Conversation(
            dialect=self.name,
            model=string_of(fields.get("model")),
            messages=parted.messages,
            tools=tools,
            schemas=schemas,
            stream=value_of(fields.get("stream")) is True,
            longest=count_of(fields.get("max_completion_tokens"), fields.get("max_tokens")),
        )
        return RequestView(body, conversation, fields, parted.items, cut_from=parted.text)

    def write(self, view: RequestView, edits: Sequence[Edit]) -> bytes:
        """The body with the edits spliced in (see :class:`~proxy.wire.dialect.Dialect`)."""
        return written(view, edits, places_of, _append)

    def listen(self, streamed: bool) -> Listener:
        """A listener for one reply."""
        return StreamListener(_DONE, parts.of_stream) if streamed else DocumentListener(parts.of_document)


def _append(text: bytes, message: msgspec.Raw, edits: Sequence[Append]) -> list[Splice]:
    content = fields_of(message).get("content")
    return [] if content is None else appended(text, content, edits, parts.TEXT)
