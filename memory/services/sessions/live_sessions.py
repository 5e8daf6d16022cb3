"""What is kept in memory of the sessions that are alive: their ledgers, where their requests ended, and what of their
ledgers is still to be taken back from the journal. What is not kept is read again from the journal.

What is to be taken back is kept by session, and not with the session that is alive: one that is let go of and read
again must not be told what no provider has read.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import islice

from memory.conversation import Conversation, Message
from memory.edits import Entry, Ledger
from memory.lru import LruDict
from memory.ports import Journal
from memory.services.sessions.continuation import ENOUGH, HistoryIndex, telling_messages
from memory.services.sessions.live import LiveSession
from memory.session import Arrival, Session


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


END = 4
"""Messages at the end of a session's newest request of which one must stand in a history that goes on from there."""

MAX_SESSIONS = 1024
"""Sessions kept in memory; the others are read again from the journal."""

MAX_LEDGER_BYTES = 16 * 2**20
"""Bytes of their ledgers, beyond which those that were not heard of for longest are read again, too."""

QUIET = timedelta(minutes=5)
"""For how long they were not: a reply may still be under way."""

LINKS = 4 * MAX_SESSIONS
"""Ends of requests that are kept in memory, about 250 bytes each."""

AT_ONCE = 200
"""Entries of a ledger from which on it is put together in a thread: the notes of its earlier segments are packed."""

LOOKED_AT = 8
"""Sessions at most that are looked at with each request, whether they can go."""


class LiveSessions:
    """The sessions that are alive: by id, by key, and by the trail of a history."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._live: OrderedDict[str, LiveSession] = OrderedDict()
        self._by_key: dict[str, str] = {}
        self._by_link: OrderedDict[tuple[str, bytes], tuple[str, int, bool]] = OrderedDict()
        self._waiting: LruDict[tuple[str, bytes], tuple[Entry, ...]] = LruDict(MAX_SESSIONS)
        self._familiar = HistoryIndex()
        self._bytes = 0
        self.withdrawals = Withdrawals()

    def __len__(self) -> int:
        return len(self._live)

    def get(self, id: str) -> LiveSession | None:
        """A session by its id, as far as it is kept."""
        return self._live.get(id)

    def by_known_key(self, key: str) -> LiveSession | None:
        """A session by its key, as far as it is kept."""
        id = self._by_key.get(key)
        return self._live.get(id) if id else None

    async def by_key(self, key: str) -> LiveSession | None:
        """A session by its key, the journal asked as well."""
        live = self.by_known_key(key)
        if live is None:
            session = await self._journal.session_by_key(key)
            live = await self.load(session) if session else None
        return live

    def by_trail(self, namespace: str, trail: Sequence[bytes]) -> tuple[LiveSession, int] | None:
        """Of those that are kept, the session that went furthest along a trail, and how many messages it shares."""
        for shared in range(len(trail), 0, -1):
            hit = self._by_link.get((namespace, trail[shared - 1]))
            live = self._live.get(hit[0]) if hit else None
            if live is not None:
                return live, shared
        return None

    def is_contested(self, namespace: str, link: bytes) -> bool:
        """Whether requests of several sessions ended there: whose another one is that goes on from it, only the reply
        tells, which the journal knows."""
        hit = self._by_link.get((namespace, link))
        return hit is not None and hit[2]

    async def stored_by_trail(self, namespace: str, trail: Sequence[bytes]) -> tuple[LiveSession, int] | None:
        """The same of those in the journal."""
        hit = await self._journal.session_by_trail(namespace, trail)
        if hit is None:
            return None
        session, shared, at_tip = hit
        live = await self.load(session)
        if not live.tip:
            live.tip = trail[shared - 1] if at_tip else b"elsewhere"
        return live, shared

    def with_history(self, whose: str, messages: Sequence[Message]) -> LiveSession | None:
        """The session in which most of a history was heard, as far as it is kept."""
        id = self._familiar.session(whose, messages)
        return self._live.get(id) if id else None

    async def stored_with_history(self, namespace: str, messages: Sequence[Message]) -> LiveSession | None:
        """The same of those in the journal that no key names."""
        telling = telling_messages(messages)
        hit = await self._journal.session_by_messages(namespace, sorted(telling), END) if telling else None
        if hit is None or hit[1] < ENOUGH:
            return None
        live = await self.load(hit[0])
        live.end = live.end or hit[2]
        return live

    def wait(self, namespace: str, link: bytes, entries: Sequence[Entry]) -> None:
        """Keep what was decided at the end of a trail until the session of that is known."""
        self._waiting.put((namespace, link), tuple(entries))

    def waiting(self, namespace: str, link: bytes) -> tuple[Entry, ...]:
        """What is kept so."""
        return self._waiting.get((namespace, link), ())

    def arrived(
        self, live: LiveSession, key: str | None, trail: Sequence[bytes], arrival: Arrival, conversation: Conversation
    ) -> LiveSession:
        """Remember when a session's newest request came, how far it went, and what was decided while the session was
        not known."""
        if arrival.at > live.session.seen_at:
            credential = arrival.credential or live.session.credential
            live.session = replace(live.session, seen_at=arrival.at, credential=credential)
        if live.session.id in self._live:
            self._live.move_to_end(live.session.id)
            self._make_room(live)
        if arrival.kind.teaches and trail:
            opening = trail[max(conversation.head, 1) - 1]
            if live.opening not in (b"", opening):
                # The client has changed the very beginning: no provider has the rest in its cache.
                live.read_at = None
            live.opening, live.tip = opening, trail[-1]
            live.end = tuple(message.digest for message in conversation.messages[-END:])
            self._familiar.heard(arrival.whose, live.session.id, conversation.messages)
            self.ends_at(live, arrival.namespace, trail[-1], len(trail))
            while len(self._by_link) > LINKS:
                self._by_link.popitem(last=False)
            if self._waiting:
                for link in trail:
                    live.decide(self._waiting.pop((key or arrival.namespace, link), ()))
        return live

    def ends_at(self, live: LiveSession, namespace: str, link: bytes, length: int) -> None:
        """Remember where a request of a session ended."""
        before = self._by_link.get((namespace, link))
        contested = before is not None and (before[2] or before[0] != live.session.id)
        self._by_link[(namespace, link)] = (live.session.id, length, contested)

    async def load(self, session: Session) -> LiveSession:
        """A session that the journal has, with its ledger."""
        live = self._live.get(session.id)
        if live is None:
            entries = self.withdrawals.without(session.id, await self._journal.ledger(session.id))
            long = len(entries) > AT_ONCE
            ledger = await asyncio.to_thread(Ledger, entries) if long else Ledger(entries)
            # What leaves in haste must not be pinned, also where no plan was made since a start.
            pinned = await self._journal.pinned(session.id) if ledger.shed else frozenset[str]()
            live = self.add(LiveSession(session, ledger, known=True, read_at=session.seen_at, pinned=pinned))
        return live

    def add(self, live: LiveSession) -> LiveSession:
        """Keep a session; the one that is kept where another task was first."""
        known = self._live.setdefault(live.session.id, live)
        self._by_key[known.session.key] = known.session.id
        self._live.move_to_end(known.session.id)
        self._make_room(known)
        return known

    def drop(self, live: LiveSession) -> None:
        """A session that was begun here is none: another process had begun it."""
        if self._live.pop(live.session.id, None) is not None:
            self._bytes -= live.weighed
        self._drop_key(live)
        for link in [link for link, (id, *_) in self._by_link.items() if id == live.session.id]:
            del self._by_link[link]

    def forget(self) -> None:
        """Drop everything, after the journal was changed beneath it."""
        self._live.clear()
        self._bytes = 0
        self._by_key.clear()
        self._by_link.clear()
        self._familiar.forget()

    def _drop_key(self, live: LiveSession) -> None:
        if self._by_key.get(live.session.key) == live.session.id:
            del self._by_key[live.session.key]

    def _make_room(self, live: LiveSession) -> None:
        """Let go of those that were not heard of for longest, but for those that something is still done with."""
        self._bytes += live.ledger.weight - live.weighed
        live.weighed = live.ledger.weight
        for gone in list(islice(self._live.values(), LOOKED_AT)):
            if len(self._live) <= MAX_SESSIONS and self._bytes <= MAX_LEDGER_BYTES:
                return
            quiet = live.session.seen_at - gone.session.seen_at > QUIET
            # What is not written yet would be lost with it; where nothing can be written, there is an end to that.
            may_go = gone.idle or len(self._live) > 2 * MAX_SESSIONS
            if gone is not live and may_go and (quiet or len(self._live) > MAX_SESSIONS):
                del self._live[gone.session.id]
                self._bytes -= gone.weighed
                self._drop_key(gone)
