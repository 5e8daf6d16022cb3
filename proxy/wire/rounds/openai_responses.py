"""Responses in several rounds: items and events are numbered on, one response begins and one is completed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from memory.conversation import Usage
from proxy.wire.lenient_json import dict_in, dump, int_in, list_in, loads, str_in
from proxy.wire.parts.openai_responses import usage_of
from proxy.wire.rounds.stream import DocumentWriter, StreamWriter, named, with_data, with_fields
from proxy.wire.rounds.turn import ContentMark, HiddenCall, RoundTurn, mark_of, mark_of_other
from proxy.wire.sse import ServerEvent

_BEGINS = ("response.created", "response.in_progress", "response.queued")
_ENDS = ("response.completed", "response.incomplete", "response.failed")


class ResponsesStream(StreamWriter):
    """Writes ``response.created`` … ``response.completed`` once."""

    def __init__(self, ours: frozenset[str]) -> None:
        super().__init__(ours)
        self._id = b""
        self._next = 0  # the place of the client's next item
        self._sequence: int | None = None  # the last number that the client has seen
        self._shown: list[str] = []  # whole items of earlier rounds that the client has seen
        self._hid = False
        self._response: dict[str, Any] = {}
        self.begin()

    def begin(self) -> None:
        """Forget the round before."""
        self._items: dict[int, str] = {}
        self._place: dict[int, int | None] = {}
        self._stop = ""
        self._usage: Usage | None = None

    def again(self) -> None:
        self._shown += self._visible()
        super().again()

    def take(self, raw: bytes, event: ServerEvent, kind: str, value: dict[str, Any]) -> bytes:
        """Hear an event; what the client sees of it."""
        if kind in _BEGINS:
            self._id = self._id or orjson.dumps(dict_in(value, "response").get("id"))
            return b"" if self.number else self._passed(raw, event, value, {})
        if kind in _ENDS:
            return self._end(raw, event, kind, value)
        if "output_index" not in value:
            return self._passed(raw, event, value, {})
        index = int_in(value, "output_index")
        item = dict_in(value, "item")
        if index not in self._place:
            hidden = self._looked_at(item)
            self._place[index] = None if hidden else self._next
            self._next += not hidden
        if kind == "response.output_item.done":
            self._items[index] = dump(item)
        place = self._place[index]
        if place is None:
            return b""
        return self._passed(raw, event, value, {} if place == index else {("output_index",): str(place).encode()})

    def so_far(self) -> RoundTurn:
        items = [(raw, self._place.get(index) is None) for index, raw in sorted(self._items.items())]
        return turn_of(items, self._stop, self._usage, self.over)

    def close(self) -> bytes:
        response = self._response | {"status": "completed", "output": [], "incomplete_details": None}
        end: dict[str, Any] = {"type": "response.completed"}
        if self._sequence is not None:
            end["sequence_number"] = self._sequence + 1
        data = dump(end | {"response": response}).encode(errors="replace")
        output = _listed([*self._shown, *self._visible()])
        fields: dict[tuple[str, ...], bytes] = {("response", "output"): output}
        fields["response", "id"] = self._id or b"null"
        return named("response.completed", with_fields(data, fields))

    def _looked_at(self, item: dict[str, Any]) -> bool:
        """Whether an item is to be hidden."""
        hidden = _is_ours(item, self.ours)
        self.hides = self.hides or hidden
        self._hid = self._hid or hidden
        return hidden

    def _visible(self) -> list[str]:
        return [raw for index, raw in sorted(self._items.items()) if self._place.get(index) is not None]

    def _end(self, raw: bytes, event: ServerEvent, kind: str, value: dict[str, Any]) -> bytes:
        """The terminal event: held back where the round goes on, else with all the items that the client has seen."""
        self._response = dict_in(value, "response")
        self._usage = usage_of(dict_in(self._response, "usage"))
        self._stop = str_in(dict_in(self._response, "incomplete_details"), "reason") or kind.partition(".")[2]
        output = [item for item in list_in(self._response, "output") if isinstance(item, dict)]
        if not self._items:  # a server that tells its items only here
            for index, item in enumerate(output):
                self._items[index] = dump(item)
                hidden = self._looked_at(item)
                self._place.setdefault(index, None if hidden else index)
        self.over = True
        if kind == "response.completed" and self.waits():
            return b""
        fields: dict[tuple[str, ...], bytes] = {}
        if self.number:
            fields["response", "id"] = self._id
        if self._hid and (output or self.number):
            fields["response", "output"] = _listed([*self._shown, *self._visible()])
        return self._passed(raw, event, value, fields)

    def _passed(
        self, raw: bytes, event: ServerEvent, value: dict[str, Any], fields: Mapping[tuple[str, ...], bytes]
    ) -> bytes:
        """An event for the client, under the next number where others before it did not pass."""
        fields = dict(fields)
        number = value.get("sequence_number")
        if isinstance(number, int):
            if self._hid or self.number:
                number = number if self._sequence is None else self._sequence + 1
                fields["sequence_number",] = str(number).encode()
            self._sequence = number
        return with_data(raw, event, with_fields(event.data, fields)) if fields else raw


class ResponsesDocumentWriter(DocumentWriter):
    """The whole reply."""

    def __init__(self, ours: frozenset[str]) -> None:
        super().__init__(ours)
        self._shown: list[str] = []

    def end(self) -> bytes:
        value = loads(self._data)
        if not isinstance(value, dict) or not isinstance(value.get("output"), list):
            return self._data
        self.over = True
        items = [item for item in value["output"] if isinstance(item, dict)]
        stop = str_in(dict_in(value, "incomplete_details"), "reason") or str_in(value, "status")
        marked_items = [(dump(item), _is_ours(item, self.ours)) for item in items]
        self._turn = turn_of(marked_items, stop, usage_of(dict_in(value, "usage")), over=True)
        self._id = self._id or orjson.dumps(value.get("id"))
        if not self._turn.calls and not self._number:
            return self._data
        self._shown += [raw for raw, hidden in marked_items if not hidden]
        return b"" if self._turn.goes_on else self.close()

    def close(self) -> bytes:
        return with_fields(self._data, {("output",): _listed(self._shown), ("id",): self._id})


def turn_of(items: Sequence[tuple[str, bool]], stop: str, usage: Usage | None, over: bool) -> RoundTurn:
    """A round out of its items, as JSON, each with whether it is hidden."""
    calls: list[HiddenCall] = []
    marks: list[ContentMark] = []
    back: list[str] = []
    others = 0
    for raw, hidden in items:
        item = loads(raw.encode(errors="replace"))
        if not isinstance(item, dict):
            continue
        if _can_be_sent_back(item):
            back.append(raw)
        if hidden:
            calls.append(
                HiddenCall(str_in(item, "call_id"), str_in(item, "name"), str_in(item, "arguments"), raw, others)
            )
            continue
        others += str_in(item, "type").endswith("_call") and bool(item.get("call_id"))
        marks.append(mark_of_item(item))
    # A stop reason of its own is only told where the response is incomplete.
    return RoundTurn(tuple(calls), others, stop, ",".join(back), tuple(marks), usage, over)


def mark_of_item(item: dict[str, Any]) -> ContentMark:
    """How an item is known again, in a request and in a reply alike."""
    kind = str_in(item, "type") or "message"
    if kind == "message":
        content = item.get("content")
        if isinstance(content, str):
            return mark_of(content)
        texts = [str_in(part, "text") for part in list_in(item, "content") if isinstance(part, dict)]
        return mark_of("\n".join(texts))
    return mark_of_other(f"{kind} {str_in(item, 'encrypted_content') or str_in(item, 'call_id') or str_in(item, 'id')}")


def _is_ours(item: dict[str, Any], ours: frozenset[str]) -> bool:
    return str_in(item, "type") == "function_call" and str_in(item, "name") in ours


def _can_be_sent_back(item: dict[str, Any]) -> bool:
    """Whether an item can stand in a request: reasoning that the server neither keeps nor gave cannot."""
    return str_in(item, "type") != "reasoning" or bool(item.get("encrypted_content") or item.get("content"))


def _listed(items: Sequence[str]) -> bytes:
    return b"[" + ",".join(items).encode(errors="replace") + b"]"
