"""A content as every format has it: a string, or a list of parts, or nothing; empty texts are left out.

The tools that a request offers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from memory.conversation import Form, Image, Message, Opaque, Part, Role, Text, digest
from proxy.wire.dialect import Spoken
from proxy.wire.slices import SliceCache, is_list, is_string, items_of, string_of, text_of


def parts_in(content: msgspec.Raw | None, part_of: Callable[[msgspec.Raw], Part | None]) -> Iterator[Part]:
    """The parts of a content; ``part_of`` reads one of its list, in the dialect's way, and gives None for an empty
    text."""
    if is_string(content):
        text = string_of(content)
        if text:
            yield Text(text)
        return
    for each in items_of(content):
        part = part_of(each)
        if part is not None:
            yield part


def text_in(raw: msgspec.Raw) -> Text | None:
    """A text; None where it is empty."""
    text = string_of(raw)
    return Text(text) if text else None


def given_back(parts: Iterable[Part]) -> tuple[Text | Image | Opaque, ...]:
    """What of a content can stand in a tool's result."""
    return tuple(part for part in parts if isinstance(part, Text | Image | Opaque))


def message(role: Role, parts: tuple[Part, ...], spoken: Spoken, takes: Form | None) -> Message:
    """A message of these parts; only in a user's does a person speak."""
    text = spoken_in(parts, spoken) if role is Role.USER else ""
    return Message(role, parts, digest(role, parts), text, takes)


def spoken_in(parts: Iterable[Part], spoken: Spoken) -> str:
    """Each text as the runtime's rule hears it, joined by newlines; texts in which no person speaks leave nothing."""
    heard = (spoken(part.text) for part in parts if isinstance(part, Text))
    return "\n".join(text for text in heard if text)


def offered(
    tools: msgspec.Raw | None, names: Callable[[msgspec.Raw], tuple[str, ...]], memo: SliceCache
) -> tuple[tuple[str, ...], str]:
    """The names of the tools, as the dialect finds them, and the JSON text of their definitions; remembered, since
    they come again with every request of a session."""
    if tools is None or not is_list(tools):
        return (), ""
    return memo.of(tools, "tools", lambda raw: (names(raw), text_of(raw)))
