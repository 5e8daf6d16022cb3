"""Gemini's replies in several rounds: chunks under the first one's id, the client's calls alone, one reason to stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from proxy.wire.dialect import BadRequest, Framing, RequestView, Unreadable
from proxy.wire.lenient_json import dict_in, dump, list_in, loads, str_in
from proxy.wire.parts.gemini_generate import field, first_candidate, usage_of
from proxy.wire.rounds.replay import among, copy_of, known_again, string_at
from proxy.wire.rounds.round_format import Definition, RoundFormat
from proxy.wire.rounds.stream import DocumentWriter, StreamWriter, with_data
from proxy.wire.rounds.turn import ContentMark, HiddenCall, HiddenRoundRecord, RoundTurn, mark_of, mark_of_other
from proxy.wire.slices import cut, fields_of, is_list, items_of, span, string_of, value_of
from proxy.wire.splice import Splice
from proxy.wire.sse import ServerEvent

SpokenParts = list[tuple[str, bool]]
"""Parts as JSON, letter by letter as they came (with the signatures of thoughts), each with whether it is hidden."""


class GeminiStream(StreamWriter):
    """Writes chunks, of which the last says why the model stopped."""

    def __init__(self, ours: frozenset[str]) -> None:
        super().__init__(ours)
        self._id: Any = None
        self._like: dict[str, Any] = {}
        self.begin()

    def begin(self) -> None:
        """Forget the round before."""
        self._ended = False
        self._parts: SpokenParts = []
        self._stop = ""
        self._usage: dict[str, Any] = {}

    def take(self, raw: bytes, event: ServerEvent, kind: str, value: dict[str, Any]) -> bytes:
        """Hear a chunk; what the client sees of it."""
        self._id = self._id if self._id is not None else value.get("responseId")
        self._like = self._like or {key: item for key, item in value.items() if key not in ("candidates", "error")}
        self._usage.update(dict_in(value, "usageMetadata"))
        item = parts_in(event.data, self.ours)
        self._parts += item
        shown = [part for part, hidden in item if not hidden]
        self.hides = self.hides or len(shown) < len(item)
        candidate = _first(value)
        stop = str_in(candidate, "finishReason")
        self._stop = stop or self._stop
        waits = self.waits()
        changed = len(shown) < len(item) or (waits and bool(stop))
        if (changed or waits) and not shown and (waits or not stop):
            return b""
        if self.number and "responseId" in value and value["responseId"] != self._id:
            value["responseId"], changed = self._id, True
        if not changed:
            return raw
        candidate["content"] = {**dict_in(candidate, "content"), "parts": [loads(part.encode()) for part in shown]}
        if waits:
            candidate.pop("finishReason", None)
        return with_data(raw, event, dump(value).encode(errors="replace"))

    def end(self) -> bytes:
        shown = super().end()
        self._ended = True
        return shown

    def turn(self) -> RoundTurn:
        self._read()
        # There is no terminator but the upstream's end.
        self.over = self.over or (self._ended and bool(self._stop))
        return self.so_far()

    def so_far(self) -> RoundTurn:
        return turn_of(self._parts, self._stop, self._usage, self.over)

    def close(self) -> bytes:
        content = {"parts": [{"text": ""}], "role": "model"}
        last = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
        document = {**last, **self._like, "usageMetadata": self._usage}
        return b"data: " + dump(document).encode(errors="replace") + b"\n\n"


class GeminiDocumentWriter(DocumentWriter):
    """The whole reply."""

    def __init__(self, ours: frozenset[str]) -> None:
        super().__init__(ours)
        self._first_id: Any = None
        self._shown: list[str] = []

    def end(self) -> bytes:
        value = loads(self._data)
        if not isinstance(value, dict) or not _first(value):
            return self._data
        self.over = True
        parts = parts_in(self._data, self.ours)
        self._turn = turn_of(parts, str_in(_first(value), "finishReason"), dict_in(value, "usageMetadata"), over=True)
        self._first_id = self._first_id if self._first_id is not None else value.get("responseId")
        if not self._turn.calls and not self._number:
            return self._data
        self._shown += [part for part, hidden in parts if not hidden]
        return b"" if self._turn.goes_on else self._document("")

    def close(self) -> bytes:
        return self._document("STOP")

    def _document(self, stop: str) -> bytes:
        value = loads(self._data)
        candidate = _first(value)
        parts = [loads(part.encode()) for part in self._shown] or [{"text": ""}]
        candidate["content"] = {**dict_in(candidate, "content"), "parts": parts}
        if stop:
            candidate["finishReason"] = stop
        if "responseId" in value:
            value["responseId"] = self._first_id
        return dump(value).encode(errors="replace")


def parts_in(data: bytes, ours: frozenset[str]) -> SpokenParts:
    """The parts of a document, as they stand in it."""
    try:
        content = first_candidate(cut(data)[1]).get("content")
        listed = items_of(fields_of(content).get("parts"))
        return [(bytes(raw).decode(), _called_function(raw) in ours) for raw in listed]
    except (BadRequest, Unreadable, msgspec.DecodeError):
        return []


def turn_of(spoken: SpokenParts, stop: str, usage: Mapping[str, Any], over: bool) -> RoundTurn:
    calls: list[HiddenCall] = []
    marks: list[ContentMark] = []
    lines: list[str] = []
    others = 0
    for raw, hidden in _merged_texts(spoken):
        lines.append(raw)
        value = loads(raw.encode())
        call = dict_in(value, "functionCall")
        if hidden:
            name = str_in(call, "name")
            calls.append(HiddenCall(str_in(call, "id"), name, dump(call.get("args") or {}), raw, others))
            continue
        others += bool(call)
        marks.append(mark_of_part(value))
    message = '{"role":"model","parts":[' + ",".join(lines) + "]}"
    return RoundTurn(tuple(calls), others, stop, message, tuple(marks), usage_of(dict(usage)), over)


def mark_of_part(value: dict[str, Any]) -> ContentMark:
    """How a part is known again."""
    if text := text_of_part(value):
        return mark_of(text)
    if isinstance(value.get("text"), str):
        return mark_of_other(f"thought {value['text']}") if value.get("thought") else ContentMark(0, "")
    call = dict_in(value, "functionCall")
    return mark_of_other(f"call {str_in(call, 'id') or dump(call)}" if call else dump(value))


def text_of_part(value: dict[str, Any]) -> str:
    """What a part says, thoughts aside."""
    return "" if value.get("thought") else str_in(value, "text")


def replay_splices(text: bytes, items: Sequence[msgspec.Raw], at: int, hidden: HiddenRoundRecord) -> Iterator[Splice]:
    """The splices for a history of Gemini's; ``at`` is the content that was answered.

    Raises:
        OtherReply: nothing may be made again.
    """
    copy = copy_of(items, at, "model")
    start, end = span(text, copy)
    parts = items_of(fields_of(copy).get("parts"))
    known, rest = known_again(parts, hidden.marks, mark_of_part, text_of_part)
    if hidden.before:
        if known == len(parts):
            yield Splice(start, end, hidden.before.encode())
            return
        yield Splice(start, start, hidden.before.encode() + b",")
        if known:
            yield Splice(span(text, parts[0])[0], span(text, parts[known])[0], b"")
        if rest is not None:
            yield string_at(text, fields_of(parts[known])["text"], rest)
    calls = [part for part in parts[known:] if "functionCall" in fields_of(part)]
    answer = items_of(fields_of(items[at + 2]).get("parts")) if at + 2 < len(items) else []
    if hidden.beside and calls and answer and field(fields_of(answer[0]), "functionResponse") is not None:
        yield from among(text, calls, hidden.beside)
        first = span(text, answer[0])[0]
        yield Splice(first, first, hidden.results.encode() + b",")


def _merged_texts(spoken: SpokenParts) -> Iterator[tuple[str, bool]]:
    """The parts, of which adjacent bare texts are one: a stream cuts a text in many. What is signed stays apart."""
    held = ""
    for raw, hidden in spoken:
        value = loads(raw.encode())
        if not isinstance(value, dict):
            continue
        if set(value) == {"text"} and isinstance(value["text"], str):
            held += value["text"]
            continue
        if held:
            yield dump({"text": held}), False
            held = ""
        yield raw, hidden
    if held:
        yield dump({"text": held}), False


def _called_function(part: msgspec.Raw) -> str:
    """The function that a part calls; empty where it calls none."""
    return string_of(fields_of(field(fields_of(part), "functionCall")).get("name"))


def _first(value: dict[str, Any]) -> dict[str, Any]:
    listed = list_in(value, "candidates")
    return next((each for each in listed if isinstance(each, dict) and not each.get("index")), {})


def _result(call: str, tool: str, text: str) -> dict[str, Any]:
    named = {"id": call} if call else {}
    return {"functionResponse": {**named, "name": tool, "response": {"output": text}}}


def _tool(tool: Definition) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}


def _answered(message: str, results: str) -> str:
    return f'{message},{{"role":"user","parts":[{results}]}}'


def _declared_functions(tools: msgspec.Raw) -> msgspec.Raw | None:
    """The last list of declared functions; two lists are not taken everywhere."""
    lists = [field(fields_of(tool), "functionDeclarations") for tool in items_of(tools)]
    return next((each for each in reversed(lists) if is_list(each) and items_of(each)), None)


def _may_offer_tools(view: RequestView) -> bool:
    """Not where a call is demanded, several replies are wanted, tools lie in a cache, or the stream is one list."""
    tools = view.fields.get("tools")
    calling = fields_of(field(fields_of(field(view.fields, "toolConfig")), "functionCallingConfig"))
    several = value_of(field(fields_of(field(view.fields, "generationConfig")), "candidateCount")) not in (None, 1)
    if string_of(calling.get("mode")) not in ("", "AUTO", "VALIDATED") or field(calling, "allowedFunctionNames"):
        return False
    cached = field(view.fields, "cachedContent") is not None
    return (
        not several
        and not cached
        and view.framing is Framing.EVENTS
        and _declared_functions(tools or _NONE) is not None
    )


_NONE = msgspec.Raw(b"[]")

MANNER = RoundFormat(
    "contents",
    GeminiStream,
    GeminiDocumentWriter,
    replay_splices,
    _result,
    _tool,
    _may_offer_tools,
    answered=_answered,
    tools=_declared_functions,
)
