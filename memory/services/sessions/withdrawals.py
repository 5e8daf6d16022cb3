"""What of sessions' ledgers is still to be taken back from the journal: it was written before a request that its
provider then refused for it.

It is kept by session, and not with the session that is alive: one that is let go of and read again must not be told
what no provider has read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memory.edits import Entry
from memory.session import Session


class Withdrawals:
    """The entries of each session that stand in the journal and are not to. Entries are known as they lie on a disk."""

    def __init__(self) -> None:
        self._due: dict[str, tuple[str, tuple[Entry, ...]]] = {}

    def add(self, session: Session, entries: Iterable[Entry]) -> None:
        """These are to be taken back."""
        _, before = self._due.get(session.id, ("", ()))
        self._due[session.id] = session.key, tuple(dict.fromkeys((*before, *entries)))

    def of(self, session: str) -> tuple[Entry, ...]:
        """What is to be taken back of one session."""
        return self._due.get(session, ("", ()))[1]

    def settled(self, session: str, entries: Iterable[Entry]) -> None:
        """These are no longer to be taken back: they are gone, or stand by right."""
        if session not in self._due:
            return
        done = {entry.at_rest() for entry in entries}
        key, due = self._due.pop(session)
        if left := tuple(entry for entry in due if entry.at_rest() not in done):
            self._due[session] = key, left

    def without(self, session: str, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Of a ledger as the journal has it, what stands by right."""
        if session not in self._due:
            return entries
        due = {entry.at_rest() for entry in self.of(session)}
        return [entry for entry in entries if entry.at_rest() not in due]

    def sessions(self) -> dict[str, str]:
        """The keys of all sessions that something is to be taken back of, by their ids."""
        return {id: key for id, (key, _) in self._due.items()}
