"""Gemini's ``generateContent``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from proxy.conformance.formats.api_format import ApiFormat, Json, event

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
    body: Json = {"candidates": [{**candidate, "finishReason": "STOP"} if ends else candidate]}
    return {**body, "usageMetadata": _GEMINI_USAGE, "modelVersion": "m", "responseId": "r1"}


def _gemini_events(text: str) -> list[bytes]:
    words = text.split(" ")
    return [event(_gemini_reply([{"text": word}], n == len(words) - 1)) for n, word in enumerate(words)]


_GEMINI_CALLS: Final[list[Json]] = [
    {"functionCall": {"id": "a", "name": "read", "args": {"path": "a.py", "n": 1}}, "thoughtSignature": "CiQB+/=="},
    {"functionCall": {"id": "b", "name": "read", "args": {}}},
]

GEMINI: Final = ApiFormat(
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
    stream_error=event({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}),
    comment=b": keepalive\n\n",
    end=b'"finishReason"',
)
