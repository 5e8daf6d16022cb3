"""Whether a provider's error says that a request was too long for its model, and what it says of the sizes.

There is no common form: some have a code, all have a sentence, and a gateway may have packed the maker's error into
its own as text. So every text of the body is read, and the sentence is looked for. The forms are those of OpenAI and
Azure, Anthropic, Bedrock, Gemini, xAI, Groq, DeepSeek, Mistral, Kimi, MiniMax, Qwen, OpenRouter, Together, GitHub
Copilot, LiteLLM, vLLM, SGLang, llama.cpp, LM Studio and Ollama, as they stand in their sources and in public issues.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

STATUSES = frozenset({400, 413, 422, 500})
"""HTTP statuses with which a request is refused for its length; 500 is Ollama's, and was llama.cpp's."""

LONGEST = 64 * 1024
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
    if status not in STATUSES or not body or len(body) > LONGEST:
        return None
    text = "\n".join(_texts(body))
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


def _texts(body: bytes) -> Iterator[str]:
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
                inner = _json(text)
                if inner is None:
                    yield text
                else:
                    stack.append(inner)


def _json(text: str) -> Any:
    """An error that was packed into another's text."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        return orjson.loads(text[start:].strip("'\" \n"))
    except orjson.JSONDecodeError:
        return None


_N = r"(\d[\d,_]{0,14})"

_SIGN = re.compile(
    r"context[ _](?:length|window|size)[ _](?:has been )?exceeded"
    r"|exceed_context_size"
    r"|model_context_window_exceeded"
    r"|string_above_max_length"
    r"|maximum (?:context|prompt|model) length"
    r"|(?:prompt|input|request) (?:is )?too long"
    r"|exceeds? (?:the |your |this )?(?:model'?s? )?(?:maximum |max |available )?"
    r"context[ _-]?(?:length|limit|window|size)"
    r"|exceeded max context length"
    r"|context window exceeds limit"
    r"|input tokens exceed the configured limit"
    r"|input token count.{0,40}exceeds the maximum"
    r"|(?:prompt|input) token count of \d+ exceeds the limit"
    r"|(?:greater|longer) than the (?:model'?s )?(?:maximum )?(?:context|model) length"
    r"|context length of only \d+"
    r"|context the overflows"
    r"|n_keep.{0,20}>= ?n_ctx"
    r"|model token limit"
    r"|too large for model with \d+"
    r"|configured context size is"
    r"|exceeds? the maximum allowed input length"
    r"|range of input length should be"
    r"|please reduce the length of the (?:messages|input|prompt)"
    r"|(?:too many input|input has too many) tokens",
    re.IGNORECASE,
)
_OTHER = re.compile(r"rate.?limit|too many requests|tokens per (?:minute|day)|throttl|quota", re.IGNORECASE)

_SUM = re.compile(rf"{_N} \+ {_N} > {_N}")


def _patterns(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern.replace("#", _N), re.IGNORECASE) for pattern in patterns)


_LIMITS = _patterns(
    r"maximum (?:context|prompt|model|allowed input) length (?:is|of)(?: only)? #",
    r"maximum context length \(#",
    r"> # maximum",
    r"configured limit of #",
    r"maximum number of (?:input )?tokens allowed \(#",
    r"exceeds the limit of #",
    r"model token limit: #",
    r"too large for model with # maximum",
    r"context (?:length|size) \(?(?:of only |is |n_ctx: )?#",
    r"length should be \[\d+, #\]",
    r"n_ctx\W{1,4}#",
)
_PARTS = re.compile(
    rf"{_N} (?:tokens )?(?:in (?:the messages|the functions|the tools|your prompt)"
    rf"|of (?:text|tool|image|audio|file) input|from the input messages)",
    re.IGNORECASE,
)
_SIZES = _patterns(
    r"too long: # tokens",
    r"(?:resulted in|your request has|request contains|prompt contains|prompt has|you passed) (?:about )?#",
    r"(?:input|prompt) token count (?:of )?\(?#",
    r"(?:input|prompt|request|input length) \(#",
    r"input length #",
    r"requested: #",
    r"n_keep\W{1,4}#",
    r"n_prompt_tokens\W{1,4}#",
    r"keep the first # tokens",
    r"you requested (?:about )?#",
)
_REPLIES = _patterns(
    r"# (?:tokens )?(?:in|for) the (?:completion|output)",
    r"max_(?:completion_)?tokens\W{1,3} is too large: #",
)


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int:
    return next((_number(found[1]) for pattern in patterns if (found := pattern.search(text))), 0)


def _number(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))
