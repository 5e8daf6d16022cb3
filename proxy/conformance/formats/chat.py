"""Chat Completions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from proxy.conformance.formats.api_format import ODD_ARGUMENTS, TOOL, ApiFormat, Json, event

_CHAT_USAGE: Final[Json] = {
    "prompt_tokens": 1234,
    "completion_tokens": 56,
    "total_tokens": 1290,
    "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 17},
}
_CHAT: Final[Json] = {"id": "chatcmpl-7", "created": 1, "model": "m", "system_fingerprint": "fp_x"}


def _chat(model: str, texts: Sequence[str], stream: bool) -> Json:
    messages = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]
    body: Json = {"model": model, "messages": messages}
    return {**body, "stream": True, "stream_options": {"include_usage": True}} if stream else body


def _chat_reply(text: str) -> Json:
    choice = {"index": 0, "message": {"role": "assistant", "content": text, "refusal": None}, "finish_reason": "stop"}
    return {**_CHAT, "object": "chat.completion", "choices": [{**choice, "logprobs": None}], "usage": _CHAT_USAGE}


def _chat_events(text: str) -> list[bytes]:
    head = {**_CHAT, "object": "chat.completion.chunk"}
    deltas: list[Json] = [{"role": "assistant", "content": ""}, *({"content": word} for word in text.split(" "))]
    events = [event({**head, "choices": [{"index": 0, "delta": each, "finish_reason": None}]}) for each in deltas]
    events.append(event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    return [*events, event({**head, "choices": [], "usage": _CHAT_USAGE}), event("[DONE]")]


def _chat_call(id: str, name: str, arguments: str) -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


_CHAT_CALLS: Final = [_chat_call("call_a", "read", ODD_ARGUMENTS), _chat_call("call_b", "read", "{}")]

CHAT: Final = ApiFormat(
    "chat",
    lambda model, stream: "/v1/chat/completions",
    {"Authorization": "Bearer sk-conformance"},
    _chat,
    work={
        "messages": [
            {"role": "user", "content": "Read both."},
            {"role": "assistant", "content": None, "tool_calls": _CHAT_CALLS},
            {"role": "tool", "tool_call_id": "call_b", "content": "second"},
            {"role": "tool", "tool_call_id": "call_a", "content": "first"},
            {"role": "user", "content": "Go on."},
        ],
        "tools": [{"type": "function", "function": TOOL}],
        "parallel_tool_calls": True,
    },
    signed={
        "messages": [
            {"role": "user", "content": "Think."},
            {
                "role": "assistant",
                "content": "Done.",
                "reasoning_content": "so …",
                "reasoning_details": [{"signature": "s="}],
            },
            {"role": "user", "content": "Go on."},
        ]
    },
    marked={
        "prompt_cache_key": "k-1",
        "prompt_cache_retention": "24h",
        "safety_identifier": "u",
        "metadata": {"a": "b"},
        "store": False,
    },
    reply=_chat_reply,
    events=_chat_events,
    calls={
        **_CHAT,
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": None, "tool_calls": _CHAT_CALLS},
                "finish_reason": "tool_calls",
            }
        ],
        "usage": _CHAT_USAGE,
    },
    error=lambda kind: {"error": {"message": f"said: {kind}", "type": kind, "param": None, "code": None}},
    stream_error=event({"error": {"message": "the server had an error", "type": "server_error"}}),
    comment=b": OPENROUTER PROCESSING\n\n",
    end=b"data: [DONE]\n\n",
)
