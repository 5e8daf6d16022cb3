"""Gemini's ``generateContent`` and ``streamGenerateContent``: what Gemini CLI speaks, and Google's SDKs.

The model stands in the path, and so does whether the reply is streamed: as events with ``alt=sse``, else as one list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from urllib.parse import parse_qs

import msgspec

from memory.conversation import Conversation, Form, Reply
from memory.edits import Append, Edit
from proxy.wire.dialect import Framing, Listener, RequestView, Spoken, Unreadable
from proxy.wire.edit_writer import Place, Swap, arguments, free, written
from proxy.wire.incremental_read import IncrementalReader
from proxy.wire.listener import BLANK_LINE, DocumentListener, UnterminatedListener
from proxy.wire.model_name import model_in_path
from proxy.wire.parts import gemini_generate as parts
from proxy.wire.parts.content import offered
from proxy.wire.parts.gemini_generate import Fields, field, has_failed, only_text
from proxy.wire.refusals import google_refusal, google_too_long
from proxy.wire.slices import count_of, fields_of, is_list, is_object, is_string, items_of, string_of, value_of
from proxy.wire.splice import Splice, appended, escaped, text_part
from proxy.wire.sse import events
from proxy.wire.validation import gemini_generate as rules


def places_of(message: msgspec.Raw) -> list[Place | None]:
    """One place for each part of a content, in their order; a part with a thought's signature has none."""
    places: list[Place | None] = []
    for part in items_of(fields_of(message).get("parts")):
        fields = fields_of(part)
        sealed = bool(string_of(field(fields, "thoughtSignature")))
        if is_string(fields.get("text")):
            thought = value_of(fields.get("thought")) is True
            if thought or sealed or string_of(fields["text"]):
                places.append(None if thought or sealed else free(fields["text"]))
        else:
            places.append(None if sealed else _of_part(part, fields))
    return places


def _of_part(part: msgspec.Raw, fields: Fields) -> Place | None:
    if is_object(call := field(fields, "functionCall")):
        return arguments(fields_of(call).get("args"))
    if is_object(answer := field(fields, "functionResponse")):
        return _result_splices(fields_of(answer))
    if is_object(field(fields, "inlineData")) or is_object(field(fields, "fileData")):
        return partial(_instead, part)
    return None


def _result_splices(answer: Fields) -> Place | None:
    """A text stays under its name; any other response becomes one text, and its pictures leave with it."""
    response, parts = answer.get("response"), answer.get("parts")
    if response is None or not is_object(response):
        return None
    pictures = [parts] if parts is not None and is_list(parts) and items_of(parts) else []
    return partial(_answer, response, pictures)


def _instead(part: msgspec.Raw, text: str) -> list[Swap]:
    return [(part, text_part(text, ""))]


def _answer(response: msgspec.Raw, pictures: list[msgspec.Raw], text: str) -> list[Swap]:
    answer_text = only_text(response)
    quoted = b'"' + escaped(text) + b'"'
    name = b"error" if has_failed(response) else b"output"
    field = (answer_text, quoted) if answer_text is not None else (response, b'{"%b":%b}' % (name, quoted))
    return [field, *((each, b"[]") for each in pictures)]


_STOPPED = re.compile(rb'"finish_?[rR]eason"\s*:\s*"')


class GeminiGenerate:
    """The dialect of ``models/<model>:generateContent``."""

    name = "gemini-generate"
    paths: tuple[str, ...] = (":generateContent", ":streamGenerateContent")
    listed = "contents"
    check = staticmethod(rules.broken)
    refusal = staticmethod(google_refusal)
    too_long = staticmethod(google_too_long)

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
        return written(view, edits, places_of, _append_text)

    def listen(self, streamed: bool) -> Listener:
        """A listener for one reply."""
        return UnterminatedListener(_STOPPED, BLANK_LINE, _heard) if streamed else DocumentListener(parts.of_document)


def _heard(chunks: Sequence[bytes]) -> Reply:
    return parts.of_stream(events(chunks))


def _append_text(text: bytes, message: msgspec.Raw, edits: Sequence[Append]) -> list[Splice]:
    """Text is a part of its own behind a content's parts; behind a function's response it goes on inside that."""
    listed = fields_of(message).get("parts")
    result = parts.open_result(listed)
    if result is None:
        return [] if listed is None else appended(text, listed, edits, "", always_part=True)
    own_text = parts.only_text(result.get("response"))
    inside = [Append(edit.message, edit.text, Form.SUFFIX) for edit in edits]
    return [] if own_text is None else appended(text, own_text, inside, "")
