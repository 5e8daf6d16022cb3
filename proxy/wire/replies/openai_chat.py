"""What a Chat Completions reply says, whole or streamed. Of several choices, the first is heard."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memory.conversation import Opaque, Part, Reasoning, Reply, Text, ToolCall, Usage
from proxy.wire.lenient_json import dict_in, dump, int_in, list_in, loads, loads_all, str_in
from proxy.wire.sse import ServerEvent


def of_document(data: bytes) -> Reply:
    """The reply in a whole document."""
    value = loads(data)
    heard = _ChoiceBuilder()
    heard.take(value, "message")
    return heard.reply(complete=heard.began and not heard.failed)


def of_stream(events: Iterable[ServerEvent]) -> Reply:
    """The reply in a stream of events."""
    heard = _ChoiceBuilder()
    done = False
    chunks = []
    for event in events:
        if event.data.strip() == b"[DONE]":
            done = True
            break
        chunks.append(event.data)
    for chunk in loads_all(chunks):
        heard.take(chunk, "delta")
    return heard.reply(complete=done and heard.began and not heard.failed)


def usage_of(value: dict[str, Any]) -> Usage | None:
    """Tokens as this format reports them, with the fields that other providers add to it."""
    if not value:
        return None
    details = dict_in(value, "prompt_tokens_details")
    return Usage(
        input=int_in(value, "prompt_tokens"),
        output=int_in(value, "completion_tokens"),
        cached=int_in(details, "cached_tokens")
        or int_in(value, "prompt_cache_hit_tokens")
        or int_in(value, "cached_tokens"),
        written=int_in(details, "cache_write_tokens") or int_in(details, "cache_creation_tokens"),
    )


class _Call:
    """A tool call as its fragments come: id and name once, arguments piece by piece."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []

    def take(self, call: dict[str, Any]) -> None:
        function = dict_in(call, "function")
        custom = dict_in(call, "custom")
        self.id = self.id or str_in(call, "id")
        self.name = self.name or str_in(function, "name") or str_in(custom, "name")
        arguments = function.get("arguments", custom.get("input"))
        if isinstance(arguments, str):
            self.arguments.append(arguments)
        elif arguments is not None:
            self.arguments.append(dump(arguments))


class _ChoiceBuilder:
    """A choice as its deltas come; a whole message is one large delta."""

    def __init__(self) -> None:
        self.id = ""
        self.stop = ""
        self.began = False
        self.failed = False
        self._usage: Usage | None = None
        self._texts: dict[str, list[str]] = {}
        self._calls: dict[Any, _Call] = {}
        self._latest: dict[int, Any] = {}

    def take(self, chunk: Any, field: str) -> None:
        if not isinstance(chunk, dict):
            return
        if chunk.get("error"):
            self.failed = True
        self.id = self.id or str_in(chunk, "id")
        if chunk.get("usage"):
            self._usage = usage_of(dict_in(chunk, "usage")) or self._usage
        for choice in list_in(chunk, "choices"):
            if not isinstance(choice, dict) or choice.get("index"):
                continue
            self.stop = str_in(choice, "finish_reason") or self.stop
            delta = choice.get(field)
            if isinstance(delta, dict):
                self.began = True
                self._take_delta(delta)

    def _take_delta(self, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            if isinstance(value, str):
                self._texts.setdefault(key, []).append(value)
            elif key == "content" and isinstance(value, list):
                texts = [str_in(part, "text") for part in value if isinstance(part, dict)]
                self._texts.setdefault(key, []).extend(texts)
            elif key == "tool_calls" and isinstance(value, list):
                for place, call in enumerate(value):
                    if isinstance(call, dict):
                        self._call_for(call, place).take(call)
            elif key == "function_call" and isinstance(value, dict):
                self._calls.setdefault(key, _Call()).take({"function": value})

    def _text(self, key: str) -> str:
        return "".join(self._texts.get(key, ()))

    def _call_for(self, call: dict[str, Any], place: int) -> _Call:
        """Fragments belong together by index; where calls share an index, a new id tells them apart."""
        index = call["index"] if isinstance(call.get("index"), int) else place
        id = str_in(call, "id")
        key = self._latest.get(index, (index, id))
        if id and key in self._calls and self._calls[key].id not in ("", id):
            key = (index, id)
        self._latest[index] = key
        return self._calls.setdefault(key, _Call())

    def reply(self, complete: bool) -> Reply:
        parts: list[Part] = []
        if reasoning := self._text("reasoning_content") or self._text("reasoning"):
            parts.append(Reasoning(reasoning))
        if text := self._text("content"):
            parts.append(Text(text))
        if refusal := self._text("refusal"):
            parts.append(Opaque("refusal", dump(refusal)))
        parts.extend(ToolCall(call.id, call.name, "".join(call.arguments)) for call in self._calls.values())
        return Reply(tuple(parts), self.stop, self._usage, complete, self.id)
