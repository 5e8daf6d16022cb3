"""A reply in each wire format: streamed as events, or whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.e2e.script import Action

CUT = object()
"""Stands in a stream for the place where it is cut, where a cut was asked for."""

Events = Iterator["bytes | object"]


class Replies:
    """Writes replies; ids count up, so that a run is the same every time."""

    def __init__(self) -> None:
        self._count = 0

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
        if action.call is not None:
            arguments = json.dumps(action.call.arguments)
            function = {"name": action.call.tool, "arguments": ""}
            yield chunk(
                {"tool_calls": [{"index": 0, "id": self._id("call_"), "type": "function", "function": function}]}
            )
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]})
        for piece in _pieces(action.text):
            yield chunk({"content": piece})
        yield chunk({}, "tool_calls" if action.call else "stop")
        if (body.get("stream_options") or {}).get("include_usage"):
            tokens = _tokens(body)
            usage = {"prompt_tokens": tokens, "completion_tokens": 12, "total_tokens": tokens + 12}
            yield _event({**head, "choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    def chat_whole(self, body: Mapping[str, Any], action: Action) -> Any:
        """Chat Completions, whole. Only side requests come so: there are no calls in it."""
        tokens = _tokens(body)
        message = {"role": "assistant", "content": action.text}
        return {
            "id": self._id("chatcmpl-"),
            "object": "chat.completion",
            "created": 1,
            "model": body.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": tokens, "completion_tokens": 12, "total_tokens": tokens + 12},
        }

    def responses(self, body: Mapping[str, Any], action: Action) -> Events:
        """Responses, streamed."""
        head = {"id": self._id("resp_"), "object": "response", "created_at": 1, "model": body.get("model")}
        yield _named({"type": "response.created", "response": {**head, "status": "in_progress", "output": []}})
        yield CUT
        output: list[Any] = []
        if action.call is not None:
            call = {
                "type": "function_call",
                "id": self._id("fc_"),
                "call_id": self._id("call_"),
                "name": action.call.tool,
                "arguments": json.dumps(action.call.arguments),
                "status": "completed",
            }
            if space := _namespace(body, action.call.tool):
                call["namespace"] = space
            output.append(call)
            yield _named({"type": "response.output_item.added", "output_index": 0, "item": {**call, "arguments": ""}})
            done = {"item_id": call["id"], "output_index": 0, "arguments": call["arguments"]}
            yield _named({"type": "response.function_call_arguments.done", **done})
        else:
            part = {"type": "output_text", "text": action.text, "annotations": []}
            item: dict[str, Any] = {"type": "message", "id": self._id("msg_"), "role": "assistant"}
            item |= {"status": "completed", "content": [part]}
            output.append(item)
            place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            yield _named({"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}})
            yield _named({"type": "response.content_part.added", **place, "part": {**part, "text": ""}})
            for piece in _pieces(action.text):
                yield _named({"type": "response.output_text.delta", **place, "delta": piece})
            yield _named({"type": "response.output_text.done", **place, "text": action.text})
            yield _named({"type": "response.content_part.done", **place, "part": part})
        yield _named({"type": "response.output_item.done", "output_index": 0, "item": output[0]})
        tokens = _tokens(body)
        usage = {
            "input_tokens": tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 12,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": tokens + 12,
        }
        whole = {**head, "status": "completed", "output": output, "usage": usage}
        yield _named({"type": "response.completed", "response": whole})

    def messages(self, body: Mapping[str, Any], action: Action) -> Events:
        """Anthropic Messages, streamed."""
        usage = {"input_tokens": _tokens(body), "output_tokens": 1}
        message = {"id": self._id("msg_"), "type": "message", "role": "assistant", "model": body.get("model")}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield _named({"type": "message_start", "message": message})
        yield CUT
        if action.call is not None:
            block: dict[str, Any] = {
                "type": "tool_use",
                "id": self._id("toolu_"),
                "name": action.call.tool,
                "input": {},
            }
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(action.call.arguments)}]
        else:
            block = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(action.text)]
        yield _named({"type": "content_block_start", "index": 0, "content_block": block})
        for delta in deltas:
            yield _named({"type": "content_block_delta", "index": 0, "delta": delta})
        yield _named({"type": "content_block_stop", "index": 0})
        stop = {"stop_reason": "tool_use" if action.call else "end_turn", "stop_sequence": None}
        yield _named({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 12}})
        yield _named({"type": "message_stop"})

    def messages_whole(self, body: Mapping[str, Any], action: Action) -> Any:
        """Anthropic Messages, whole."""
        return {
            "id": self._id("msg_"),
            "type": "message",
            "role": "assistant",
            "model": body.get("model"),
            "content": [{"type": "text", "text": action.text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": _tokens(body), "output_tokens": 12},
        }


def _event(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _named(value: Mapping[str, Any]) -> bytes:
    return b"event: " + str(value["type"]).encode() + b"\n" + _event(value)


def _pieces(text: str) -> Iterator[str]:
    """A text in three pieces, as a stream would bring it."""
    size = max(1, -(-len(text) // 3))
    for at in range(0, len(text), size):
        yield text[at : at + size]


def _tokens(body: Mapping[str, Any]) -> int:
    return len(json.dumps(body)) // 4


def _namespace(body: Mapping[str, Any], tool: str) -> str | None:
    """The namespace that a tool was offered in."""
    for offered in body.get("tools") or ():
        if any(inner.get("name") == tool for inner in offered.get("tools") or ()):
            return str(offered["name"])
    return None
