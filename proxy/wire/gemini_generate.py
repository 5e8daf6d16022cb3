"""Gemini's ``generateContent`` and ``streamGenerateContent``: what Gemini CLI speaks, and Google's SDKs.

The model stands in the path, and so does whether the reply is streamed: as events with ``alt=sse``, else as one list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import parse_qs

import msgspec

from memory.conversation import Conversation, Form, Reply
from memory.edits import Append, Edit
from proxy.wire.dialect import Framing, Listener, RequestView, Spoken, Unreadable
from proxy.wire.edit_writer import written
from proxy.wire.incremental_read import IncrementalReader
from proxy.wire.listener import WholeListener
from proxy.wire.model_name import model_in_path
from proxy.wire.parts import gemini_generate as parts
from proxy.wire.parts.offered_tools import offered
from proxy.wire.places.gemini_generate import places_of
from proxy.wire.refusals import google_refusal, google_too_long
from proxy.wire.replies import gemini_generate as replies
from proxy.wire.slices import count_of, fields_of, string_of
from proxy.wire.splice import Splice, appended
from proxy.wire.sse import events
from proxy.wire.unterminated_stream import BLANK_LINE, UnterminatedListener
from proxy.wire.validation import gemini_generate as rules

_STOPPED = re.compile(rb'"finish_?[rR]eason"\s*:\s*"')


class GeminiGenerate:
    """The dialect of ``models/<model>:generateContent``."""

    name = "gemini-generate"
    paths: tuple[str, ...] = (":generateContent", ":streamGenerateContent")
    listed = "contents"

    def __init__(self, histories: IncrementalReader | None = None) -> None:
        self._histories = histories or IncrementalReader()

    def read(self, body: bytes, spoken: Spoken, path: str = "") -> RequestView:
        """Understand a body (see :class:`~proxy.wire.dialect.Dialect`)."""
        parted = self._histories.parted(body, self.listed, spoken, parts.message_of)
        if parted.items is None:
            raise Unreadable("no list of contents")
        fields, memo = parted.fields, self._histories.memo
        system = parts.field(fields, "systemInstruction")
        tools, schemas = offered(fields.get("tools"), parts.tool_names, memo)
        wanted = fields_of(parts.field(fields, "generationConfig"))
        streamed = "streamGenerateContent" in path
        events = not streamed or parse_qs(path.partition("?")[2]).get("alt") == ["sse"]
        conversation = Conversation(
            dialect=self.name,
            model=model_in_path(path) or string_of(fields.get("model")),
            messages=parted.messages,
            instructions=memo.of(system, "system content", parts.instructions_of) if system is not None else "",
            tools=tools,
            schemas=schemas,
            stream=streamed,
            longest=count_of(parts.field(wanted, "maxOutputTokens")),
        )
        framing = Framing.EVENTS if events else Framing.ARRAY
        return RequestView(body, conversation, fields, parted.items, cut_from=parted.text, framing=framing)

    def write(self, view: RequestView, edits: Sequence[Edit]) -> bytes:
        """The body with the edits spliced in (see :class:`~proxy.wire.dialect.Dialect`)."""
        return written(view, edits, places_of, _append)

    def check(self, body: bytes) -> list[str]:
        """The rules that the body breaks."""
        return rules.broken(body)

    def listen(self, streamed: bool) -> Listener:
        """A listener for one reply."""
        return UnterminatedListener(_STOPPED, BLANK_LINE, _heard) if streamed else WholeListener(replies.of_document)

    def refusal(self, status: int, message: str, where: str = "") -> bytes:
        """An error in Google's shape."""
        return google_refusal(status, message, where)

    def too_long(self, message: str, limit: int = 0, size: int = 0) -> bytes:
        """See :class:`proxy.wire.dialect.Dialect`."""
        return google_too_long(message, limit, size)


def _heard(chunks: Sequence[bytes]) -> Reply:
    return replies.of_stream(events(chunks))


def _append(text: bytes, message: msgspec.Raw, edits: Sequence[Append]) -> list[Splice]:
    """Text is a part of its own behind a content's parts; behind a function's response it goes on inside that."""
    listed = fields_of(message).get("parts")
    result = parts.open_result(listed)
    if result is None:
        return [] if listed is None else appended(text, listed, edits, "", always_part=True)
    own_text = parts.only_text(result.get("response"))
    inside = [Append(edit.message, edit.text, Form.SUFFIX) for edit in edits]
    return [] if own_text is None else appended(text, own_text, inside, "")
