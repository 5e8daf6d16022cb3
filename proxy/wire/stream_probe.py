"""How a streamed reply opens: with what the model says, or with an error in the place of it.

Some providers answer 200 before they have looked at the request's length: OpenAI's Responses say that the response was
created and that it failed then, others' first event is an error. What comes before is no word of the model's, and as
long as nothing else has come the request can still be sent again.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

from proxy.wire.overflow import MAX_ERROR_BYTES
from proxy.wire.sse import EventSplitter, ServerEvent

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
                self.error = _error(event, kind in _FAILED)
                return True
        return False


def _kind(event: ServerEvent) -> bytes:
    found = _TYPE_FIRST.match(event.data)
    return event.name or (found[1] if found else b"")


def _error(event: ServerEvent, failed: bool) -> bytes:
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
