"""Where the parts of a message of the Anthropic format stand."""

from __future__ import annotations

import msgspec

from proxy.wire.places.place import Fields, PartNames, Place, arguments, in_content, result, sealed
from proxy.wire.slices import fields_of

_WORDS = PartNames("text", frozenset({"text"}), frozenset({"image", "document", "search_result"}))


def places_of(message: msgspec.Raw) -> list[Place | None]:
    """One place for each part of a message, in their order."""
    fields = fields_of(message)
    return [] if sealed(fields) else in_content(fields.get("content"), _WORDS, _of_block)


def _of_block(kind: str, block: Fields) -> Place | None:
    if sealed(block):
        return None
    match kind:
        case "tool_use":
            return arguments(block.get("input"))
        case "tool_result":
            return result(block.get("content"), _WORDS)
    return None
