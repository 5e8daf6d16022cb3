"""The kinds of places that the dialects share: a string, a text part, a picture's part, a result's content, arguments.

A place is asked with a text and names the slices that change, with their new bytes; none where it refuses the text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import msgspec
import orjson

from proxy.wire.slices import fields_of, is_list, is_object, is_string, items_of, string_of, value_of
from proxy.wire.splice import escaped, text_part

Swap = tuple[msgspec.Raw, bytes]
"""A slice, and what stands there instead."""

Place = Callable[[str], Sequence[Swap]]
"""What changes so that a text stands here; empty where this text cannot."""

Fields = Mapping[str, msgspec.Raw]

# Marks of what a provider caches up to here: a part keeps its mark whatever stands in it, or the prefix is cached anew.
_MARKS = ("cache_control", "prompt_cache_breakpoint")

# What points into a text, and into no other text than the one it was made for.
_POINTERS = ("annotations", "citations", "logprobs")

_SEALS = ("signature", "thought_signature", "encrypted_content")
_EXTRAS = ("extra_content", "provider_specific_fields")


@dataclass(frozen=True, slots=True)
class PartNames:
    """What a dialect calls its parts: a ``text`` part of ours, the ``texts`` that clients send, and the kinds of
    ``media`` (pictures, files) in whose place a text may stand."""

    text: str
    texts: frozenset[str]
    media: frozenset[str]


def in_content(
    content: msgspec.Raw | None,
    words: PartNames,
    other: Callable[[str, Fields], Place | None] = lambda kind, fields: None,
) -> list[Place | None]:
    """The places of a content, a string or a list of parts; empty texts have none, as they are no parts.

    ``other`` knows the kinds that only one dialect has.
    """
    if is_string(content):
        return [] if _empty(content) else [free(content)]
    places: list[Place | None] = []
    for item in items_of(content):
        fields = fields_of(item)
        kind = string_of(fields.get("type"))
        if kind in words.texts and is_string(fields.get("text")):
            if not _empty(fields["text"]):
                places.append(None if sealed(fields) else partial(_text, fields))
        elif kind in words.media:
            places.append(None if sealed(fields) else partial(_instead, item, fields, words))
        else:
            places.append(other(kind, fields))
    return places


def result(content: msgspec.Raw | None, words: PartNames) -> Place | None:
    """The place of a tool's result: a string stays a string, a list becomes a list of one text.

    A list in which a part is neither text nor media is read by the server, and none is a content without either.
    """
    if is_string(content):
        return free(content)
    if content is None or not is_list(content):
        return None
    plain = words.texts | words.media
    items = [fields_of(item) for item in items_of(content)]
    if any(string_of(fields.get("type")) not in plain or sealed(fields) for fields in items):
        return None
    return partial(_list, content, items, words)


def arguments(raw: msgspec.Raw | None) -> Place | None:
    """The place of a function's arguments: a JSON object, spelt as the client has it, in a string or as it is."""
    if raw is not None and (is_string(raw) or is_object(raw)):
        return partial(_arguments, raw)
    return None


def free(raw: msgspec.Raw | None) -> Place | None:
    """The place of a string that may say anything."""
    return partial(_string, raw) if raw is not None and is_string(raw) else None


def sealed(fields: Fields) -> bool:
    """Whether a signature or an encryption covers what stands here: other content would break it."""
    if any(value_of(fields.get(name)) for name in _SEALS):
        return True
    return any(b"signature" in bytes(fields[name]) for name in _EXTRAS if name in fields)


def _empty(raw: msgspec.Raw | None) -> bool:
    return raw is not None and len(memoryview(raw)) == len('""')


def _string(raw: msgspec.Raw, text: str) -> list[Swap]:
    return [(raw, b'"' + escaped(text) + b'"')]


def _text(fields: Fields, text: str) -> list[Swap]:
    stale = [(fields[name], b"[]") for name in _POINTERS if items_of(fields.get(name))]
    return [*_string(fields["text"], text), *stale]


def _instead(item: msgspec.Raw, fields: Fields, words: PartNames, text: str) -> list[Swap]:
    return [(item, _marked(text_part(text, words.text), _mark_of(fields)))]


def _list(content: msgspec.Raw, items: Sequence[Fields], words: PartNames, text: str) -> list[Swap]:
    return [(content, b"[" + _marked(text_part(text, words.text), _last_mark(items)) + b"]")]


def _arguments(raw: msgspec.Raw, text: str) -> list[Swap]:
    try:
        if not isinstance(orjson.loads(text), dict):
            return []
    except orjson.JSONDecodeError:
        return []
    return _string(raw, text) if is_string(raw) else [(raw, text.strip().encode())]


def _marked(part: bytes, mark: bytes) -> bytes:
    return part[:-1] + mark + b"}" if mark else part


def _mark_of(fields: Fields) -> bytes:
    """The cache mark of a part, as it stands behind a part's other fields; else the last mark inside it."""
    mark = b"".join(b',"%b":%b' % (name.encode(), bytes(fields[name])) for name in _MARKS if value_of(fields.get(name)))
    if mark:
        return mark
    inside = [*items_of(fields.get("content")), *items_of(fields_of(fields.get("source")).get("content"))]
    return _last_mark([fields_of(item) for item in inside]) if inside else b""


def _last_mark(items: Sequence[Fields]) -> bytes:
    return next(filter(None, map(_mark_of, reversed(items))), b"")
