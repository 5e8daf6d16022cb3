"""What the journal keeps at hand: the newest histories of sessions, and messages that were opened lately.

Both are only ever a shortcut: without them the same is read from the database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from memory.conversation import Message, Role, Text
from memory.lru import WeighedDict
from memory.stores.base import ask_many
from memory.stores.connection import Connection
from memory.stores.messages import size_of, unseal

# How many of a session's last exchanges are tried as a base: a side request may stand between two turns.
BASES = 3


@dataclass(frozen=True, slots=True)
class EarlierExchange:
    """A committed exchange that a later one may build on.

    ``history`` is joined (see ``histories``); ``link`` is the last link of its trail, empty where it is not known.
    """

    number: int
    depth: int
    history: bytes
    link: bytes = b""


class RecentHistories:
    """The last exchanges of the sessions that are alive, in at most ``room`` bytes of memory."""

    def __init__(self, room: int = 4 << 20) -> None:
        self._by_session: WeighedDict[str, list[EarlierExchange]] = WeighedDict(room, _weight)

    def of(self, session: str) -> list[EarlierExchange]:
        """A session's last exchanges, the newest first; empty where nothing is at hand."""
        with self._by_session.lock:
            return list(self._by_session.get(session, ()))

    def remember(self, session: str, past: EarlierExchange) -> None:
        """An exchange of the session was committed."""
        with self._by_session.lock:
            exchanges = [past, *self._by_session.get(session, ())]
            self._by_session.put(session, sorted(exchanges, key=lambda each: -each.number)[:BASES])

    def clear(self) -> None:
        """Forget all of it."""
        self._by_session.clear()


def _weight(pasts: Sequence[EarlierExchange]) -> int:
    """About how many bytes a session's exchanges take; 0 where there are none."""
    return sum(len(each.history) + 300 for each in pasts)


class OpenedMessages:
    """Messages read from the journal, in at most ``room`` bytes of memory."""

    def __init__(self, room: int = 6 << 20) -> None:
        self._cache: WeighedDict[tuple[int, bytes], tuple[Message, int]] = WeighedDict(room, itemgetter(1))

    def get(self, connection: Connection, person: int, digests: Sequence[bytes]) -> dict[bytes, Message]:
        """Each of these messages; a placeholder for one that is missing or unreadable, so that one damaged row
        does not stop the worker for ever."""
        found = self.at_hand(person, digests)
        missing = [key for key in digests if key not in found]
        opened: list[tuple[Message, int]] = []
        for row in ask_many(connection, "messages_get", missing, (person,)):
            try:
                # Unpacked it is about four times as large, and has its objects.
                opened.append((unseal(row["digest"], row["role"], row["body"]), 4 * len(row["body"]) + 1000))
            except ValueError:
                continue
        for message, _ in opened:
            found[message.digest] = message
        self._put(person, opened)
        for key in missing:
            found.setdefault(key, Message(Role.OTHER, (Text("[unreadable]"),), key))
        return found

    def at_hand(self, person: int, digests: Sequence[bytes]) -> dict[bytes, Message]:
        """Those of these messages that need not be read."""
        found: dict[bytes, Message] = {}
        with self._cache.lock:
            for key in digests:
                if (hit := self._cache.get((person, key))) is not None:
                    self._cache.move_to_end((person, key))
                    found[key] = hit[0]
        return found

    def clear(self) -> None:
        """Forget all of it."""
        self._cache.clear()

    def keep(self, person: int, messages: Sequence[Message]) -> None:
        """These were written, and are read so."""
        self._put(person, [(message, 2 * size_of(message) + 1000) for message in messages])

    def _put(self, person: int, opened: Sequence[tuple[Message, int]]) -> None:
        with self._cache.lock:
            for message, size in opened:
                if (person, message.digest) not in self._cache:
                    self._cache.put((person, message.digest), (message, size))
