"""Where the parts of a message of Ollama's chat stand."""

from __future__ import annotations

import msgspec

from proxy.wire.places.place import Place, arguments, free
from proxy.wire.slices import fields_of, items_of, string_of


def places_of(message: msgspec.Raw) -> list[Place | None]:
    """One place for each part of a message, in their order; a picture has no place for a text."""
    fields = fields_of(message)
    content = fields.get("content")
    if string_of(fields.get("role")) == "tool":
        return [free(content)]
    places: list[Place | None] = [None] if string_of(fields.get("thinking")) else []
    places += [None for _ in items_of(fields.get("images"))]
    places += [free(content)] if string_of(content) else []
    calls = (fields_of(fields_of(call).get("function")) for call in items_of(fields.get("tool_calls")))
    return [*places, *(arguments(call.get("arguments")) for call in calls)]
