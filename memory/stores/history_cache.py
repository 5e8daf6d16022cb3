"""What the journal keeps at hand: the newest histories of sessions, and messages that were opened lately.

Both are only ever a shortcut: without them the same is read from the database.

Histories without repetition: a client sends all of its history again and again, and only its end is new.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
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
        self._by_session: WeighedDict[str, list[EarlierExchange]] = WeighedDict(room, _approximate_bytes)

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


def _approximate_bytes(pasts: Sequence[EarlierExchange]) -> int:
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


DIGEST = 16


def join(digests: Sequence[bytes]) -> bytes:
    """A joined history.

    Raises:
        ValueError: when a digest is not 16 bytes long.
    """
    if not {*map(len, digests)} <= {DIGEST}:
        raise ValueError(f"a digest has {DIGEST} bytes")
    return b"".join(digests)


def split(joined: bytes) -> tuple[bytes, ...]:
    """The inverse of :func:`join`."""
    return tuple([joined[start : start + DIGEST] for start in range(0, len(joined), DIGEST)])


def common(first: bytes, second: bytes) -> int:
    """How many digests two joined histories share from the front."""
    length = min(len(first), len(second)) // DIGEST
    if first[: length * DIGEST] == second[: length * DIGEST]:
        return length
    return bisect_right(range(length), 0, key=lambda n: first[: (n + 1) * DIGEST] != second[: (n + 1) * DIGEST])


def rebuild(links: Sequence[tuple[int, bytes]]) -> bytes:
    """A joined history out of its deltas ``(kept, joined tail)``: the newest first, the last complete in itself."""
    history = b""
    for count, tail in reversed(links):
        history = history[: count * DIGEST] + tail
    return history


def fresh(history: Sequence[bytes], start: int, seen: Mapping[bytes, int]) -> tuple[list[int], dict[bytes, int]]:
    """What is new from ``start`` on, where each digest has been ``seen`` so often in one request at most.

    The second "yes" of a session is new when no earlier request had more than one.

    Returns:
        The indices of what is new, and how often each digest from ``start`` on stands in the whole history.
    """
    times = dict.fromkeys(history[start:], 0)
    for digest in history[:start]:
        if digest in times:
            times[digest] += 1
    found = []
    for index in range(start, len(history)):
        digest = history[index]
        times[digest] += 1
        if times[digest] > seen.get(digest, 0):
            found.append(index)
    return found, times
