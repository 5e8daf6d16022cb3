"""What a reply of Gemini's says: a document, a list of them, or a stream of events that are documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from memory.conversation import Part, Reasoning, Reply, Text, Usage
from proxy.wire.dialect import BadRequest, Unreadable
from proxy.wire.lenient_json import int_in
from proxy.wire.parts.gemini_generate import part_of
from proxy.wire.slices import cut, fields_of, is_object, items_of, string_of, value_of
from proxy.wire.sse import ServerEvent


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
    """The reply in a stream of events."""
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
