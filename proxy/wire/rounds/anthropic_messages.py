"""Anthropic's replies in several rounds: blocks are numbered on, one start, one stop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from proxy.wire.lenient_json import dict_in, dump, int_in, list_in, loads, str_in
from proxy.wire.parts.anthropic_messages import usage_of
from proxy.wire.rounds.stream import DocumentWriter, StreamWriter, named, with_data, with_fields
from proxy.wire.rounds.turn import ContentMark, HiddenCall, RoundTurn, mark_of, mark_of_other
from proxy.wire.sse import ServerEvent

_ENDED = b"end_turn"


class AnthropicStream(StreamWriter):
    """Writes ``message_start`` … ``message_stop`` once."""

    def __init__(self, ours: frozenset[str]) -> None:
        super().__init__(ours)
        self._shown = 0  # blocks that the client has seen
        self.begin()

    def begin(self) -> None:
        """Forget the round before."""
        self._blocks: dict[int, dict[str, Any]] = {}
        self._block_texts: dict[int, dict[str, list[str]]] = {}
        self._place: dict[int, int | None] = {}
        self._stop = ""
        self._usage: dict[str, Any] = {}

    def take(self, raw: bytes, event: ServerEvent, kind: str, value: dict[str, Any]) -> bytes:
        """Hear an event; what the client sees of it."""
        match kind:
            case "message_start":
                self._usage.update(dict_in(dict_in(value, "message"), "usage"))
                return b"" if self.number else raw
            case "content_block_start":
                block = dict_in(value, "content_block")
                index = int_in(value, "index")
                self._blocks[index] = block
                hidden = str_in(block, "type") == "tool_use" and str_in(block, "name") in self.ours
                self.hides = self.hides or hidden
                self._place[index] = None if hidden else self._shown
                self._shown += not hidden
                return self._numbered(raw, event, index)
            case "content_block_delta":
                index = int_in(value, "index")
                self._take_delta(index, dict_in(value, "delta"))
                return self._numbered(raw, event, index)
            case "content_block_stop":
                return self._numbered(raw, event, int_in(value, "index"))
            case "message_delta":
                self._stop = str_in(dict_in(value, "delta"), "stop_reason") or self._stop
                self._usage.update(dict_in(value, "usage"))
                if self.waits():
                    return b""
                if not self.number:
                    return raw
                # The client has the first round's input from its start: the last round's stands here.
                return with_data(raw, event, with_fields(event.data, {("usage",): orjson.dumps(self._usage)}))
            case "message_stop":
                self.over = True
                return b"" if self.waits() else raw
        return raw

    def so_far(self) -> RoundTurn:
        blocks = {index: self._block_json(index) for index in sorted(self._blocks)}
        return turn_of(
            [(raw, self._place.get(index) is None) for index, raw in blocks.items()], self._stop, self._usage, self.over
        )

    def close(self) -> bytes:
        delta = {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}}
        end = orjson.dumps(delta | {"usage": self._usage})
        return named("message_delta", end) + named("message_stop", b'{"type":"message_stop"}')

    def _numbered(self, raw: bytes, event: ServerEvent, index: int) -> bytes:
        place = self._place.get(index, index)
        if place is None:
            return b""
        if place == index:
            return raw
        return with_data(raw, event, with_fields(event.data, {("index",): str(place).encode()}))

    def _take_delta(self, index: int, delta: dict[str, Any]) -> None:
        texts = self._block_texts.setdefault(index, {})
        for field, value in delta.items():
            if field != "type" and isinstance(value, str):
                texts.setdefault(field, []).append(value)
            elif field == "citation" and index in self._blocks:
                block = self._blocks[index]
                block["citations"] = [*list_in(block, "citations"), value]

    def _block_json(self, index: int) -> str:
        """A block as JSON, as it stands in a request; empty where it says nothing."""
        block = dict(self._blocks[index])
        fields = {field: "".join(texts) for field, texts in self._block_texts.get(index, {}).items()}
        arguments = fields.pop("partial_json", "")
        for field, text in fields.items():
            block[field] = str_in(block, field) + text
        return block_of(block, arguments)


class AnthropicDocumentWriter(DocumentWriter):
    """The whole reply."""

    def __init__(self, ours: frozenset[str]) -> None:
        super().__init__(ours)
        self._shown: list[bytes] = []

    def end(self) -> bytes:
        value = loads(self._data)
        if not isinstance(value, dict) or not isinstance(value.get("content"), list):
            return self._data
        self.over = True
        blocks = [block for block in value["content"] if isinstance(block, dict)]
        hides = [str_in(each, "type") == "tool_use" and str_in(each, "name") in self.ours for each in blocks]
        self._turn = turn_of(
            [(block_of(block, ""), hidden) for block, hidden in zip(blocks, hides, strict=True)],
            str_in(value, "stop_reason"),
            dict_in(value, "usage"),
            over=True,
        )
        self._id = self._id or orjson.dumps(value.get("id"))
        if not any(hides) and not self._number:
            return self._data
        self._shown += [dump(block).encode() for block, hidden in zip(blocks, hides, strict=True) if not hidden]
        return b"" if self._turn.goes_on else self._document({})

    def close(self) -> bytes:
        return self._document({("stop_reason",): b'"' + _ENDED + b'"'})

    def _document(self, more: Mapping[tuple[str, ...], bytes]) -> bytes:
        content = b"[" + b",".join(self._shown) + b"]"
        return with_fields(self._data, {("content",): content, ("id",): self._id, **more})


def block_of(block: dict[str, Any], arguments: str) -> str:
    """A block of a reply as it stands in a request; empty where it says nothing. ``arguments`` is a tool's input as
    the stream spelt it, kept letter by letter."""
    if str_in(block, "type") == "text" and not str_in(block, "text").strip():
        return ""
    if not arguments:
        return dump(block)
    given = arguments if isinstance(loads(arguments.encode(errors="replace")), dict) else "{}"
    rest = dump({key: value for key, value in block.items() if key != "input"})
    return rest[:-1] + ',"input":' + given.encode(errors="replace").decode() + "}"


def turn_of(blocks: list[tuple[str, bool]], stop: str, usage: dict[str, Any], over: bool) -> RoundTurn:
    """A round out of its blocks, as JSON, each with whether it is hidden."""
    calls: list[HiddenCall] = []
    marks: list[ContentMark] = []
    others = 0
    for raw, hidden in blocks:
        if not raw:
            continue
        block = loads(raw.encode())
        if not isinstance(block, dict):
            continue
        if hidden:
            given = dump(block.get("input"))
            calls.append(HiddenCall(str_in(block, "id"), str_in(block, "name"), given, raw, others))
            continue
        others += str_in(block, "type") == "tool_use"
        marks.append(mark_of_block(block))
    message = '{"role":"assistant","content":[' + ",".join(raw for raw, _ in blocks if raw) + "]}"
    return RoundTurn(tuple(calls), others, stop, message, tuple(marks), usage_of(usage), over)


def mark_of_block(block: dict[str, Any]) -> ContentMark:
    """How a block is known again."""
    if str_in(block, "type") == "text":
        return mark_of(str_in(block, "text"))
    name = str_in(block, "signature") or str_in(block, "data") or str_in(block, "id") or str_in(block, "tool_use_id")
    return mark_of_other(f"{str_in(block, 'type')} {name or str_in(block, 'thinking')}")
