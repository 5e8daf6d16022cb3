"""Whether a provider's error says that a request was too long for its model, and what it says of the sizes.

There is no common form: some have a code, all have a sentence, and a gateway may have packed the maker's error into
its own as text. So every text of the body is read, and the sentence is looked for. The forms are those of OpenAI and
Azure, Anthropic, Bedrock, Gemini, xAI, Groq, DeepSeek, Mistral, Kimi, MiniMax, Qwen, OpenRouter, Together, GitHub
Copilot, LiteLLM, vLLM, SGLang, llama.cpp, LM Studio and Ollama, as they stand in their sources and in public issues:
rows of ``overflow.toml``.

How a streamed reply opens: with what the model says, or with an error in the place of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from memory.language.rule_table import any_of, table
from proxy.wire.sse import EventSplitter, ServerEvent

STATUSES = frozenset({400, 413, 422, 500})
"""HTTP statuses with which a request is refused for its length; 500 is Ollama's, and was llama.cpp's."""

MAX_ERROR_BYTES = 64 * 1024
"""Bytes of an error that are read at most."""

PLAUSIBLE = range(256, 20_000_001)
"""Tokens that a window may have."""


@dataclass(frozen=True, slots=True)
class Overflow:
    """A request was too long. All in the provider's tokens, 0 where it does not say: how many it reads at once,
    how many the request had (without the reply), and how many were asked for as the longest reply."""

    limit: int = 0
    size: int = 0
    reply: int = 0


def overflow(status: int, body: bytes) -> Overflow | None:
    """What a provider's refusal says of the request's length; None where it is about something else."""
    if status not in STATUSES or not body or len(body) > MAX_ERROR_BYTES:
        return None
    text = "\n".join(_texts_of_body(body))
    if not _SIGN.search(text) or _OTHER.search(text):
        return None
    # "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000"
    if found := _SUM.search(text):
        size, reply, limit = map(_number, found.groups())
    else:
        limit = _first(_LIMITS, text)
        parts = [_number(part) for part in _PARTS.findall(text)]
        size = sum(parts) or _first(_SIZES, text)
        reply = _first(_REPLIES, text)
    if limit not in PLAUSIBLE:
        limit = 0
    return Overflow(limit, size if size in PLAUSIBLE else 0, reply if reply in PLAUSIBLE else 0)


def _texts_of_body(body: bytes) -> Iterator[str]:
    """Every text of a JSON body, with the names and values of its numbers; the body itself where it is no JSON."""
    try:
        stack: list[Any] = [orjson.loads(body)]
    except orjson.JSONDecodeError:
        yield body.decode("utf-8", "replace")
        return
    while stack:
        match stack.pop():
            case dict() as fields:
                for name, value in fields.items():
                    if isinstance(value, int | float):
                        yield f"{name}: {value}"
                    else:
                        stack.append(value)
            case list() as items:
                stack.extend(items)
            case str() as text:
                inner = _embedded_error(text)
                if inner is None:
                    yield text
                else:
                    stack.append(inner)


def _embedded_error(text: str) -> Any:
    """An error that was packed into another's text."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        return orjson.loads(text[start:].strip("'\" \n"))
    except orjson.JSONDecodeError:
        return None


_N = r"(\d[\d,_]{0,14})"

_TABLE = table(__file__)
_SIGN = any_of(_TABLE["sign"], re.IGNORECASE)
_OTHER = any_of(_TABLE["other"], re.IGNORECASE)

_SUM = re.compile(rf"{_N} \+ {_N} > {_N}")


def _patterns(group: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(row.pattern.replace("#", _N), re.IGNORECASE) for row in _TABLE[group])


_LIMITS = _patterns("limit")
_SIZES = _patterns("size")
_REPLIES = _patterns("reply")
_PARTS = re.compile(
    rf"{_N} (?:tokens )?(?:in (?:the messages|the functions|the tools|your prompt)"
    rf"|of (?:text|tool|image|audio|file) input|from the input messages)",
    re.IGNORECASE,
)


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int:
    return next((_number(found[1]) for pattern in patterns if (found := pattern.search(text))), 0)


def _number(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))


_LEADING = frozenset({b"response.created", b"response.queued", b"response.in_progress", b"ping", b"keepalive"})
"""Events that say nothing of whether the model will speak."""

_FAILED = frozenset({b"error", b"response.failed"})

_TYPE_FIRST = re.compile(rb'\s*\{\s*"type"\s*:\s*"([^"]*)"')


class StreamProbe:
    """Reads a stream until it has shown how it opens. ``error`` is its error then, as JSON; empty where it has none."""

    def __init__(self) -> None:
        self.error = b""
        self._splitter = EventSplitter()

    def feed(self, chunk: bytes) -> bool:
        """Whether it has shown it by now."""
        for event in self._splitter.feed(chunk):
            kind = _kind(event)
            if kind not in _LEADING:
                self.error = _error_of_event(event, kind in _FAILED)
                return True
        return False


def _kind(event: ServerEvent) -> bytes:
    found = _TYPE_FIRST.match(event.data)
    return event.name or (found[1] if found else b"")


def _error_of_event(event: ServerEvent, failed: bool) -> bytes:
    """The error of an event, without what the provider repeats of the request beside it. An event without a type is one
    of Chat Completions, where the error stands in the place of the choices."""
    if not failed and not event.data.lstrip().startswith(b'{"error"') and len(event.data) > MAX_ERROR_BYTES:
        return b""
    try:
        data: Any = orjson.loads(event.data)
    except orjson.JSONDecodeError:
        return b""
    response = data.get("response") if isinstance(data, dict) else None
    for place in (data, response):
        if isinstance(place, dict) and (error := place.get("error")):
            return orjson.dumps(error)
    return orjson.dumps(data) if failed and isinstance(data, dict) and response is None else b""
