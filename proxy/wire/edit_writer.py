"""Carry out edits in a client's bytes: what is appended, what is replaced, what leaves. All other bytes stay.

What stands behind a replaced content stands there as if the client itself had sent the new content, so that it is
all one whether a text was appended before its message was shed or after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from memory.edits import Append, Drop, Edit, Replace
from proxy.wire.dialect import RequestView
from proxy.wire.place import Place
from proxy.wire.slices import span
from proxy.wire.splice import Splice, spliced

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
            splices += _changed(view, view.items[index], message_edits, places_of, append_to)
    return spliced(view.body, [*splices, *_without(view, gone)])


def _changed(
    view: RequestView, item: msgspec.Raw, message_edits: MessageEdits, places_of: PlacesOf, append_to: AppendTo
) -> Sequence[Splice]:
    """The splices in one message that stays."""
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


def _without(view: RequestView, gone: set[int]) -> Iterator[Splice]:
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
