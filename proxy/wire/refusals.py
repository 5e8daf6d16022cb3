"""Our refusals in the shapes that clients read, so that their own error handling says what went wrong."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson

_OPENAI = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
_ANTHROPIC = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_GOOGLE = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    504: "DEADLINE_EXCEEDED",
}


def limit_headers(dialect: str, most: int, until: datetime, seconds: int) -> dict[str, str]:
    """The headers by which a format's clients know that so many requests were all there may be until a time, which
    is ``seconds`` away; none for formats that have no such headers."""
    match dialect:
        case "openai-chat" | "openai-responses":
            prefix, reset = "x-ratelimit-{}-requests", f"{seconds}s"
        case "anthropic-messages":
            prefix, reset = "anthropic-ratelimit-requests-{}", f"{until.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
        case _:
            return {}
    return {prefix.format("limit"): str(most), prefix.format("remaining"): "0", prefix.format("reset"): reset}


def openai_refusal(status: int, message: str, where: str = "") -> bytes:
    """An error as OpenAI's endpoints send it; ``where`` names the parameter at fault."""
    kind = _OPENAI.get(status) or ("invalid_request_error" if status < 500 else "server_error")
    error = {"message": _utf8(message), "type": kind, "param": _utf8(where) or None, "code": None}
    return orjson.dumps({"error": error})


def anthropic_refusal(status: int, message: str, where: str = "") -> bytes:
    """An error as Anthropic's endpoints send it; it has no field for the place, which goes before the message."""
    kind = _ANTHROPIC.get(status) or ("invalid_request_error" if status < 500 else "api_error")
    text = f"{where}: {message}" if where else message
    return orjson.dumps({"type": "error", "error": {"type": kind, "message": _utf8(text)}})


def google_refusal(status: int, message: str, where: str = "") -> bytes:
    """An error as Google's APIs send it; the place goes before the message."""
    kind = _GOOGLE.get(status) or ("INVALID_ARGUMENT" if status < 500 else "UNAVAILABLE")
    text = f"{where}: {message}" if where else message
    return orjson.dumps({"error": {"code": status, "message": _utf8(text), "status": kind}})


def openai_too_long(message: str, limit: int = 0, size: int = 0) -> bytes:
    """That a request has more tokens (``size``) than its model reads (``limit``; 0: not known), with the code by which
    OpenAI's clients know it."""
    if limit and size:
        message = f"This model's maximum context length is {limit} tokens. However, your messages resulted in {size}."
    error = {"message": _utf8(message), "type": "invalid_request_error", "param": None}
    return orjson.dumps({"error": {**error, "code": "context_length_exceeded"}})


def anthropic_too_long(message: str, limit: int = 0, size: int = 0) -> bytes:
    """The same in the words by which Anthropic's clients know it."""
    sizes = f"{size} tokens > {limit} maximum" if limit and size else message
    return anthropic_refusal(400, f"prompt is too long: {sizes}")


def ollama_refusal(status: int, message: str, where: str = "") -> bytes:
    """An error as Ollama sends it; the place goes before the message, and the status stands in the answer's head."""
    return orjson.dumps({"error": _utf8(f"{where}: {message}" if where else message)})


def ollama_too_long(message: str, limit: int = 0, size: int = 0) -> bytes:
    """The same in the words by which Ollama's clients know it."""
    sizes = f" ({size} tokens, {limit} are read)" if limit and size else ""
    return ollama_refusal(400, f"prompt too long; exceeded max context length{sizes}")


def google_too_long(message: str, limit: int = 0, size: int = 0) -> bytes:
    """The same in the words by which Google's clients know it."""
    if limit and size:
        message = f"The input token count ({size}) exceeds the maximum number of tokens allowed ({limit})."
    return google_refusal(400, message)


def _utf8(text: str) -> str:
    return text.encode(errors="replace").decode()
