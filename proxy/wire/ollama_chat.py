"""Ollama's own chat, ``/api/chat``: a stream of JSON lines, unless the request says that it wants one object."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from memory.conversation import Conversation, Form
from memory.edits import Append, Edit
from proxy.wire.dialect import Framing, Listener, RequestView, Spoken, Unreadable
from proxy.wire.edit_writer import written
from proxy.wire.incremental_read import IncrementalReader
from proxy.wire.listener import WholeListener
from proxy.wire.parts import ollama_chat as parts
from proxy.wire.parts.offered_tools import offered
from proxy.wire.parts.openai_chat import tool_names
from proxy.wire.places.ollama_chat import places_of
from proxy.wire.refusals import ollama_refusal
from proxy.wire.replies import ollama_chat as replies
from proxy.wire.slices import count_of, fields_of, is_string, string_of, value_of
from proxy.wire.splice import Splice, appended
from proxy.wire.unterminated_stream import LINE_END, UnterminatedListener
from proxy.wire.validation import ollama_chat as rules

_DONE = re.compile(rb'"done"\s*:\s*true')


class OllamaChat:
    """The dialect of ``/api/chat``."""

    name = "ollama-chat"
    paths: tuple[str, ...] = ("/api/chat",)
    listed = "messages"

    def __init__(self, histories: IncrementalReader | None = None) -> None:
        self._histories = histories or IncrementalReader()

    def read(self, body: bytes, spoken: Spoken, path: str = "") -> RequestView:
        """Understand a body (see :class:`~proxy.wire.dialect.Dialect`)."""
        parted = self._histories.parted(body, self.listed, spoken, parts.message_of)
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
        return written(view, edits, places_of, _append)

    def check(self, body: bytes) -> list[str]:
        """The rules that the body breaks."""
        return rules.broken(body)

    def listen(self, streamed: bool) -> Listener:
        """A listener for one reply."""
        return (
            UnterminatedListener(_DONE, LINE_END, replies.of_lines) if streamed else WholeListener(replies.of_document)
        )

    def refusal(self, status: int, message: str, where: str = "") -> bytes:
        """An error in Ollama's shape."""
        return ollama_refusal(message, where)

    def too_long(self, message: str, limit: int = 0, size: int = 0) -> bytes:
        """See :class:`proxy.wire.dialect.Dialect`."""
        sizes = f" ({size} tokens, {limit} are read)" if limit and size else ""
        return ollama_refusal(f"prompt too long; exceeded max context length{sizes}", "")


def _append(text: bytes, message: msgspec.Raw, edits: Sequence[Append]) -> list[Splice]:
    """Text goes on in a message's own: a content is one string."""
    content = fields_of(message).get("content")
    if content is None or not is_string(content):
        return []
    return appended(text, content, [Append(edit.message, edit.text, Form.SUFFIX) for edit in edits], "")
