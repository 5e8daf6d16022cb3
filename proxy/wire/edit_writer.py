"""Carry out edits in a client's bytes: what is appended, what is replaced, what leaves. All other bytes stay.

What stands behind a replaced content stands there as if the client itself had sent the new content, so that it is
all one whether a text was appended before its message was shed or after.

The kinds of places that the dialects share: a string, a text part, a picture's part, a result's content, arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec
import orjson

from memory.edits import Append, Drop, Edit, Replace
from proxy.wire.dialect import RequestView
from proxy.wire.slices import fields_of, is_list, is_object, is_string, items_of, span, string_of, value_of
from proxy.wire.splice import Splice, escaped, spliced, text_part

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
    return [(item, _marked(text_part(text, words.text), _cache_mark_of(fields)))]


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


def _cache_mark_of(fields: Fields) -> bytes:
    """The cache mark of a part, as it stands behind a part's other fields; else the last mark inside it."""
    mark = b"".join(b',"%b":%b' % (name.encode(), bytes(fields[name])) for name in _MARKS if value_of(fields.get(name)))
    if mark:
        return mark
    inside = [*items_of(fields.get("content")), *items_of(fields_of(fields.get("source")).get("content"))]
    return _last_mark([fields_of(item) for item in inside]) if inside else b""


def _last_mark(items: Sequence[Fields]) -> bytes:
    return next(filter(None, map(_cache_mark_of, reversed(items))), b"")


PlacesOf = Callable[[msgspec.Raw], Sequence[Place | None]]
"""A message's slice → where its parts stand."""

AppendTo = Callable[[bytes, msgspec.Raw, Sequence[Append]], list[Splice]]
"""The splices that append to a message: the text that its slice was cut from, the slice, what is appended."""


@dataclass(slots=True)
class MessageEdits:
    """What is asked of one message."""

    appends: list[Append] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)


def by_message(edits: Sequence[Edit], count: int) -> dict[int, MessageEdits]:
    """What is asked of each message. Appended texts stay in their order; of a part the last text holds; empty texts
    ask nothing; what leaves is asked nothing more (:func:`leaving`).

    Raises:
        IndexError: an edit names a message that is not there.
    """
    edits_by_message: dict[int, MessageEdits] = {}
    for edit in edits:
        if not 0 <= edit.message < count:
            raise IndexError(f"edit of message {edit.message} of {count}")
        if isinstance(edit, Drop):
            continue
        of = edits_by_message.setdefault(edit.message, MessageEdits())
        match edit:
            case Append(_, text, _) if text:
                of.appends.append(edit)
            case Replace(_, part, text) if text.strip():
                of.texts[part] = text
    return edits_by_message


def leaving(edits: Sequence[Edit], count: int) -> set[int]:
    """The messages that leave.

    Raises:
        IndexError: an edit names a message that is not there.
    """
    found: set[int] = set()
    for edit in edits:
        if isinstance(edit, Drop):
            if edit.messages.stop > count:
                raise IndexError(f"edit of message {edit.messages.stop - 1} of {count}")
            found.update(edit.messages)
    return found


def written(view: RequestView, edits: Sequence[Edit], places_of: PlacesOf, append_to: AppendTo) -> bytes:
    """The body with the edits made, the very same object if there are none."""
    splices: list[Splice] = []
    gone = leaving(edits, len(view.items))
    for index, message_edits in by_message(edits, len(view.items)).items():
        if index not in gone:
            splices += _message_splices(view, view.items[index], message_edits, places_of, append_to)
    return spliced(view.body, [*splices, *_dropping_splices(view, gone)])


def _message_splices(
    view: RequestView, item: msgspec.Raw, message_edits: MessageEdits, places_of: PlacesOf, append_to: AppendTo
) -> Sequence[Splice]:
    text = view.cut_from
    replacing = list(_replacing(text, item, message_edits.texts, places_of)) if message_edits.texts else []
    if not replacing:
        return append_to(text, item, message_edits.appends) if message_edits.appends else []
    if not message_edits.appends:
        return replacing
    # Where text can be appended is seen only when the new content stands: the message is cut once more.
    start, end = span(text, item)
    moved = [Splice(splice.start - start, splice.end - start, splice.new) for splice in replacing]
    cut = spliced(text[start:end], moved)
    appending = append_to(cut, msgspec.Raw(cut), message_edits.appends)
    return [Splice(start, end, spliced(spliced(view.body[start:end], moved), appending))]


def _replacing(text: bytes, item: msgspec.Raw, texts: dict[int, str], places_of: PlacesOf) -> Iterator[Splice]:
    places = places_of(item)
    for part, new in texts.items():
        place = places[part] if 0 <= part < len(places) else None
        for raw, swapped in place(new) if place is not None else ():
            yield Splice(*span(text, raw), swapped)


def _dropping_splices(view: RequestView, gone: set[int]) -> Iterator[Splice]:
    """Messages leave in runs, each with one comma for each message: those behind it, at the list's end those before."""
    items, text = view.items, view.cut_from
    for first in sorted(gone):
        if first - 1 in gone:
            continue
        behind = first + 1
        while behind in gone:
            behind += 1
        start, end = span(text, items[first])[0], span(text, items[behind - 1])[1]
        if behind < len(items):
            yield Splice(start, span(text, items[behind])[0], b"")
        else:
            yield Splice(span(text, items[first - 1])[1] if first else start, end, b"")
