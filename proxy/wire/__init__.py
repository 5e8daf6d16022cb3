"""The wire formats. A dialect reads a body into a view, writes edits into its bytes, hears a reply and refuses.

    dialect.py               what every dialect offers: Dialect, RequestView, Listener; Unreadable
    openai_chat.py  openai_responses.py  anthropic_messages.py  gemini_generate.py
    ollama_chat.py           the dialects, and where the parts of their messages stand in the bytes
    parts/                   slices → what a message says            one file per dialect
    replies/                 a document or events → what was answered   one file per dialect
    validation/              what must hold of a body that is sent   one file per dialect
    place.py                 the kinds of places where another text can stand
    slices.py                cut JSON without decoding it, and know where each slice lies
    splice.py                put text there, leaving all other bytes as they are
    edit_writer.py           carry out edits: append, replace, drop
    lenient_json.py          read decoded JSON without trust
    lax_json.py              one text of an object that a strict reader refuses
    model_name.py            which model a request names that no dialect reads
    slice_cache.py           what a slice was read as, since histories come again and again
    sse.py                   events out of bytes, however they are cut
    terminator_gate.py       pass a stream on and hold back its terminator
    listener.py              pass a reply on and hear it
    unterminated_stream.py   the same for a stream that has no terminator
    refusals.py              errors in the clients' own shapes

Nothing here translates from one format into another, and nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote

from proxy.wire.anthropic_messages import AnthropicMessages
from proxy.wire.dialect import Dialect
from proxy.wire.gemini_generate import GeminiGenerate
from proxy.wire.model_name import GOOGLE_METHOD
from proxy.wire.ollama_chat import OllamaChat
from proxy.wire.openai_chat import OpenAIChat
from proxy.wire.openai_responses import OpenAIResponses

_ALL: tuple[Dialect, ...] = (OpenAIChat(), OpenAIResponses(), AnthropicMessages(), GeminiGenerate(), OllamaChat())

DIALECTS: dict[str, Dialect] = {path: dialect for dialect in _ALL for path in dialect.paths}
"""The dialects by the end of the path that they are spoken at."""

LONGEST = 1024
"""Characters of a path of any kind that are looked at to see whose errors it wants."""


def dialect_of(path: str) -> Dialect | None:
    """The dialect spoken at a path (without its query), whatever stands before the path's end; None for others.

    ``/threads/<id>/messages`` is an endpoint of another kind that ends alike.
    """
    path = unquote(path.rstrip("/")) if "%3" in path else path.rstrip("/")
    for end, dialect in DIALECTS.items():
        if path.endswith(end) and "threads" not in path.split("/"):
            return dialect
    return None


def dialect_for_errors(path: str, headers: Mapping[str, str]) -> Dialect | None:
    """The dialect whose errors a client understands that asks at a path of any kind; None: OpenAI's, as most do."""
    path = path[:LONGEST]
    anthropic = "/messages" in path or "anthropic-version" in headers
    google = "x-goog-api-key" in headers or GOOGLE_METHOD.search(unquote(path)) is not None
    other = DIALECTS["/messages"] if anthropic else DIALECTS[":generateContent"] if google else None
    return dialect_of(path) or other
