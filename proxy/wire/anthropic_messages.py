"""Anthropic Messages: what Claude Code speaks, and every runtime that is set to an Anthropic endpoint."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memory.conversation import Conversation
from memory.edits import Append, Edit
from proxy.wire.dialect import Listener, RequestView, Spoken, Unreadable
from proxy.wire.edit_writer import Fields, PartNames, Place, arguments, in_content, result, sealed, written
from proxy.wire.incremental_read import IncrementalReader
from proxy.wire.listener import DocumentListener, StreamListener, Terminator
from proxy.wire.parts import anthropic_messages as parts
from proxy.wire.parts.content import offered
from proxy.wire.refusals import anthropic_refusal, anthropic_too_long
from proxy.wire.slices import count_of, fields_of, string_of, value_of
from proxy.wire.splice import Splice, appended
from proxy.wire.validation import anthropic_messages as rules

_WORDS = PartNames("text", frozenset({"text"}), frozenset({"image", "document", "search_result"}))


def places_of(message: msgspec.Raw) -> list[Place | None]:
    """One place for each part of a message, in their order."""
    fields = fields_of(message)
    return [] if sealed(fields) else in_content(fields.get("content"), _WORDS, _of_block)


def _of_block(kind: str, block: Fields) -> Place | None:
    if sealed(block):
        return None
    match kind:
        case "tool_use":
            return arguments(block.get("input"))
        case "tool_result":
            return result(block.get("content"), _WORDS)
    return None


_STOP = Terminator(types=frozenset({b"message_stop"}))


class AnthropicMessages:
    """The dialect of ``/messages``."""

    name = "anthropic-messages"
    paths: tuple[str, ...] = ("/messages",)
    listed = "messages"
    check = staticmethod(rules.broken)
    refusal = staticmethod(anthropic_refusal)
    too_long = staticmethod(anthropic_too_long)

    def __init__(self, histories: IncrementalReader | None = None) -> None:
        self._histories = histories or IncrementalReader()

    def read(self, body: bytes, spoken: Spoken, path: str = "") -> RequestView:
        """Understand a body (see :class:`~proxy.wire.dialect.Dialect`)."""
        parted = self._histories.parted(body, self.listed, spoken, parts.message_of)
        if parted.items is None:
            raise Unreadable("no list of messages")
        fields, memo = parted.fields, self._histories.memo
        system = fields.get("system")
        tools, schemas = offered(fields.get("tools"), parts.tool_names, memo)
        conversation = Conversation(
            dialect=self.name,
            model=string_of(fields.get("model")),
            messages=parted.messages,
            instructions=memo.of(system, "system", parts.instructions_of) if system is not None else "",
            tools=tools,
            schemas=schemas,
            stream=value_of(fields.get("stream")) is True,
            longest=count_of(fields.get("max_tokens")),
        )
        return RequestView(body, conversation, fields, parted.items, cut_from=parted.text)

    def write(self, view: RequestView, edits: Sequence[Edit]) -> bytes:
        """The body with the edits spliced in (see :class:`~proxy.wire.dialect.Dialect`)."""
        return written(view, edits, places_of, _append_text)

    def listen(self, streamed: bool) -> Listener:
        """A listener for one reply."""
        return StreamListener(_STOP, parts.of_stream) if streamed else DocumentListener(parts.of_document)


def _append_text(text: bytes, message: msgspec.Raw, edits: Sequence[Append]) -> list[Splice]:
    """Text goes behind a message's own blocks, and so behind their cache marks, as a block of its own; only in a
    message that ends with a tool's result does it stand inside that result."""
    content = fields_of(message).get("content")
    result = parts.open_result(content)
    if result is not None:
        content = fields_of(result).get("content")
    return [] if content is None else appended(text, content, edits, parts.TEXT, always_part=result is None)
