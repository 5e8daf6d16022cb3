"""Replies in several rounds, as each format's provider would send them: streamed and whole, from one description."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

OURS = frozenset({"memory_search", "memory_note"})
GEMINI = "/v1beta/models/gemini-3-pro:streamGenerateContent"
PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/messages", GEMINI)


@dataclass(frozen=True)
class Say:
    """A text."""

    text: str


@dataclass(frozen=True)
class Think:
    """Reasoning with its signature."""

    text: str
    signature: str


@dataclass(frozen=True)
class Call:
    """A tool call."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Round:
    """One upstream reply. ``usage`` is (input, output)."""

    parts: tuple[Say | Think | Call, ...]
    usage: tuple[int, int] = (10, 2)
    id: str = "r1"
    stop: str = ""

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(part for part in self.parts if isinstance(part, Call))


def stream(path: str, of: Round) -> bytes:
    """The round as a stream of events."""
    return b"".join({PATHS[0]: _chat, PATHS[1]: _responses, PATHS[2]: _anthropic, GEMINI: _gemini}[path](of))


def document(path: str, of: Round) -> bytes:
    """The round as one document."""
    made = {PATHS[0]: _chat_document, PATHS[1]: _responses_document, PATHS[2]: _anthropic_document}
    return orjson.dumps(_gemini_document(of, of.parts, True) if path == GEMINI else made[path](of))


def said(path: str, *rounds: Round) -> list[dict[str, Any]]:
    """The client's copy of a reply of these visible rounds, as it sends it with its next request."""
    parts = [part for each in rounds for part in each.parts]
    if path == PATHS[2]:
        return [{"role": "assistant", "content": [_block(part) for part in parts]}]
    if path == GEMINI:
        return [{"role": "model", "parts": [_part(part) for part in parts]}]
    if path == PATHS[1]:
        return [_item(part, i, "r") for i, part in enumerate(parts)]
    message: dict[str, Any] = {"role": "assistant"}
    message["content"] = "".join(part.text for part in parts if isinstance(part, Say)) or None
    thought = "".join(part.text for part in parts if isinstance(part, Think))
    calls = [_chat_call(part) for part in parts if isinstance(part, Call)]
    return [message | ({"reasoning_content": thought} if thought else {}) | ({"tool_calls": calls} if calls else {})]


def _part(part: Say | Think | Call) -> dict[str, Any]:
    match part:
        case Say(text):
            return {"text": text}
        case Think(text, signature):
            return {"text": text, "thought": True, "thoughtSignature": signature}
        case Call(id, name, arguments):
            return {"functionCall": {"id": id, "name": name, "args": orjson.loads(arguments)}}


def _gemini_document(of: Round, parts: Sequence[Say | Think | Call], last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": [_part(part) for part in parts], "role": "model"}, "index": 0}
    if last:
        candidate["finishReason"] = of.stop or "STOP"
    usage = {"promptTokenCount": of.usage[0], "candidatesTokenCount": of.usage[1]}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "g", "responseId": of.id}


def _gemini(of: Round) -> list[bytes]:
    pieces: list[list[Say | Think | Call]] = []
    for part in of.parts:
        texts = [Say(part.text[:3]), Say(part.text[3:])] if isinstance(part, Say) else [part]
        pieces += [[each] for each in texts if not isinstance(each, Say) or each.text]
    documents = [_gemini_document(of, piece, piece is pieces[-1]) for piece in pieces]
    return [b"data: " + orjson.dumps(each) + b"\r\n\r\n" for each in documents or [_gemini_document(of, (), True)]]


def _chat(of: Round) -> list[bytes]:
    def chunk(delta: dict[str, Any], stop: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": stop}
        body = {"id": of.id, "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
        return b"data: " + orjson.dumps(body) + b"\n\n"

    events = [chunk({"role": "assistant", "content": ""})]
    index = 0
    for part in of.parts:
        match part:
            case Say(text):
                events += [chunk({"content": text[:3]}), chunk({"content": text[3:]}), b": keep-alive\n\n"]
            case Think(text, _):
                events.append(chunk({"reasoning_content": text}))
            case Call(id, name, arguments):
                function = {"name": name, "arguments": arguments[:4]}
                start = {"index": index, "id": id, "type": "function", "function": function}
                events.append(chunk({"tool_calls": [start]}))
                events.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[4:]}}]}))
                index += 1
    events.append(chunk({}, of.stop or ("tool_calls" if of.calls else "stop")))
    usage = {"prompt_tokens": of.usage[0], "completion_tokens": of.usage[1], "total_tokens": sum(of.usage)}
    events.append(b"data: " + orjson.dumps({"id": of.id, "choices": [], "usage": usage}) + b"\n\n")
    return [*events, b"data: [DONE]\n\n"]


def _chat_call(part: Call) -> dict[str, Any]:
    return {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": part.arguments}}


def _chat_document(of: Round) -> dict[str, Any]:
    [message] = said(PATHS[0], of)
    stop = of.stop or ("tool_calls" if of.calls else "stop")
    usage = {"prompt_tokens": of.usage[0], "completion_tokens": of.usage[1], "total_tokens": sum(of.usage)}
    return {"id": of.id, "choices": [{"index": 0, "message": message, "finish_reason": stop}], "usage": usage}


def _block(part: Say | Think | Call) -> dict[str, Any]:
    match part:
        case Say(text):
            return {"type": "text", "text": text}
        case Think(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case Call(id, name, arguments):
            return {"type": "tool_use", "id": id, "name": name, "input": orjson.loads(arguments)}


def _named(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\n".encode() + b"data: " + orjson.dumps(event) + b"\n\n"


def _anthropic(of: Round) -> list[bytes]:
    usage = {"input_tokens": of.usage[0], "cache_read_input_tokens": 5, "output_tokens": 1}
    message = {"id": of.id, "type": "message", "role": "assistant", "content": [], "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}, {"type": "ping"}]
    for index, part in enumerate(of.parts):
        block = _block(part)
        deltas: list[dict[str, Any]]
        match part:
            case Say(text):
                block["text"] = ""
                deltas = [{"type": "text_delta", "text": piece} for piece in (text[:3], text[3:])]
            case Think(text, signature):
                block |= {"thinking": "", "signature": ""}
                deltas = [
                    {"type": "thinking_delta", "thinking": text},
                    {"type": "signature_delta", "signature": signature},
                ]
            case Call(_, _, arguments):
                block["input"] = {}
                pieces = (arguments[:4], arguments[4:])
                deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    stop = of.stop or ("tool_use" if of.calls else "end_turn")
    delta = {"stop_reason": stop, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": of.usage[1]}})
    events.append({"type": "message_stop"})
    return [_named(event) for event in events]


def _anthropic_document(of: Round) -> dict[str, Any]:
    return {
        "id": of.id,
        "type": "message",
        "role": "assistant",
        "content": [_block(part) for part in of.parts],
        "stop_reason": of.stop or ("tool_use" if of.calls else "end_turn"),
        "usage": {"input_tokens": of.usage[0], "cache_read_input_tokens": 5, "output_tokens": of.usage[1]},
    }


def _item(part: Say | Think | Call, index: int, of: str) -> dict[str, Any]:
    match part:
        case Say(text):
            content = [{"type": "output_text", "text": text, "annotations": []}]
            return {"type": "message", "id": f"msg_{of}_{index}", "role": "assistant", "content": content}
        case Think(text, signature):
            summary = [{"type": "summary_text", "text": text}]
            return {"type": "reasoning", "id": f"rs_{of}_{index}", "summary": summary, "encrypted_content": signature}
        case Call(id, name, arguments):
            return {
                "type": "function_call",
                "id": f"fc_{id}",
                "call_id": id,
                "name": name,
                "arguments": arguments,
                "status": "completed",
            }


def _responses(of: Round) -> list[bytes]:
    begun = {"id": of.id, "object": "response", "status": "in_progress", "output": []}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, part in enumerate(of.parts):
        item = _item(part, index, of.id)
        match part:
            case Say(text):
                added: dict[str, Any] = {**item, "content": []}
                delta = {"type": "response.output_text.delta", "output_index": index, "content_index": 0, "delta": text}
            case Think(text, _):
                added = {**item, "summary": []}
                delta = {"type": "response.reasoning_summary_text.delta", "output_index": index, "summary_index": 0}
                delta["delta"] = text
            case Call(_, _, arguments):
                added = {**item, "arguments": ""}
                delta = {"type": "response.function_call_arguments.delta", "output_index": index, "delta": arguments}
        events.append({"type": "response.output_item.added", "output_index": index, "item": added})
        events.append(delta)
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    kind = "response.incomplete" if of.stop else "response.completed"
    events.append({"type": kind, "response": _responses_document(of)})
    return [_named({**event, "sequence_number": number}) for number, event in enumerate(events)]


def _responses_document(of: Round) -> dict[str, Any]:
    usage = {"input_tokens": of.usage[0], "output_tokens": of.usage[1], "total_tokens": sum(of.usage)}
    output = [_item(part, index, of.id) for index, part in enumerate(of.parts)]
    told: dict[str, Any] = {"id": of.id, "object": "response", "status": "completed", "output": output, "usage": usage}
    if of.stop:
        told |= {"status": "incomplete", "incomplete_details": {"reason": of.stop}}
    return told
