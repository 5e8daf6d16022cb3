"""What a person said, out of the texts of a user's message."""

from __future__ import annotations

from collections.abc import Iterable

from memory.conversation import Part, Text
from proxy.wire.dialect import Spoken


def spoken_in(parts: Iterable[Part], spoken: Spoken) -> str:
    """Each text as the runtime's rule hears it, joined by newlines; texts in which no person speaks leave nothing."""
    heard = (spoken(part.text) for part in parts if isinstance(part, Text))
    return "\n".join(text for text in heard if text)
