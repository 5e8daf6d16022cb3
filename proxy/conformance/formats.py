"""The five APIs, as far as the cases need them: where they are spoken, and what requests and replies look like."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Json = dict[str, Any]

EVENTS: Final = "text/event-stream"
LINES: Final = "application/x-ndjson"


@dataclass(frozen=True, slots=True)
class Format:
    """One API. ``turns`` puts alternating texts of a person and a model into a body, ``work`` is a history of parallel
    calls and their results, ``signed`` one with signed or encrypted reasoning, ``marked`` one with cache markers and
    what the server shall do about a long history. ``reply`` and ``events`` answer with a text, whole and streamed;
    ``calls`` answers with two calls at once."""

    name: str
    path: Callable[[str, bool], str]
    headers: Mapping[str, str]
    turns: Callable[[str, Sequence[str], bool], Json]
    work: Json
    signed: Json
    marked: Json
    reply: Callable[[str], Json]
    events: Callable[[str], list[bytes]]
    calls: Json
    error: Callable[[str], Json]
    stream_error: bytes
    comment: bytes
    end: bytes
    stream: str = EVENTS

    def body(self, model: str, *texts: str, stream: bool = False, **more: Any) -> Json:
        """A request's body."""
        return {**self.turns(model, texts, stream), **more}

    def with_history(self, model: str, history: Json) -> Json:
        """A request's body with a history of its own."""
        return {**self.turns(model, ["Go on."], False), **history}


def _event(data: object, name: str = "") -> bytes:
    told = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {told}\n\n".encode()


def _named(data: Json) -> bytes:
    return _event(data, data["type"])


# --- Chat Completions

_TOOL: Final[Json] = {"name": "read", "description": "Read a file.", "parameters": {"type": "object", "properties": {}}}
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
    told: Json = {"model": model, "messages": messages}
    return {**told, "stream": True, "stream_options": {"include_usage": True}} if stream else told


def _chat_reply(text: str) -> Json:
    choice = {"index": 0, "message": {"role": "assistant", "content": text, "refusal": None}, "finish_reason": "stop"}
    return {**_CHAT, "object": "chat.completion", "choices": [{**choice, "logprobs": None}], "usage": _CHAT_USAGE}


def _chat_events(text: str) -> list[bytes]:
    head = {**_CHAT, "object": "chat.completion.chunk"}
    deltas: list[Json] = [{"role": "assistant", "content": ""}, *({"content": word} for word in text.split(" "))]
    told = [_event({**head, "choices": [{"index": 0, "delta": each, "finish_reason": None}]}) for each in deltas]
    told.append(_event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}))
    return [*told, _event({**head, "choices": [], "usage": _CHAT_USAGE}), _event("[DONE]")]


def _chat_call(id: str, name: str, arguments: str) -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


_ODD_ARGUMENTS: Final = '{"path":  "a.py", "n": 1.0, "q": "\\u00e9"}'
_CHAT_CALLS: Final = [_chat_call("call_a", "read", _ODD_ARGUMENTS), _chat_call("call_b", "read", "{}")]

CHAT: Final = Format(
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
        "tools": [{"type": "function", "function": _TOOL}],
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
    stream_error=_event({"error": {"message": "the server had an error", "type": "server_error"}}),
    comment=b": OPENROUTER PROCESSING\n\n",
    end=b"data: [DONE]\n\n",
)

# --- Responses

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
    told: Json = {"model": model, "input": items, "store": False}
    return {**told, "stream": True} if stream else told


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
    told: list[Json] = [
        {"type": "response.created", "response": start},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": {**item, "status": "in_progress", "content": []},
        },
    ]
    at = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    told += [{"type": "response.output_text.delta", **at, "delta": word} for word in text.split(" ")]
    told += [
        {"type": "response.output_text.done", **at, "text": text},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": _response([item])},
    ]
    return [_named({**each, "sequence_number": n}) for n, each in enumerate(told)]


_RESPONSES_CALLS: Final[list[Json]] = [
    {
        "type": "function_call",
        "id": "fc_a",
        "call_id": "call_a",
        "name": "read",
        "arguments": _ODD_ARGUMENTS,
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

RESPONSES: Final = Format(
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
        "tools": [{"type": "function", **_TOOL, "strict": False}],
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
    stream_error=_named(
        {"type": "error", "sequence_number": 3, "code": "server_error", "message": "an error", "param": None}
    ),
    comment=b": keepalive\n\n",
    end=b"event: response.completed\n",
)

# --- Messages

_MESSAGES_USAGE: Final[Json] = {
    "input_tokens": 210,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 1024,
    "output_tokens": 56,
    "service_tier": "standard",
}
_MESSAGE: Final[Json] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}


def _messages(model: str, texts: Sequence[str], stream: bool) -> Json:
    told: Json = {
        "model": model,
        "max_tokens": 512,
        "messages": [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)],
    }
    return {**told, "stream": True} if stream else told


def _messages_events(text: str) -> list[bytes]:
    start = {
        **_MESSAGE,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {**_MESSAGES_USAGE, "output_tokens": 1},
    }
    told: list[Json] = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
    ]
    told += [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}
        for word in text.split(" ")
    ]
    told += [
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 56},
        },
        {"type": "message_stop"},
    ]
    return [_named(each) for each in told]


_MESSAGES_CALLS: Final[list[Json]] = [
    {"type": "tool_use", "id": "toolu_a", "name": "read", "input": {"path": "a.py", "n": 1}},
    {"type": "tool_use", "id": "toolu_b", "name": "read", "input": {}},
]

MESSAGES: Final = Format(
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
    stream_error=_named({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    comment=_named({"type": "ping"}),
    end=b"event: message_stop\n",
)

# --- Gemini

_GEMINI_USAGE: Final[Json] = {
    "promptTokenCount": 1234,
    "cachedContentTokenCount": 1024,
    "candidatesTokenCount": 56,
    "thoughtsTokenCount": 17,
    "totalTokenCount": 1307,
}


def _gemini_path(model: str, stream: bool) -> str:
    return f"/v1beta/models/{model}:{'streamGenerateContent?alt=sse' if stream else 'generateContent'}"


def _gemini(model: str, texts: Sequence[str], stream: bool) -> Json:
    return {"contents": [{"role": ("user", "model")[n % 2], "parts": [{"text": text}]} for n, text in enumerate(texts)]}


def _gemini_reply(parts: list[Json], ends: bool = True) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    told: Json = {"candidates": [{**candidate, "finishReason": "STOP"} if ends else candidate]}
    return {**told, "usageMetadata": _GEMINI_USAGE, "modelVersion": "m", "responseId": "r1"}


def _gemini_events(text: str) -> list[bytes]:
    words = text.split(" ")
    return [_event(_gemini_reply([{"text": word}], n == len(words) - 1)) for n, word in enumerate(words)]


_GEMINI_CALLS: Final[list[Json]] = [
    {"functionCall": {"id": "a", "name": "read", "args": {"path": "a.py", "n": 1}}, "thoughtSignature": "CiQB+/=="},
    {"functionCall": {"id": "b", "name": "read", "args": {}}},
]

GEMINI: Final = Format(
    "gemini",
    _gemini_path,
    {"x-goog-api-key": "AIza-conformance"},
    _gemini,
    work={
        "contents": [
            {"role": "user", "parts": [{"text": "Read both."}]},
            {"role": "model", "parts": _GEMINI_CALLS},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "a", "name": "read", "response": {"output": "first"}}},
                    {"functionResponse": {"id": "b", "name": "read", "response": {"output": "second"}}},
                ],
            },
        ],
        "tools": [{"functionDeclarations": [{"name": "read", "description": "Read a file."}]}],
    },
    signed={
        "contents": [
            {"role": "user", "parts": [{"text": "Think."}]},
            {
                "role": "model",
                "parts": [{"text": "so …", "thought": True}, {"text": "Done.", "thoughtSignature": "CiQB+/=="}],
            },
            {"role": "user", "parts": [{"text": "Go on."}]},
        ],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": -1}},
    },
    marked={"cachedContent": "cachedContents/abc", "safetySettings": [], "labels": {"a": "b"}},
    reply=lambda text: _gemini_reply([{"text": text}]),
    events=_gemini_events,
    calls=_gemini_reply(_GEMINI_CALLS),
    error=lambda kind: {"error": {"code": 400, "message": f"said: {kind}", "status": kind.upper(), "details": []}},
    stream_error=_event({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}),
    comment=b": keepalive\n\n",
    end=b'"finishReason"',
)

# --- Ollama

_OLLAMA: Final[Json] = {"model": "m", "created_at": "2026-01-01T00:00:00Z"}
_OLLAMA_END: Final[Json] = {
    "done": True,
    "done_reason": "stop",
    "total_duration": 5,
    "prompt_eval_count": 1234,
    "eval_count": 56,
}


def _ollama(model: str, texts: Sequence[str], stream: bool) -> Json:
    messages = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(texts)]
    return {"model": model, "messages": messages, "stream": stream}


def _ollama_events(text: str) -> list[bytes]:
    told = [{**_OLLAMA, "message": {"role": "assistant", "content": word}, "done": False} for word in text.split(" ")]
    last = {**_OLLAMA, "message": {"role": "assistant", "content": ""}, **_OLLAMA_END}
    return [json.dumps(each).encode() + b"\n" for each in [*told, last]]


_OLLAMA_CALLS: Final[list[Json]] = [
    {"function": {"name": "read", "arguments": {"path": "a.py", "n": 1}}},
    {"function": {"name": "read", "arguments": {}}},
]

OLLAMA: Final = Format(
    "ollama",
    lambda model, stream: "/api/chat",
    {},
    _ollama,
    work={
        "messages": [
            {"role": "user", "content": "Read both."},
            {"role": "assistant", "content": "", "tool_calls": _OLLAMA_CALLS},
            {"role": "tool", "tool_name": "read", "content": "first"},
            {"role": "tool", "tool_name": "read", "content": "second"},
        ],
        "tools": [{"type": "function", "function": _TOOL}],
    },
    signed={
        "messages": [
            {"role": "user", "content": "Think."},
            {"role": "assistant", "content": "Done.", "thinking": "so …"},
            {"role": "user", "content": "Go on."},
        ],
        "think": True,
    },
    marked={"keep_alive": "10m", "options": {"num_ctx": 8192, "seed": 7}},
    reply=lambda text: {**_OLLAMA, "message": {"role": "assistant", "content": text}, **_OLLAMA_END},
    events=_ollama_events,
    calls={**_OLLAMA, "message": {"role": "assistant", "content": "", "tool_calls": _OLLAMA_CALLS}, **_OLLAMA_END},
    error=lambda kind: {"error": f"said: {kind}"},
    stream_error=b'{"error":"the model stopped"}\n',
    comment=b"",
    end=b'"done": true',
    stream=LINES,
)

FORMATS: Final[Mapping[str, Format]] = {each.name: each for each in (CHAT, RESPONSES, MESSAGES, GEMINI, OLLAMA)}
"""The formats by their names."""
