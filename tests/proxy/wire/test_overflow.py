"""A refusal for length is recognised in every form that matters, and nothing else is taken for one."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.overflow import MAX_ERROR_BYTES, Overflow, overflow


def openai(message: str, code: str | None = "context_length_exceeded", **more: Any) -> bytes:
    error = {"message": message, "type": "invalid_request_error", "param": "messages", "code": code, **more}
    return orjson.dumps({"error": error})


def anthropic(message: str) -> bytes:
    error = {"type": "invalid_request_error", "message": message}
    return orjson.dumps({"type": "error", "error": error, "request_id": "req_1"})


TOLD: dict[str, tuple[int, bytes, Overflow]] = {
    "openai chat": (
        400,
        openai(
            "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the "
            "messages, 8192 in the completion). Please reduce the length of the messages or completion."
        ),
        Overflow(131_072, 122_942, 8192),
    ),
    "openai chat with functions": (
        400,
        openai(
            "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (7000 in the "
            "messages, 500 in the functions, and 1500 in the completion)."
        ),
        Overflow(8192, 7500, 1500),
    ),
    "openai messages only": (
        400,
        openai(
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens."
        ),
        Overflow(128_000, 204_308),
    ),
    "openai gpt-5": (
        400,
        openai(
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 341237 tokens. "
            "Please reduce the length of the messages."
        ),
        Overflow(272_000, 341_237),
    ),
    "openai responses": (
        400,
        openai("Your input exceeds the context window of this model. Please adjust your input and try again."),
        Overflow(),
    ),
    "a code and nothing else": (400, openai("", "context_length_exceeded"), Overflow()),
    "anthropic": (
        400,
        anthropic("prompt is too long: 208310 tokens > 200000 maximum"),
        Overflow(200_000, 208_310),
    ),
    "anthropic with the reply": (
        400,
        anthropic(
            "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or "
            "`max_tokens` and try again"
        ),
        Overflow(200_000, 178_959, 64_000),
    ),
    "anthropic, escaped": (
        400,
        rb'{"error":{"message":"prompt is too long: 208310 tokens \u003e 200000 maximum"}}',
        Overflow(200_000, 208_310),
    ),
    "bedrock": (
        400,
        b'{"message":"The model returned the following errors: Input is too long for requested model."}',
        Overflow(),
    ),
    "gemini": (
        400,
        b'[{"error":{"code":400,"message":"The input token count (1200293) exceeds the maximum number of tokens '
        b'allowed (1048576).","status":"INVALID_ARGUMENT"}}]',
        Overflow(1_048_576, 1_200_293),
    ),
    "gemini, packed as text": (
        400,
        orjson.dumps(
            {
                "error": {
                    "message": '{\n  "error": {\n    "code": 400,\n    "message": "The input token count (3475108) '
                    'exceeds the maximum number of tokens allowed (1048576).",\n    "status": "INVALID_ARGUMENT"\n  }\n'
                    "}\n",
                    "code": 400,
                }
            }
        ),
        Overflow(1_048_576, 3_475_108),
    ),
    "openrouter": (
        400,
        orjson.dumps(
            {
                "error": {
                    "message": "This endpoint's maximum context length is 32768 tokens. However, you requested about "
                    "42832 tokens (40000 of text input, 800 of tool input, 2032 in the output). Please reduce the "
                    'length of either one, or use the "middle-out" transform to compress your prompt automatically.',
                    "code": 400,
                }
            }
        ),
        Overflow(32_768, 40_800, 2032),
    ),
    "openrouter, packed": (
        400,
        orjson.dumps(
            {
                "error": {
                    "message": "Provider returned error",
                    "metadata": {
                        "raw": '{"type":"error","error":{"message":"prompt is too long: 201000 tokens > 200000 '
                        'maximum"}}'
                    },
                }
            }
        ),
        Overflow(200_000, 201_000),
    ),
    "litellm": (
        400,
        openai(
            "litellm.ContextWindowExceededError: AnthropicException - "
            '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 212345 tokens > '
            '200000 maximum"}}',
            "400",
        ),
        Overflow(200_000, 212_345),
    ),
    "vllm": (
        400,
        orjson.dumps(
            {
                "object": "error",
                "message": "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context "
                "length is 32768 tokens and your request has 30000 input tokens (8192 > 32768 - 30000).",
                "code": 400,
            }
        ),
        Overflow(32_768, 30_000, 8192),
    ),
    "sglang": (
        400,
        openai(
            "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total "
            "of 140000 tokens: 130000 tokens from the input messages and 10000 tokens for the completion.",
            None,
        ),
        Overflow(131_072, 130_000, 10_000),
    ),
    "llama.cpp": (
        400,
        b'{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context '
        b'size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}',
        Overflow(8192, 14_429),
    ),
    "llama.cpp, newer": (
        400,
        b'{"error":{"code":400,"message":"request (14429 tokens) exceeds the available context size (8192 tokens), try '
        b'increasing it","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}',
        Overflow(8192, 14_429),
    ),
    "lm studio": (
        400,
        b'{"error":"The number of tokens to keep from the initial prompt is greater than the context length (n_keep: '
        b'13055>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input."}',
        Overflow(4096, 13_055),
    ),
    "lm studio, older": (
        400,
        b'{"error":"Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded '
        b'with context length of only 32768 tokens, which is not enough."}',
        Overflow(32_768, 111_490),
    ),
    "ollama": (
        400,
        b'{"error":{"message":"prompt too long; exceeded max context length by 4096 tokens","type":"api_error"}}',
        Overflow(),
    ),
    "ollama, as its own fault": (500, b'{"error":"the input length exceeds the context length"}', Overflow()),
    "mistral": (
        400,
        b'{"object":"error","message":"Prompt contains 300000 tokens, too large for model with 131072 maximum context '
        b'length","type":"invalid_request_prompt"}',
        Overflow(131_072, 300_000),
    ),
    "xai": (
        400,
        b'{"code":"Client specified an invalid argument","error":"This model\'s maximum prompt length is 131072 but '
        b'the request contains 537812 tokens."}',
        Overflow(131_072, 537_812),
    ),
    "groq": (400, openai("Please reduce the length of the messages or completion."), Overflow()),
    "kimi": (
        400,
        openai("Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)", None),
        Overflow(262_144, 300_000),
    ),
    "together": (
        422,
        openai("The input (300030 tokens) is longer than the model's context length (262144 tokens).", None),
        Overflow(262_144, 300_030),
    ),
    "copilot": (
        400,
        openai("prompt token count of 145000 exceeds the limit of 128000", None),
        Overflow(128_000, 145_000),
    ),
    "minimax": (400, openai("invalid params, context window exceeds limit", None), Overflow()),
    "qwen": (400, openai("<400> InternalError: Range of input length should be [1, 129024]", None), Overflow(129_024)),
    "poolside": (
        400,
        openai("Input length 301574 exceeds the maximum allowed input length of 262112 tokens.", None),
        Overflow(262_112, 301_574),
    ),
    "with thousands apart": (
        400,
        openai("Prompt has 300,000 tokens, but the configured context size is 131,072 tokens", None),
        Overflow(131_072, 300_000),
    ),
    "no json": (413, b"prompt is too long: 250000 tokens > 200000 maximum", Overflow(200_000, 250_000)),
}


@pytest.mark.parametrize("name", TOLD)
def test_each_providers_refusal_is_understood(name: str) -> None:
    status, body, expected = TOLD[name]
    assert overflow(status, body) == expected


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (
            400,
            anthropic("max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens for this model"),
        ),
        (400, anthropic("messages.3: `tool_use` ids were found without `tool_result` blocks immediately after")),
        (400, openai("max_tokens exceeds the limit of 8192", None)),
        (400, openai("Invalid 'messages[0].content': expected a string", "invalid_type")),
        (429, openai("Rate limit reached for gpt-5 in organization on tokens per min (TPM): Limit 30000")),
        (
            413,
            openai("Request too large for model on tokens per minute (TPM): Limit 6000, Requested 12000", "rate_limit"),
        ),
        (400, openai("Too many tokens per day, please wait", None)),
        (401, openai("This model's maximum context length is 8192 tokens.")),
        (200, openai("This model's maximum context length is 8192 tokens.")),
        (400, b""),
        (400, b"{"),
    ],
)
def test_what_is_about_something_else_is_no_overflow(status: int, body: bytes) -> None:
    assert overflow(status, body) is None


def test_an_absurd_limit_is_not_told() -> None:
    assert overflow(400, openai("This model's maximum context length is 0 tokens.")) == Overflow()
    assert overflow(400, openai(f"maximum context length is {'9' * 15} tokens")) == Overflow()


def test_a_long_body_is_no_refusal() -> None:
    assert overflow(400, openai("prompt is too long" + "." * MAX_ERROR_BYTES)) is None


@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_body_is_understood_or_not_and_never_fails(body: bytes) -> None:
    overflow(400, body)
    overflow(400, b"prompt is too long: " + body)
    overflow(400, orjson.dumps({"error": {"message": "maximum context length " + body.decode("utf-8", "replace")}}))


@pytest.mark.parametrize("text", ["{" * 20_000, "[" * 20_000, "input token count" * 3000, "9" * 60_000, "(" * 60_000])
def test_a_hostile_body_is_no_trouble(text: str) -> None:
    assert overflow(400, text.encode()) is None
    assert overflow(400, orjson.dumps({"error": text})) is None
