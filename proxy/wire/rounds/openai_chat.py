"""Chat Completions in several rounds: one role, one id, texts one behind the other, the client's calls alone."""

from __future__ import annotations

from typing import Any

import orjson

from memory.conversation import Usage
from proxy.wire.lenient_json import dict_in, dump, list_in, loads, str_in
from proxy.wire.parts.openai_chat import usage_of
from proxy.wire.rounds.stream import DocumentWriter, StreamWriter, with_data, with_fields
from proxy.wire.rounds.turn import HiddenCall, RoundTurn, mark_of
from proxy.wire.sse import ServerEvent

_DONE = b"data: [DONE]\n\n"
_THOUGHT = ("reasoning_content", "reasoning")
_BACK = (*_THOUGHT, "reasoning_details", "refusal")
"""What of a reply's message goes back with it, beside its text and its calls."""


class ChatStream(StreamWriter):
    """Writes chunks up to one ``[DONE]``. Of several choices, only the first has rounds."""

    def __init__(self, ours: frozenset[str]) -> None:
        super().__init__(ours)
        self._id = b""
        self._like: dict[str, Any] = {}  # a chunk, of which those of ours are made
        self._counted: dict[str, Any] | None = None  # a chunk with nothing but usage that was held back
        self.begin()

    def begin(self) -> None:
        """Forget the round before."""
        self._fields: dict[str, list[Any]] = {}
        self._calls: list[dict[str, Any]] = []
        self._index: dict[int, int] = {}  # index on the wire → place in _calls
        self._stop = ""
        self._usage: Usage | None = None

    def is_end(self, event: ServerEvent) -> bool:
        """Whether it is ``[DONE]``."""
        return event.data.strip() == b"[DONE]"

    def take(self, raw: bytes, event: ServerEvent, kind: str, value: dict[str, Any]) -> bytes:
        """Hear a chunk; what the client sees of it."""
        if value.get("usage"):
            self._usage = usage_of(dict_in(value, "usage")) or self._usage
        choices = list_in(value, "choices")
        if not self._id and "id" in value:
            self._id = orjson.dumps(value["id"])
        if choices and not self._like:
            self._like = {key: each for key, each in value.items() if key not in ("choices", "usage")}
        if self.waits():  # behind the stop reason: usage, and what a server may add
            self._counted = value if value.get("usage") and not choices else self._counted
            return b""
        choice = next((each for each in choices if isinstance(each, dict) and not each.get("index")), None)
        if choice is None:
            return self._under_first_id(raw, event)
        delta = dict_in(choice, "delta")
        changed = self._take_delta(delta)
        self._stop = str_in(choice, "finish_reason") or self._stop
        if self._stop and self.waits():
            choice["finish_reason"], changed = None, True
        if self.number and "role" in delta:
            del delta["role"]
            changed = True
        if not changed:
            return self._under_first_id(raw, event)
        if not any(delta.values()) and not choice.get("finish_reason") and len(choices) == 1:
            return b""
        value["id"] = orjson.loads(self._id) if self._id else value.get("id")
        return with_data(raw, event, dump(value).encode(errors="replace"))

    def so_far(self) -> RoundTurn:
        fields = {key: texts if key == "reasoning_details" else "".join(texts) for key, texts in self._fields.items()}
        return turn_of(fields, self._calls, self.ours, self._stop, self._usage, self.over)

    def close(self) -> bytes:
        last = self._like | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
        end = b"data: " + dump(last).encode(errors="replace") + b"\n\n"
        if self._counted is not None:
            counted = with_fields(dump(self._counted).encode(errors="replace"), {("id",): self._id or b"null"})
            end += b"data: " + counted + b"\n\n"
        return end + _DONE

    def _take_delta(self, delta: dict[str, Any]) -> bool:
        """Keep a delta, and take out of it what the client must not see; whether that was anything."""
        for key, value in delta.items():
            if isinstance(value, str) and key != "role":
                self._fields.setdefault(key, []).append(value)
            elif isinstance(value, list) and key == "reasoning_details":
                self._fields.setdefault(key, []).extend(value)
        fragments = [each for each in list_in(delta, "tool_calls") if isinstance(each, dict)]
        if not fragments:
            return False
        shown, changed = [], False
        for at, fragment in enumerate(fragments):
            index = fragment["index"] if isinstance(fragment.get("index"), int) else at
            place = self._place_of(index, str_in(fragment, "id"))
            _append_fragment(self._calls[place], fragment)
            if _name(self._calls[place]) in self.ours:
                self.hides = changed = True
                continue
            visible = sum(_name(call) not in self.ours for call in self._calls[:place])
            if visible != index:
                fragment["index"], changed = visible, True
            shown.append(fragment)
        delta["tool_calls"] = shown
        if changed and not shown:
            del delta["tool_calls"]
        return changed

    def _place_of(self, index: int, id: str) -> int:
        """Fragments belong together by index; where calls share an index, a new id tells them apart."""
        place = self._index.get(index)
        if place is None or (id and str_in(self._calls[place], "id") not in ("", id)):
            self._calls.append({})
            place = self._index[index] = len(self._calls) - 1
        return place

    def _under_first_id(self, raw: bytes, event: ServerEvent) -> bytes:
        return with_data(raw, event, with_fields(event.data, {("id",): self._id})) if self.number and self._id else raw


class ChatDocumentWriter(DocumentWriter):
    """The whole reply."""

    def __init__(self, ours: frozenset[str]) -> None:
        super().__init__(ours)
        self._texts: dict[str, str] = {}
        self._calls: list[Any] = []

    def end(self) -> bytes:
        value = loads(self._data)
        choices = list_in(value, "choices") if isinstance(value, dict) else []
        choice = choices[0] if choices and isinstance(choices[0], dict) else {}
        if not isinstance(choice.get("message"), dict):
            return self._data
        self.over = True
        message = choice["message"]
        calls = [call for call in list_in(message, "tool_calls") if isinstance(call, dict)]
        usage = usage_of(dict_in(value, "usage"))
        self._turn = turn_of(message, calls, self.ours, str_in(choice, "finish_reason"), usage, over=True)
        self._id = self._id or orjson.dumps(value.get("id"))
        if not self._turn.calls and not self._number:
            return self._data
        for key in ("content", *_THOUGHT):
            if text := str_in(message, key):
                self._texts[key] = self._texts.get(key, "") + text
        self._calls += [call for call in calls if _name(call) not in self.ours]
        return b"" if self._turn.goes_on else self._document(value, str_in(choice, "finish_reason"))

    def close(self) -> bytes:
        return self._document(loads(self._data), "stop")

    def _document(self, value: dict[str, Any], stop: str) -> bytes:
        message = dict(value["choices"][0]["message"])
        message.pop("tool_calls", None)
        message |= {"content": message.get("content"), **self._texts}
        if self._calls:
            message["tool_calls"] = self._calls
        value["choices"][0] |= {"message": message, "finish_reason": stop or None}
        return dump(value | {"id": orjson.loads(self._id)}).encode(errors="replace")


def turn_of(
    merged: dict[str, Any],
    calls: list[dict[str, Any]],
    ours: frozenset[str],
    stop: str,
    usage: Usage | None,
    over: bool,
) -> RoundTurn:
    """A round out of its message and its calls."""
    text = str_in(merged, "content")
    thought = next((merged[key] for key in _THOUGHT if str_in(merged, key)), "")
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    message |= {key: merged[key] for key in _BACK if merged.get(key)}
    whole = [{key: each for key, each in call.items() if key != "index"} for call in calls]
    called: list[HiddenCall] = []
    others = 0
    for call in whole:
        if _name(call) in ours:
            given = str_in(dict_in(call, "function"), "arguments")
            called.append(HiddenCall(str_in(call, "id"), _name(call), given, dump(call), others))
        else:
            others += 1
    if whole:
        message["tool_calls"] = whole
    return RoundTurn(tuple(called), others, stop, dump(message), (mark_of(text), mark_of(thought)), usage, over)


def _name(call: dict[str, Any]) -> str:
    return str_in(dict_in(call, "function"), "name") or str_in(dict_in(call, "custom"), "name")


def _append_fragment(call: dict[str, Any], fragment: dict[str, Any]) -> None:
    """Add a fragment to a call: names once, arguments piece by piece, what is not known as it came last."""
    for key, value in fragment.items():
        if key in ("function", "custom") and isinstance(value, dict):
            inner = call.setdefault(key, {})
            for field, part in value.items():
                grows = field in ("arguments", "input") and isinstance(part, str)
                inner[field] = str_in(inner, field) + part if grows else inner.get(field) or part
        elif key != "index" and value is not None:
            call[key] = call.get(key) or value
