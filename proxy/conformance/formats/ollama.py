"""Ollama's ``/api/chat``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from proxy.conformance.formats.api_format import LINES, TOOL, ApiFormat, Json

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
    events = [{**_OLLAMA, "message": {"role": "assistant", "content": word}, "done": False} for word in text.split(" ")]
    last = {**_OLLAMA, "message": {"role": "assistant", "content": ""}, **_OLLAMA_END}
    return [json.dumps(each).encode() + b"\n" for each in [*events, last]]


_OLLAMA_CALLS: Final[list[Json]] = [
    {"function": {"name": "read", "arguments": {"path": "a.py", "n": 1}}},
    {"function": {"name": "read", "arguments": {}}},
]

OLLAMA: Final = ApiFormat(
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
        "tools": [{"type": "function", "function": TOOL}],
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
