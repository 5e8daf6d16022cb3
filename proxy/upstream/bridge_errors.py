"""What a provider of another format said was wrong, in the client's own: litellm packs it into sentences of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from proxy.wire.dialect import Dialect
from proxy.wire.overflow import overflow

MAX_ERROR_CHARS = 500
"""Characters of what is told."""


def error_message(error: BaseException) -> str:
    """What an error says: the provider's own message where it was packed, else the first line; litellm writes its own
    stack below it."""
    if isinstance(error, ImportError):
        return f"litellm cannot translate this without more of its parts ({error}): pip install 'litellm[proxy]'"
    text = str(error).strip()
    message = _message(_packed(text))
    return (message or text.partition("\n")[0])[:MAX_ERROR_CHARS] or type(error).__name__


def refusal(dialect: Dialect, error: BaseException, message: str) -> tuple[int, bytes]:
    """An error's status and body in the client's format; ``message`` is what may be told of it."""
    status = getattr(error, "status_code", None)
    if not (isinstance(status, int) and 400 <= status < 600):
        return 502, dialect.refusal(502, message)
    if too_long := overflow(status, json.dumps({"error": message}).encode()):
        return 400, dialect.too_long(message, too_long.limit, too_long.size)
    if type(error).__name__ == "ContextWindowExceededError":
        return 400, dialect.too_long(message)
    return status, dialect.refusal(status, message)


def retry_after_headers(error: BaseException) -> dict[str, str]:
    """How long a provider asks its clients to wait, as it said it."""
    headers = getattr(error, "litellm_response_headers", None)
    if not isinstance(headers, Mapping):
        return {}
    return {name: str(headers[name]) for name in ("retry-after", "retry-after-ms") if headers.get(name)}


def _packed(text: str) -> Any:
    """The JSON that stands in a text, also as Python writes bytes."""
    start = text.find("{")
    if start < 0:
        return None
    for packed in (text[start:], text[start:].replace("\\'", "'").replace("\\\\", "\\")):
        try:
            return json.JSONDecoder().raw_decode(packed)[0]
        except ValueError:
            continue
    return None


def _message(packed: Any) -> str:
    """The message of an error's body."""
    if isinstance(packed, Mapping):
        error = packed.get("error", packed)
        message = error.get("message") if isinstance(error, Mapping) else error
        return message.strip() if isinstance(message, str) else ""
    return ""
