"""A reply that no model gave, as each dialect writes one: a text, whole or as a stream, with a usage of nothing.

Pure. What a client needs to take it for an ordinary reply stands in it, and nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from proxy.wire.dialect import Framing

Json = dict[str, Any]

PIECE = 2000
"""Characters of one event of a stream."""


def synthetic_body(
    dialect: str,
    text: str,
    id: str,
    model: str,
    at: int,
    *,
    stream: bool,
    usage: bool = False,
    framing: Framing = Framing.EVENTS,
) -> bytes:
    """The body of a reply. ``id`` is letters and digits, ``at`` seconds since 1970; ``usage`` says whether a streamed
    chat is to tell it (``stream_options``).

    Raises:
        KeyError: when there is no such dialect.
    """
    whole, streamed = _DIALECTS[dialect]
    body = whole(text, id, model, at)
    if stream and framing is Framing.ARRAY:
        return b"[" + orjson.dumps(body) + b"]"
    return streamed(body, text, usage) if stream else orjson.dumps(body)


def media_type(stream: bool, framing: Framing = Framing.EVENTS) -> str:
    """The media type of such a reply."""
    return framing.value if stream else "application/json"


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)] or [""]


def _chat(text: str, id: str, model: str, at: int) -> Json:
    return {
        "id": f"chatcmpl-{id}",
        "object": "chat.completion",
        "created": at,
        "model": model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, "refusal": None}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _chat_stream(whole: Json, text: str, usage: bool) -> bytes:
    head = {**{name: whole[name] for name in ("id", "created", "model")}, "object": "chat.completion.chunk"}
    deltas: list[tuple[Json, str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": piece}, None) for piece in _pieces(text)]
    deltas.append(({}, "stop"))
    events: list[Json] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]} for delta, stop in deltas
    ]
    if usage:
        events.append({**head, "choices": [], "usage": whole["usage"]})
    return b"".join(b"data: " + orjson.dumps(event) + b"\n\n" for event in events) + b"data: [DONE]\n\n"


def _messages(text: str, id: str, model: str, at: int) -> Json:
    return {
        "id": f"msg_{id}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _messages_stream(whole: Json, text: str, usage: bool) -> bytes:
    begun = {**whole, "content": [], "stop_reason": None}
    events: list[Json] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in _pieces(text)
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 0},
        },
        {"type": "message_stop"},
    ]
    return _named(events)


def _responses(text: str, id: str, model: str, at: int) -> Json:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    item = {"id": f"msg_{id}", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    none = {"cached_tokens": 0}, {"reasoning_tokens": 0}
    return {
        "id": f"resp_{id}",
        "object": "response",
        "created_at": at,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": model,
        "output": [item],
        "usage": {
            "input_tokens": 0,
            "input_tokens_details": none[0],
            "output_tokens": 0,
            "output_tokens_details": none[1],
            "total_tokens": 0,
        },
    }


def _responses_stream(whole: Json, text: str, usage: bool) -> bytes:
    [item] = whole["output"]
    [part] = item["content"]
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    events: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**item, "status": "in_progress", "content": []},
        },
        {"type": "response.content_part.added", **place, "part": {**part, "text": ""}},
        *({"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []} for piece in _pieces(text)),
        {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": part},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return _named([{**event, "sequence_number": number} for number, event in enumerate(events)])


def _named(events: list[Json]) -> bytes:
    return b"".join(f"event: {each['type']}\n".encode() + b"data: " + orjson.dumps(each) + b"\n\n" for each in events)


def _gemini(text: str, id: str, model: str, at: int) -> Json:
    content = {"parts": [{"text": text}], "role": "model"}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 0, "candidatesTokenCount": 0, "totalTokenCount": 0},
        "modelVersion": model,
        "responseId": id,
    }


def _gemini_stream(whole: Json, text: str, usage: bool) -> bytes:
    pieces = _pieces(text)
    events = [{**whole, "candidates": [{"content": {"parts": [{"text": each}], "role": "model"}}]} for each in pieces]
    events[-1]["candidates"][0] |= {"finishReason": "STOP", "index": 0}
    return b"".join(b"data: " + orjson.dumps(each) + b"\r\n\r\n" for each in events)


def _ollama(text: str, id: str, model: str, at: int) -> Json:
    counted = {"done_reason": "stop", "prompt_eval_count": 0, "eval_count": 0}
    return {"model": model, "created_at": _when(at), "message": _message(text), "done": True, **counted}


def _ollama_stream(whole: Json, text: str, usage: bool) -> bytes:
    head = {"model": whole["model"], "created_at": whole["created_at"], "done": False}
    lines: list[Json] = [{**head, "message": _message(piece)} for piece in _pieces(text)]
    return b"".join(orjson.dumps(line) + b"\n" for line in [*lines, {**whole, "message": _message("")}])


def _message(text: str) -> Json:
    return {"role": "assistant", "content": text}


def _when(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")


_DIALECTS: Mapping[str, tuple[Callable[[str, str, str, int], Json], Callable[[Json, str, bool], bytes]]] = {
    "openai-chat": (_chat, _chat_stream),
    "anthropic-messages": (_messages, _messages_stream),
    "openai-responses": (_responses, _responses_stream),
    "gemini-generate": (_gemini, _gemini_stream),
    "ollama-chat": (_ollama, _ollama_stream),
}
