"""What the scripted model reports of a request: its size in tokens, and how much of it stood in a cache."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping
from typing import Any

from tests.e2e.script import messages_of

SAID = 12
"""Tokens of every reply."""
REMEMBERED = 8
"""Requests whose prefixes are still in the cache."""
LEAST_CACHED = 1024


def tokens_of(body: Mapping[str, Any]) -> int:
    """Tokens of a request: four bytes of its JSON each."""
    return len(json.dumps(body)) // 4


class Meter:
    """Measures requests as a provider does that caches prefixes: what it received, and never anything else."""

    def __init__(self) -> None:
        self._before: deque[str] = deque(maxlen=REMEMBERED)

    def chat(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """In the words of Chat Completions: what was cached is part of the prompt."""
        tokens, cached = self._measure(body)
        usage = {"prompt_tokens": tokens, "completion_tokens": SAID, "total_tokens": tokens + SAID}
        return {**usage, "prompt_tokens_details": {"cached_tokens": cached}}

    def responses(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """In the words of Responses."""
        tokens, cached = self._measure(body)
        usage = {"input_tokens": tokens, "output_tokens": SAID, "total_tokens": tokens + SAID}
        details = {"input_tokens_details": {"cached_tokens": cached}, "output_tokens_details": {"reasoning_tokens": 0}}
        return {**usage, **details}

    def messages(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """In Anthropic's words: what was cached is told beside the input."""
        tokens, cached = self._measure(body)
        return {
            "input_tokens": tokens - cached,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 0,
        }

    def gemini(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """In Gemini's words: what was cached is part of the prompt."""
        tokens, cached = self._measure(body)
        usage = {"promptTokenCount": tokens, "candidatesTokenCount": SAID, "totalTokenCount": tokens + SAID}
        return {**usage, "cachedContentTokenCount": cached}

    def _measure(self, body: Mapping[str, Any]) -> tuple[int, int]:
        ahead = [body.get(name) for name in ("tools", "system", "instructions", "systemInstruction")]
        text = json.dumps([*ahead, messages_of(body)])
        tokens = tokens_of(body)
        cached = min(max((common(text, before) for before in self._before), default=0) // 4, tokens)
        self._before.append(text)
        return tokens, cached if cached >= LEAST_CACHED else 0


def common(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least
