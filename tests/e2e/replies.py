"""A reply in each wire format: streamed as events, or whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.e2e.script import Action, Call
from tests.e2e.usage import SAID, Meter

CUT = object()
"""Stands in a stream for the place where it is cut, where a cut was asked for."""

Events = Iterator["bytes | object"]


class Replies:
    """Writes replies; ids count up, so that a run is the same every time."""

    def __init__(self) -> None:
        self._count = 0
        self._meter = Meter()

    def _id(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count:024d}"

    def chat(self, body: Mapping[str, Any], action: Action) -> Events:
        """Chat Completions, streamed."""
        head = {
            "id": self._id("chatcmpl-"),
            "object": "chat.completion.chunk",
            "created": 1,
            "model": body.get("model"),
        }

        def chunk(delta: Any, finish: str | None = None) -> bytes:
            return _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

        yield chunk({"role": "assistant", "content": ""})
        yield CUT
        for piece in _pieces(action.text):
            yield chunk({"content": piece})
        for index, call in enumerate(action.calls):
            function = {"name": call.tool, "arguments": ""}
            begun = {"index": index, "id": self._id("call_"), "type": "function", "function": function}
            yield chunk({"tool_calls": [begun]})
            rest = {"index": index, "function": {"arguments": json.dumps(call.arguments)}}
            yield chunk({"tool_calls": [rest]})
        yield chunk({}, "tool_calls" if action.calls else "stop")
        if (body.get("stream_options") or {}).get("include_usage"):
            yield _event({**head, "choices": [], "usage": self._meter.chat(body)})
        yield b"data: [DONE]\n\n"

    def chat_whole(self, body: Mapping[str, Any], action: Action) -> Any:
        """Chat Completions, whole."""
        message: dict[str, Any] = {"role": "assistant", "content": action.text or None}
        if action.calls:
            message["tool_calls"] = [
                {
                    "id": self._id("call_"),
                    "type": "function",
                    "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
                }
                for call in action.calls
            ]
        return {
            "id": self._id("chatcmpl-"),
            "object": "chat.completion",
            "created": 1,
            "model": body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if action.calls else "stop"}],
            "usage": self._meter.chat(body),
        }

    def responses(self, body: Mapping[str, Any], action: Action) -> Events:
        """Responses, streamed."""
        head = self._response(body)
        yield _named({"type": "response.created", "response": {**head, "status": "in_progress", "output": []}})
        yield CUT
        output: list[Any] = []
        if action.text:
            item = self._said(action.text)
            [part] = item["content"]
            output.append(item)
            place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            yield _named({"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}})
            yield _named({"type": "response.content_part.added", **place, "part": {**part, "text": ""}})
            for piece in _pieces(action.text):
                yield _named({"type": "response.output_text.delta", **place, "delta": piece})
            yield _named({"type": "response.output_text.done", **place, "text": action.text})
            yield _named({"type": "response.content_part.done", **place, "part": part})
            yield _named({"type": "response.output_item.done", "output_index": 0, "item": item})
        for call in action.calls:
            index, item = len(output), self._function_call(body, call)
            output.append(item)
            begun = {**item, "arguments": ""}
            yield _named({"type": "response.output_item.added", "output_index": index, "item": begun})
            done = {"item_id": item["id"], "output_index": index, "arguments": item["arguments"]}
            yield _named({"type": "response.function_call_arguments.done", **done})
            yield _named({"type": "response.output_item.done", "output_index": index, "item": item})
        usage = self._meter.responses(body)
        whole = {**head, "status": "completed", "output": output, "usage": usage}
        yield _named({"type": "response.completed", "response": whole})

    def responses_whole(self, body: Mapping[str, Any], action: Action) -> Any:
        """Responses, whole."""
        output = [self._said(action.text)] if action.text else []
        output += [self._function_call(body, call) for call in action.calls]
        told = {"status": "completed", "output": output, "usage": self._meter.responses(body)}
        asked = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        return {**self._response(body), **asked, **told}

    def _response(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return {"id": self._id("resp_"), "object": "response", "created_at": 1, "model": body.get("model")}

    def _said(self, text: str) -> dict[str, Any]:
        part = {"type": "output_text", "text": text, "annotations": []}
        item = {"type": "message", "id": self._id("msg_"), "role": "assistant"}
        return {**item, "status": "completed", "content": [part]}

    def _function_call(self, body: Mapping[str, Any], call: Call) -> dict[str, Any]:
        item = {
            "type": "function_call",
            "id": self._id("fc_"),
            "call_id": self._id("call_"),
            "name": call.tool,
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
        space = _namespace(body, call.tool)
        return {**item, "namespace": space} if space else item

    def messages(self, body: Mapping[str, Any], action: Action) -> Events:
        """Anthropic Messages, streamed."""
        usage = {**self._meter.messages(body), "output_tokens": 1}
        message = {"id": self._id("msg_"), "type": "message", "role": "assistant", "model": body.get("model")}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield _named({"type": "message_start", "message": message})
        yield CUT
        text = [{"type": "text_delta", "text": piece} for piece in _pieces(action.text)]
        blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = (
            [({"type": "text", "text": ""}, text)] if text else []
        )
        for call in action.calls:
            block = {"type": "tool_use", "id": self._id("toolu_"), "name": call.tool, "input": {}}
            blocks.append((block, [{"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}]))
        for index, (block, deltas) in enumerate(blocks):
            yield _named({"type": "content_block_start", "index": index, "content_block": block})
            for delta in deltas:
                yield _named({"type": "content_block_delta", "index": index, "delta": delta})
            yield _named({"type": "content_block_stop", "index": index})
        stop = {"stop_reason": "tool_use" if action.calls else "end_turn", "stop_sequence": None}
        yield _named({"type": "message_delta", "delta": stop, "usage": {"output_tokens": SAID}})
        yield _named({"type": "message_stop"})

    def messages_whole(self, body: Mapping[str, Any], action: Action) -> Any:
        """Anthropic Messages, whole."""
        text = [{"type": "text", "text": action.text}] if action.text else []
        calls = [
            {"type": "tool_use", "id": self._id("toolu_"), "name": call.tool, "input": call.arguments}
            for call in action.calls
        ]
        return {
            "id": self._id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": [*text, *calls],
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {**self._meter.messages(body), "output_tokens": SAID},
        }

    def gemini(self, body: Mapping[str, Any], action: Action) -> Events:
        """Gemini's ``streamGenerateContent``, as events."""
        pieces = [[{"text": piece}] for piece in _pieces(action.text)]
        pieces += [[_function(call)] for call in action.calls]
        yield CUT
        for at, parts in enumerate(pieces):
            yield _event(self._gemini(body, parts, at == len(pieces) - 1))

    def gemini_whole(self, body: Mapping[str, Any], action: Action) -> Any:
        """Gemini's ``generateContent``."""
        parts = [{"text": action.text}] if action.text else []
        return self._gemini(body, [*parts, *map(_function, action.calls)], ends=True)

    def _gemini(self, body: Mapping[str, Any], parts: list[Any], ends: bool) -> Any:
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
        told = {"candidates": [{**candidate, "finishReason": "STOP"} if ends else candidate]}
        usage = {"usageMetadata": self._meter.gemini(body)} if ends else {}
        return {**told, **usage, "modelVersion": "scripted", "responseId": self._id("r")}


def _function(call: Call) -> dict[str, Any]:
    return {"functionCall": {"name": call.tool, "args": dict(call.arguments)}, "thoughtSignature": "U2lnbmVk"}


def _event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _named(value: Mapping[str, Any]) -> bytes:
    return b"event: " + str(value["type"]).encode() + b"\n" + _event(value)


def _pieces(text: str) -> Iterator[str]:
    """A text in three pieces, as a stream would bring it."""
    size = max(1, -(-len(text) // 3))
    for at in range(0, len(text), size):
        yield text[at : at + size]


def _namespace(body: Mapping[str, Any], tool: str) -> str | None:
    """The namespace that a tool was offered in."""
    for offered in body.get("tools") or ():
        if any(inner.get("name") == tool for inner in offered.get("tools") or ()):
            return str(offered["name"])
    return None
