"""Anthropic Messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from proxy.conformance.formats.api_format import ApiFormat, Json, named_event

_MESSAGES_USAGE: Final[Json] = {
    "input_tokens": 210,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 1024,
    "output_tokens": 56,
    "service_tier": "standard",
}
_MESSAGE: Final[Json] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}


def _messages(model: str, texts: Sequence[str], stream: bool) -> Json:
    body: Json = {
        "model": model,
        "max_tokens": 512,
        "messages": [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)],
    }
    return {**body, "stream": True} if stream else body


def _messages_events(text: str) -> list[bytes]:
    start = {
        **_MESSAGE,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**_MESSAGES_USAGE, "output_tokens": 1},
    }
    events: list[Json] = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
    ]
    events += [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
        for word in text.split(" ")
    ]
    events += [
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 56},
        },
        {"type": "message_stop"},
    ]
    return [named_event(each) for each in events]


_MESSAGES_CALLS: Final[list[Json]] = [
    {"type": "tool_use", "id": "toolu_a", "name": "read", "input": {"path": "a.py", "n": 1}},
    {"type": "tool_use", "id": "toolu_b", "name": "read", "input": {}},
]

MESSAGES: Final = ApiFormat(
    "messages",
    lambda model, stream: "/v1/messages",
    {"x-api-key": "sk-ant-conformance", "anthropic-version": "2023-06-01"},
    _messages,
    work={
        "messages": [
            {"role": "user", "content": "Read both."},
            {"role": "assistant", "content": _MESSAGES_CALLS},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "toolu_b", "content": "second"},
                    {"type": "tool_result", "tool_use_id": "toolu_a", "content": [{"type": "text", "text": "first"}]},
                ],
            },
        ],
        "tools": [{"name": "read", "description": "Read a file.", "input_schema": {"type": "object"}}],
    },
    signed={
        "messages": [
            {"role": "user", "content": "Think."},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "so …", "signature": "EqQBCgIYAhIM+/=="},
                    {"type": "redacted_thinking", "data": "Eu8DCkYIBx=="},
                    {"type": "text", "text": "Done."},
                ],
            },
            {"role": "user", "content": "Go on."},
        ],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "max_tokens": 2048,
    },
    marked={
        "system": [{"type": "text", "text": "You help.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi.", "cache_control": {"type": "ephemeral"}}]}
        ],
        "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
    },
    reply=lambda text: {
        **_MESSAGE,
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": _MESSAGES_USAGE,
    },
    events=_messages_events,
    calls={
        **_MESSAGE,
        "content": _MESSAGES_CALLS,
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": _MESSAGES_USAGE,
    },
    error=lambda kind: {"type": "error", "error": {"type": kind, "message": f"said: {kind}"}, "request_id": "req_1"},
    stream_error=named_event({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    comment=named_event({"type": "ping"}),
    end=b"event: message_stop\n",
)
