"""Responses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from proxy.conformance.formats.api_format import ODD_ARGUMENTS, TOOL, ApiFormat, Json, named_event

_RESPONSES_USAGE: Final[Json] = {
    "input_tokens": 1234,
    "input_tokens_details": {"cached_tokens": 1024},
    "output_tokens": 56,
    "output_tokens_details": {"reasoning_tokens": 17},
    "total_tokens": 1290,
}


def _responses(model: str, texts: Sequence[str], stream: bool) -> Json:
    kinds = ("input_text", "output_text")
    items = [
        {"type": "message", "role": ("user", "assistant")[n % 2], "content": [{"type": kinds[n % 2], "text": text}]}
        for n, text in enumerate(texts)
    ]
    body: Json = {"model": model, "input": items, "store": False}
    return {**body, "stream": True} if stream else body


def _message_item(text: str) -> Json:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def _response(output: list[Json]) -> Json:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "output": output,
        "usage": _RESPONSES_USAGE,
    }


def _responses_events(text: str) -> list[bytes]:
    item = _message_item(text)
    start = {"id": "resp_1", "object": "response", "created_at": 1, "status": "in_progress", "model": "m", "output": []}
    events: list[Json] = [
        {"type": "response.created", "response": start},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**item, "status": "in_progress", "content": []},
        },
    ]
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events += [{"type": "response.output_text.delta", **at, "delta": word} for word in text.split(" ")]
    events += [
        {"type": "response.output_text.done", **at, "text": text},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": _response([item])},
    ]
    return [named_event({**each, "sequence_number": n}) for n, each in enumerate(events)]


_RESPONSES_CALLS: Final[list[Json]] = [
    {
        "type": "function_call",
        "id": "fc_a",
        "call_id": "call_a",
        "name": "read",
        "arguments": ODD_ARGUMENTS,
        "status": "completed",
    },
    {
        "type": "function_call",
        "id": "fc_b",
        "call_id": "call_b",
        "name": "read",
        "arguments": "{}",
        "status": "completed",
    },
]
_PERSON: Final[Json] = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go on."}]}

RESPONSES: Final = ApiFormat(
    "responses",
    lambda model, stream: "/v1/responses",
    {"Authorization": "Bearer sk-conformance"},
    _responses,
    work={
        "input": [
            _PERSON,
            *_RESPONSES_CALLS,
            {"type": "function_call_output", "call_id": "call_b", "output": "second"},
            {"type": "function_call_output", "call_id": "call_a", "output": "first"},
        ],
        "tools": [{"type": "function", **TOOL, "strict": False}],
        "parallel_tool_calls": True,
    },
    signed={
        "input": [
            _PERSON,
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA+/=="},
            _message_item("Done."),
            _PERSON,
        ],
        "include": ["reasoning.encrypted_content"],
    },
    marked={
        "prompt_cache_key": "k-1",
        "context_management": [{"type": "compaction", "compact_threshold": 100000}],
        "input": [{"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAA=="}, _PERSON],
        "truncation": "disabled",
    },
    reply=lambda text: _response([_message_item(text)]),
    events=_responses_events,
    calls=_response(_RESPONSES_CALLS),
    error=lambda kind: {"error": {"message": f"said: {kind}", "type": kind, "param": None, "code": None}},
    stream_error=named_event(
        {"type": "error", "sequence_number": 3, "code": "server_error", "message": "an error", "param": None}
    ),
    comment=b": keepalive\n\n",
    end=b"event: response.completed\n",
)
