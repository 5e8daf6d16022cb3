"""Edits: the only way to change a request, and the ledger that makes them again.

A client sends its history again and again without what we added. So that the provider sees one growing prefix,
each decision about a message is written down under the message's digest and its occurrence, the decision to add
nothing included, and is made again in the same bytes for as long as the client sends that message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from memory.conversation import Conversation, Form


@dataclass(frozen=True, slots=True)
class Append:
    """Text that stands behind a message's own content. ``message`` is the index in the request."""

    message: int
    text: str
    form: Form


Edit = Append


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision of the ledger: this text at this message, or, with an empty text, nothing.

    ``memories`` are the ids of what the text holds, ``reason`` is ``page``, ``recall`` or why nothing was added.
    """

    digest: bytes
    occurrence: int
    text: str
    form: Form
    reason: str
    memories: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[bytes, int]:
        """Where it stands."""
        return self.digest, self.occurrence


class Ledger:
    """A session's decisions, append-only: at a message, later entries follow earlier ones and none is replaced."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._at: dict[tuple[bytes, int], list[Entry]] = {}
        for entry in entries:
            self.write(entry)

    def write(self, entry: Entry) -> None:
        """Add a decision behind those that stand at the same message."""
        self._at.setdefault(entry.key, []).append(entry)

    def at(self, digest: bytes, occurrence: int) -> tuple[Entry, ...]:
        """The decisions at one message; empty where none was ever taken."""
        return tuple(self._at.get((digest, occurrence), ()))

    def decided(self, digest: bytes, occurrence: int) -> bool:
        """Whether recall was decided here (a page alone leaves that open)."""
        return any(entry.reason != "page" for entry in self._at.get((digest, occurrence), ()))

    def edits(self, conversation: Conversation) -> tuple[Append, ...]:
        """The edits that this request needs, in the order of its messages."""
        if not self._at:
            return ()
        made: list[Append] = []
        for index, (message, occurrence) in enumerate(
            zip(conversation.messages, conversation.occurrences(), strict=True)
        ):
            at = self._at.get((message.digest, occurrence), ())
            made.extend(Append(index, entry.text, entry.form) for entry in at if entry.text)
        return tuple(made)

    def memories(self, conversation: Conversation) -> frozenset[str]:
        """The ids of all memories that stand in this request through the ledger."""
        present: set[str] = set()
        for message, occurrence in zip(conversation.messages, conversation.occurrences(), strict=True):
            for entry in self._at.get((message.digest, occurrence), ()):
                present.update(entry.memories)
        return frozenset(present)

    def __iter__(self) -> Iterator[Entry]:
        for entries in self._at.values():
            yield from entries

    def __len__(self) -> int:
        return sum(map(len, self._at.values()))
