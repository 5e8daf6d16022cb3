"""Edits: the only way to change a request, and the ledger that makes them again.

A client sends its history again and again without what we added. So that the provider sees one growing prefix,
each decision about a message is written down under the message's digest and its occurrence, the decision to add
nothing included, and is made again in the same bytes for as long as the client sends that message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memory.conversation import Form


@dataclass(frozen=True, slots=True)
class Append:
    """Text that stands behind a message's own content. ``message`` is the index in the request."""

    message: int
    text: str
    form: Form


Edit = Append


Key = tuple[bytes, int]
"""A message's place in a ledger: its digest, and how many earlier messages have the same."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision of the ledger: this text at this message, or, with an empty text, nothing.

    ``memories`` are the ids of what the text holds. ``reason`` begins with ``page`` or ``recall`` and says why
    nothing was added where nothing was.
    """

    digest: bytes
    occurrence: int
    text: str
    form: Form
    reason: str
    memories: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        """Where it stands."""
        return self.digest, self.occurrence


class Ledger:
    """A session's decisions, append-only: at a message, later entries follow earlier ones and none is replaced.

    Its questions take the keys of a request's messages, in order (:meth:`Conversation.keys`).
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._at: dict[Key, list[Entry]] = {}
        for entry in entries:
            self.write(entry)

    def write(self, entry: Entry) -> None:
        """Add a decision behind those that stand at the same message."""
        self._at.setdefault(entry.key, []).append(entry)

    def standing(self, keys: Sequence[Key]) -> list[tuple[int, Entry]]:
        """The decisions at the messages of a request, each with the index of its message."""
        if not self._at:
            return []
        return [(index, entry) for index, key in enumerate(keys) for entry in self._at.get(key, ())]

    def edits(self, keys: Sequence[Key]) -> tuple[Append, ...]:
        """The edits that a request needs, in the order of its messages."""
        return tuple(Append(index, entry.text, entry.form) for index, entry in self.standing(keys) if entry.text)

    def __iter__(self) -> Iterator[Entry]:
        for entries in self._at.values():
            yield from entries

    def __len__(self) -> int:
        return sum(map(len, self._at.values()))
