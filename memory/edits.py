"""Edits: the only way to change a request, and the ledger that makes them again.

A client sends its history again and again without what we did to it. So that the provider sees one growing prefix,
each decision about a message is written down under the message's digest and its occurrence, the decision to add
nothing included, and is made again in the same bytes for as long as the client sends that message.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from memory.conversation import Form


class ContentTier(StrEnum):
    """How much of a content is given: one line, an overview, or the whole."""

    L0 = "L0"
    L1 = "L1"
    L2 = "L2"


@dataclass(frozen=True, slots=True)
class Append:
    """Text that stands behind a message's own content. ``message`` is the index in the request."""

    message: int
    text: str
    form: Form


@dataclass(frozen=True, slots=True)
class Replace:
    """Text in the place of one part's content; the message, the part and their ids stay.

    ``part`` is the index in :attr:`Message.parts`. Of a tool's result the content becomes this one text; a text
    becomes this text; a picture becomes a text part; of a tool call the arguments become this JSON text.
    """

    message: int
    part: int
    text: str


@dataclass(frozen=True, slots=True)
class Drop:
    """``count`` messages from this one on leave the request. Only a rotation does that, and whole groups at a time."""

    message: int
    count: int = 1

    @property
    def messages(self) -> range:
        """The messages that leave."""
        return range(self.message, self.message + self.count)


@dataclass(frozen=True, slots=True)
class Insert:
    """What stands behind a message and the client does not send: the hidden rounds of the reply that followed it.

    ``raw`` is JSON in a form that the dialect wrote itself and reads again (``proxy.wire.rounds``); it says how the
    client's own copy of that reply is known, too, and where it is another one, nothing is inserted.
    """

    message: int
    raw: str


Edit = Append | Replace | Drop | Insert


Key = tuple[bytes, int]
"""A message's place in a ledger: its digest, and how many earlier messages have the same."""


def handle(digest: bytes, part: int) -> str:
    """The name of a shed content, in a stub: by it the whole can be had again. Made of the message and the part."""
    return f"{digest[:6].hex()}.{part}"


def named(handle: str) -> tuple[str, int] | None:
    """The beginning of a message's digest (hexadecimal) and the part that a handle names; None where it is none."""
    found = _HANDLE.fullmatch(handle.strip().lower())
    return (found["digest"], int(found["part"] or 0)) if found else None


_HANDLE = re.compile(r"(?:#|p:)?(?P<digest>[0-9a-f]{8,32})(?:\.(?P<part>\d{1,4}))?")


PAGE = "page"
"""What the entry of MEMORY.md is about."""

ROTATE = "rotate"
"""What the entry of a cut is about."""

PAGED = "paged"
"""What an entry is about that brings back something that was shed."""


class Act(StrEnum):
    """What an entry does at its message.

    ``APPEND`` adds text; ``REPLACE`` puts text in a part's place (the last one written holds); ``CUT`` begins a
    segment there: what stood between the request's head and this message leaves, what was appended to the head in
    earlier segments too, and the entry's text stands at the head instead. ``INSERT`` keeps the hidden rounds of the
    reply to this message (the last one written holds; an empty one says that the newest reply has none). ``OFFER``
    stands at no message but at :data:`OFFERED`: its text is the definitions of the tools that the session offers.
    """

    APPEND = "append"
    REPLACE = "replace"
    CUT = "cut"
    INSERT = "insert"
    OFFER = "offer"


OFFERED: Key = (bytes(16), 0)
"""Where a ledger keeps what holds for all of a session's requests: a place that no message has."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision of the ledger: this text at this message, or, with an empty text, nothing.

    ``memories`` are the ids of what the text holds. ``reason`` begins with one word that says what was decided about
    (``page``, ``recall``, ``paged``, ``shed``, ``rotate``), and says why nothing was added where nothing was.
    ``part`` and ``tier`` are of a ``REPLACE``: which part, and what of it is left. ``stored`` is what is written to
    disk in the text's place where a secret stands in it; None where the text itself is.
    """

    digest: bytes
    occurrence: int
    text: str
    form: Form
    reason: str
    memories: tuple[str, ...] = ()
    act: Act = Act.APPEND
    part: int = 0
    tier: ContentTier = ContentTier.L2
    stored: str | None = None

    @property
    def key(self) -> Key:
        """Where it stands."""
        return self.digest, self.occurrence

    @property
    def about(self) -> str:
        """What it decides about: the first word of its reason."""
        return self.reason.partition(" ")[0]

    def at_rest(self) -> Entry:
        """The entry as it may lie on a disk. Whoever writes one there writes this."""
        return self if self.stored is None else replace(self, text=self.stored, stored=None)


def texts_by_memory(entries: Iterable[Entry]) -> dict[str, str]:
    """The memories that some entries hold, by their ids, each with the text that it stands in."""
    texts: dict[str, str] = {}
    for entry in entries:
        for id in entry.memories:
            texts[id] = f"{texts[id]}\n{entry.text}" if id in texts else entry.text
    return texts


@dataclass(frozen=True, slots=True)
class ActiveEdits:
    """What of a ledger holds for one request.

    ``entries`` are the appending ones, each with the index of its message, in the order of the messages; a cut
    is among them, with the index of the head's last message. ``replaced`` are those that hold, by message and part;
    ``dropped`` are the messages that left; ``inserted`` are hidden rounds, by the message that they stand behind.
    """

    entries: tuple[tuple[int, Entry], ...] = ()
    replaced: Mapping[tuple[int, int], Entry] = field(default_factory=dict)
    dropped: range = range(0)
    inserted: Mapping[int, Entry] = field(default_factory=dict)

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits that the request needs, in the order of its messages."""
        edits: list[Edit] = [Replace(message, part, entry.text) for (message, part), entry in self.replaced.items()]
        edits += [Append(index, entry.text, entry.form) for index, entry in self.entries if entry.text]
        edits += [Drop(self.dropped.start, len(self.dropped))] if self.dropped else []
        edits += [Insert(index, entry.text) for index, entry in self.inserted.items() if entry.text]
        return tuple(sorted(edits, key=lambda edit: edit.message))


_OVERHEAD = 800
"""Bytes that an entry takes beside its text."""


class _Packed:
    """A cut that does not stand in the request: its note, which is long, is kept small."""

    __slots__ = ("_bare", "_text", "act", "key")

    def __init__(self, entry: Entry) -> None:
        self.act, self.key = entry.act, entry.key
        self._bare = replace(entry, text="")
        self._text = zlib.compress(entry.text.encode("utf-8", "surrogatepass"), 1)

    @property
    def weight(self) -> int:
        """Bytes that it takes, about."""
        return _OVERHEAD + len(self._text) + len(self._bare.stored or "")

    def whole(self) -> Entry:
        """The entry as it was written."""
        return replace(self._bare, text=zlib.decompress(self._text).decode("utf-8", "surrogatepass"))


class Ledger:
    """A session's decisions, append-only: at a message, later entries follow earlier ones and none is taken out.

    Its questions take the keys of a request's messages, in order (:meth:`Conversation.keys`), and its head: how
    many messages there are up to and with the first in which a person spoke (:attr:`Conversation.head`).
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._at: dict[Key, list[Entry | _Packed]] = {}
        self._replaces = False
        self._cuts = False
        self._inserts = False
        # A session has one note after the other, and one at a time stands in its requests: this one is whole.
        self._note: Entry | None = None
        self.weight = 0
        """About how many bytes it takes in memory."""
        for entry in entries:
            self.write(entry)

    def write(self, entry: Entry) -> None:
        """Add a decision behind those that stand at the same message."""
        self._at.setdefault(entry.key, []).append(entry)
        self.weight += _weight(entry)
        self._replaces = self._replaces or entry.act is Act.REPLACE
        self._cuts = self._cuts or entry.act is Act.CUT
        self._inserts = self._inserts or entry.act is Act.INSERT
        if entry.act is Act.CUT:
            self._unpack(entry)

    def takes(self, entry: Entry) -> bool:
        """Whether something is still to be decided by an entry. Of a message's page, and of its recall, the first
        decision stands; of what stands in a part's place the last one does."""
        same = [
            each
            for each in self.at([entry.key])
            if (each.about, each.act, each.part) == (entry.about, entry.act, entry.part)
        ]
        return not same or (entry.act is Act.REPLACE and same[-1].text != entry.text)

    def with_more(self, more: Iterable[Entry]) -> Ledger:
        """A copy that holds some decisions more."""
        copy = Ledger()
        copy._at = {key: list(entries) for key, entries in self._at.items()}
        copy._replaces, copy._cuts, copy._inserts = self._replaces, self._cuts, self._inserts
        copy._note, copy.weight = self._note, self.weight
        for entry in more:
            copy.write(entry)
        return copy

    def at(self, keys: Iterable[Key]) -> list[Entry]:
        """All that was ever decided at these messages."""
        return [_whole(entry) for key in keys for entry in self._at.get(key, ())]

    def active(self, keys: Sequence[Key], head: int) -> ActiveEdits:
        """What holds for a request."""
        if not self._at:
            return ActiveEdits()
        begin, cut = self._last_segment_start(keys, head) if self._cuts and head > 0 else (head, None)
        # What a cut took out is not looked at: of a session without end that is nearly all of it.
        places = (*range(head), *range(begin, len(keys))) if cut is not None else range(len(keys))
        at = [(index, entry) for index in places for entry in self._at.get(keys[index], ()) if isinstance(entry, Entry)]
        if not self._replaces and not self._cuts and not self._inserts:
            return ActiveEdits(tuple(at))
        entries = [(index, entry) for index, entry in at if entry.act is Act.APPEND]
        if cut is not None:
            entries = [(head - 1, cut), *((index, entry) for index, entry in entries if index >= begin)]
        replaced = {
            (index, entry.part): entry for index, entry in at if entry.act is Act.REPLACE and not head <= index < begin
        }
        # What was paged in at a message goes with the rest of it when that is shed: the prefix moves there anyway.
        shortened = {index for index, _ in replaced}
        entries = [(index, entry) for index, entry in entries if entry.about != PAGED or index not in shortened]
        # Behind the head's last message stands what a cut took out.
        first_kept = begin if cut is not None else 0
        inserted = {index: entry for index, entry in at if entry.act is Act.INSERT and index >= first_kept}
        return ActiveEdits(tuple(entries), replaced, range(head, begin), inserted)

    def _last_segment_start(self, keys: Sequence[Key], head: int) -> tuple[int, Entry | None]:
        """Where the newest segment of a request begins, and the cut that began it; the head where there is none."""
        for index in range(len(keys) - 1, head - 1, -1):
            for entry in reversed(self._at.get(keys[index], ())):
                if entry.act is Act.CUT:
                    return index, self._unpack(entry)
        return head, None

    def _unpack(self, cut: Entry | _Packed) -> Entry:
        """A cut that stands in a request, whole; the one that did before is packed. A client that goes back behind a
        cut has an earlier one's note again."""
        if cut is self._note:
            return self._note
        if self._note is not None:
            self._replace(self._note, _Packed(self._note))
        self._note = _whole(cut)
        if self._note is not cut:
            self._replace(cut, self._note)
        return self._note

    def _replace(self, old: Entry | _Packed, new: Entry | _Packed) -> None:
        entries = self._at[old.key]
        entries[next(at for at, each in enumerate(entries) if each is old)] = new
        self.weight += _weight(new) - _weight(old)

    @property
    def offers(self) -> str:
        """The definitions of the tools that the session offers beside the client's; empty where it offers none."""
        return next((entry.text for entry in self.at([OFFERED]) if entry.act is Act.OFFER), "")

    @property
    def shed(self) -> bool:
        """Whether it has ever put less in the place of what a client sends: then the client's own bytes may not fit."""
        return self._replaces or self._cuts

    def __iter__(self) -> Iterator[Entry]:
        for entries in self._at.values():
            yield from map(_whole, entries)

    def __len__(self) -> int:
        return sum(map(len, self._at.values()))


def _whole(entry: Entry | _Packed) -> Entry:
    return entry.whole() if isinstance(entry, _Packed) else entry


def _weight(entry: Entry | _Packed) -> int:
    if isinstance(entry, _Packed):
        return entry.weight
    return _OVERHEAD + len(entry.text) + len(entry.stored or "")
