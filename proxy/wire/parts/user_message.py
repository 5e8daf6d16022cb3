"""A message with what a person said in it, out of the texts of a user's message."""

from __future__ import annotations

from collections.abc import Iterable

from memory.conversation import Form, Message, Part, Role, Text, digest
from proxy.wire.dialect import Spoken


def message(role: Role, parts: tuple[Part, ...], spoken: Spoken, takes: Form | None) -> Message:
    """A message of these parts; only in a user's does a person speak."""
    text = spoken_in(parts, spoken) if role is Role.USER else ""
    return Message(role, parts, digest(role, parts), text, takes)


def spoken_in(parts: Iterable[Part], spoken: Spoken) -> str:
    """Each text as the runtime's rule hears it, joined by newlines; texts in which no person speaks leave nothing."""
    heard = (spoken(part.text) for part in parts if isinstance(part, Text))
    return "\n".join(text for text in heard if text)
