"""Which session a request belongs to, and what is kept in memory of the sessions that are alive.

A runtime's own id decides where there is one. Otherwise the trail does: the chain of message hashes, of which a
client's next request is an extension. Openings collide ("hi"), so a trail that only shares an opening is a new
session; a history that was made under a session's ledger inherits what was written there, whatever it became.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice
from weakref import WeakValueDictionary

from memory.conversation import Conversation, Message, Role
from memory.edits import OFFERED, Act, Entry, Ledger
from memory.ports import Journal
from memory.scope import OWN_PROJECT
from memory.services.sessions.continuation import HistoryIndex, began_in_session, goes_on, in_common
from memory.services.sessions.live import LiveSession, held_out
from memory.services.sessions.withdrawals import Withdrawals
from memory.session import Arrival, Exchange, Pending, Session

END = 4
"""Messages at the end of a session's newest request of which one must stand in a history that goes on from there."""

MAX_SESSIONS = 4096
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


def in_own_namespace(arrival: Arrival) -> Arrival:
    """The arrival with a namespace of its credential *and* its scope: no other owner's request can name, or come
    upon, a session in it."""
    scope = arrival.scope
    owner = (arrival.namespace, scope.org or "", scope.user or "")
    return replace(arrival, namespace=_hashed(*owner, scope.project or ""), whose=_hashed(*owner))


@lru_cache(maxsize=1024)
def _hashed(*names: str) -> str:
    return hashlib.blake2b("\x00".join(names).encode("utf-8", "replace"), digest_size=12).hexdigest()


def session_key(arrival: Arrival, key: str | None) -> str | None:
    """A runtime's own session id in the caller's namespace."""
    return None if key is None else f"{arrival.namespace}:{arrival.runtime}:{key}"


class SessionMatcher:
    """Finds the session of a request, in memory first and then in the journal.

    Arrivals come in their own namespace (:func:`in_own_namespace`).
    """

    def __init__(self, journal: Journal, new_id: Callable[[], str], holdout: float = 0.0, shared: bool = False) -> None:
        self._journal = journal
        self.shared = shared
        """Whether other processes write, too: what is kept here is a cache then, which :meth:`look` brings up to
        date, and what is decided is agreed with them (:meth:`agree`)."""
        self._holdout = holdout
        self._new_id = new_id
        # Of two first requests that come at once, the second finds the session that the first made; a lock lives for
        # as long as somebody holds it or waits for it.
        self._finding: WeakValueDictionary[tuple[str, bytes], asyncio.Lock] = WeakValueDictionary()
        self._live: OrderedDict[str, LiveSession] = OrderedDict()
        self._by_key: dict[str, str] = {}
        self._by_link: OrderedDict[tuple[str, bytes], tuple[str, int]] = OrderedDict()
        self._waiting: OrderedDict[tuple[str, bytes], tuple[Entry, ...]] = OrderedDict()
        self._familiar = HistoryIndex()
        self._bytes = 0
        self.withdrawals = Withdrawals()

    def find_remembered(self, conversation: Conversation, arrival: Arrival) -> LiveSession | None:
        """The session of a request as far as this process remembers it; never waits."""
        key = session_key(arrival, arrival.session_key)
        if key is not None:
            return self._by_known_key(key)
        found = self._by_trail(arrival.namespace, conversation.trail())
        return found[0] if found else None

    def find_nearest(self, conversation: Conversation, arrival: Arrival) -> LiveSession | None:
        """The session in which a request's history was made, its own or the one it forks from, as far as this process
        remembers it; never waits."""
        key = session_key(arrival, arrival.session_key)
        if key is not None and (live := self._by_known_key(key)) is not None:
            return live
        found = self._by_trail(arrival.namespace, conversation.trail())
        return found[0] if found and began_in_session(*found, conversation, arrival) else None

    def get(self, id: str) -> LiveSession | None:
        """A session by its id, as far as this process remembers it."""
        return self._live.get(id)

    async def find_known(self, conversation: Conversation, arrival: Arrival) -> LiveSession | None:
        """As :meth:`find_nearest`, the journal asked as well; makes no new session and moves none on."""
        key = session_key(arrival, arrival.session_key)
        if key is not None and (live := await self._by_key_of(key)) is not None:
            return live
        found = await self._furthest(conversation.trail(), arrival)
        return found[0] if found and began_in_session(*found, conversation, arrival) else None

    def find_rewritten(self, conversation: Conversation, arrival: Arrival) -> LiveSession | None:
        """The session of a history that its client has written anew, as far as this process remembers it; never waits.

        A request that is no turn may say less of where it is from than the session's turns do, so that no project is
        known of it; with another one it is another session's.
        """
        id = self._familiar.session(arrival.whose, conversation.messages)
        live = self._live.get(id) if id else None
        if live is None:
            return None
        project, its = arrival.scope.project, live.session.scope.project
        unnamed = project is None and (not arrival.kind.teaches or its == f"{OWN_PROJECT}{live.session.id}")
        return live if unnamed or project == its else None

    def mark_read(self, session: str, at: datetime) -> None:
        """A provider has read the request of a session that came at this moment."""
        live = self._live.get(session)
        if live is not None and (live.read_at is None or at > live.read_at):
            live.read_at = at

    async def find(self, conversation: Conversation, arrival: Arrival) -> LiveSession:
        """The session of a request, new if there is none.

        A request that teaches is where its session's trail ends from now on, so that another one on the same trail
        at the same time finds the same session. Only requests that may be of one new session wait for each other.
        """
        key, trail = session_key(arrival, arrival.session_key), conversation.trail()
        live = self._in_memory(key, trail, arrival)
        if live is None:
            async with self._finding.setdefault(in_common(key, conversation, trail, arrival), asyncio.Lock()):
                live = self._in_memory(key, trail, arrival) or await self._found_or_new(
                    key, trail, conversation, arrival
                )
                return self._on_arrival(live, key, trail, arrival, conversation)
        return self._on_arrival(live, key, trail, arrival, conversation)

    async def place(self, conversation: Conversation, arrival: Arrival) -> Session:
        """The session of a request whose preparing failed, for its exchange to be journaled in. What was decided
        about the request is in the journal then.

        Raises:
            StoreError: when the journal cannot be read or written.
        """
        session = await self.find_or_create(conversation, arrival)
        await self.save_ledger(session.id)
        return session

    async def find_or_create(self, conversation: Conversation, arrival: Arrival) -> Session:
        """As :meth:`place`, without a write: what was decided is still to be saved.

        Raises:
            StoreError: when the journal cannot be read.
        """
        await self.look(conversation, arrival)
        return (await self.find(conversation, arrival)).session

    def decide(self, conversation: Conversation, arrival: Arrival, entries: Sequence[Entry]) -> LiveSession | None:
        """Decide about the newest message of a request whose preparing failed; never waits.

        None where memory alone does not know its session: the decisions wait until a request that goes on from
        there has found it, and are written then.
        """
        key, trail = session_key(arrival, arrival.session_key), conversation.trail()
        live = self._in_memory(key, trail, arrival)
        if live is None:
            self._waiting[(key or arrival.namespace, trail[-1])] = tuple(entries)
            while len(self._waiting) > MAX_SESSIONS:
                self._waiting.popitem(last=False)
            return None
        live.decide(entries)
        return self._on_arrival(live, key, trail, arrival, conversation)

    def _in_memory(self, key: str | None, trail: Sequence[bytes], arrival: Arrival) -> LiveSession | None:
        """The session where memory alone says which: its key is known, or the request goes on from its tip."""
        if key is not None:
            return self._by_known_key(key)
        found = self._by_trail(arrival.namespace, trail)
        if found is None or found[0].tip != trail[found[1] - 1] or not goes_on(*found, trail, arrival):
            return None
        return found[0]

    async def _by_key_of(self, key: str) -> LiveSession | None:
        live = self._by_known_key(key)
        if live is None:
            session = await self._journal.session_by_key(key)
            live = await self._load(session) if session else None
        return live

    def _by_known_key(self, key: str) -> LiveSession | None:
        id = self._by_key.get(key)
        return self._live.get(id) if id else None

    def _on_arrival(
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
            self._by_link[(arrival.namespace, trail[-1])] = (live.session.id, len(trail))
            while len(self._by_link) > LINKS:
                self._by_link.popitem(last=False)
            if self._waiting:
                for link in trail:
                    live.decide(self._waiting.pop((key or arrival.namespace, link), ()))
        return live

    async def _found_or_new(
        self, key: str | None, trail: Sequence[bytes], conversation: Conversation, arrival: Arrival
    ) -> LiveSession:
        if key is not None and (live := await self._by_key_of(key)) is not None:
            return live
        found = await self._furthest(trail, arrival)
        if key is None and found is not None and goes_on(*found, trail, arrival):
            return found[0]
        familiar = self.find_rewritten(conversation, arrival) if key is None else None
        if familiar is not None and not {message.digest for message in conversation.messages}.isdisjoint(familiar.end):
            return familiar
        # A fork: the session has gone on elsewhere, or the client has given it another id.
        begun = familiar
        if begun is None and found is not None and began_in_session(*found, conversation, arrival):
            begun = found[0]
        parent = arrival.parent or session_key(arrival, arrival.parent_key)
        sender = await self._by_key_of(parent) if parent and self._holdout else None
        return self._new(key, arrival, begun, conversation, parent, sender)

    async def _furthest(self, trail: Sequence[bytes], arrival: Arrival) -> tuple[LiveSession, int] | None:
        """The session that went furthest along a trail, and how many messages it shares."""
        found = self._by_trail(arrival.namespace, trail)
        if found is None or found[0].tip != trail[found[1] - 1]:
            # What this process remembers is no session's newest request: the journal may know one that went further.
            stored = await self._stored(arrival.namespace, trail)
            found = max(found, stored, key=lambda pair: pair[1]) if found and stored else found or stored
        return found

    async def look(self, conversation: Conversation, arrival: Arrival) -> None:
        """Where other processes write, too: bring what is kept of a request's session up to what they have written.

        Raises:
            StoreError: when the journal cannot be read.
        """
        if not self.shared:
            return
        key, trail = session_key(arrival, arrival.session_key), conversation.trail()
        found = await self._journal.stored_session(key, arrival.namespace, trail)
        if found is None:
            return
        live = self._live.get(found.session.id)
        if live is None or live.version != found.version:
            entries = self.withdrawals.without(found.session.id, await self._journal.ledger(found.session.id))
            live = self._live.get(found.session.id) or self._store(
                LiveSession(found.session, Ledger(), known=True, read_at=found.session.seen_at)
            )
            live.renew(entries, found.version)
            if live.ledger.shed:
                live.pinned = await self._journal.pinned(found.session.id)
        live.known = True
        live.tools = live.tools or found.tools
        if found.session.seen_at >= live.session.seen_at:
            live.session = found.session
            live.read_at = max(filter(None, (live.read_at, found.session.seen_at)))
        if key is None:
            tip = trail[found.shared - 1]
            self._by_link[(arrival.namespace, tip)] = (found.session.id, found.shared)
            if live.tip not in trail[found.shared - 1 :]:
                live.tip = tip if found.at_tip else b"elsewhere"

    async def agree(self, live: LiveSession, conversation: Conversation, arrival: Arrival) -> tuple[LiveSession, bool]:
        """Where other processes write, too: bring the journal up to the ledger before its request is sent. What another
        one has decided first is adopted; the session that stands, and whether anything of ours does not.

        Raises:
            StoreError: when the journal cannot be written.
        """
        key, trail = session_key(arrival, arrival.session_key), conversation.trail()
        async with self._pending_writes(live) as (entries, messages):
            if live.known and not entries and not messages:
                return live, False
            opening = (arrival.namespace, trail[-1]) if key is None else None
            version = live.version if live.known else None
            agreed = await self._journal.agree(live.session, opening, version, entries, messages)
            if agreed.session.id == live.session.id:
                live.version = agreed.version
        if agreed.session.id != live.session.id:
            # Another process had begun it: what that has not decided is decided there.
            self._drop(live)
            await self.look(conversation, arrival)
            other = self._on_arrival(await self._load(agreed.session), key, trail, arrival, conversation)
            other.decide(entries)
            other.unkept.update((message.digest, message) for message in messages)
            return (await self.agree(other, conversation, arrival))[0], True
        if agreed.entries is None:
            return live, False
        standing = self.withdrawals.without(live.session.id, agreed.entries)
        live.renew(standing, agreed.version)
        stand = {(each.key, each.act, each.part, each.at_rest().text) for each in standing}
        return live, any((each.key, each.act, each.part, each.at_rest().text) not in stand for each in entries)

    def _drop(self, live: LiveSession) -> None:
        """A session that was begun here is none: another process had begun it."""
        if self._live.pop(live.session.id, None) is not None:
            self._bytes -= live.weighed
        if self._by_key.get(live.session.key) == live.session.id:
            del self._by_key[live.session.key]
        for link in [link for link, (id, _) in self._by_link.items() if id == live.session.id]:
            del self._by_link[link]

    async def save(self, live: LiveSession) -> None:
        """Bring the journal up to the ledger; what could not be written stays for the next time.

        One write of a session after the other: what is decided later must be written later, also when the earlier
        write has to be tried again.
        """
        async with self._pending_writes(live) as (entries, messages):
            if not live.known or entries or messages:
                await self._journal.enter(live.session, entries, messages)

    async def save_beforehand(self, live: LiveSession, pending: Pending) -> None:
        """Bring into the journal what is to stand in the ledger if a request is not refused for it. Whoever is killed
        meanwhile makes it again, since the provider may have read it; otherwise it stands with ``decide``, or is taken
        back with :meth:`withdraw`."""
        async with self._pending_writes(live) as (entries, messages):
            more = tuple(filter(live.undecided, pending.entries))
            cuts = any(entry.act is Act.CUT for entry in more)
            session = replace(live.session, segment=live.session.segment + 1) if cuts else live.session
            await self._journal.enter(session, (*entries, *more), (*messages, *pending.unkept))

    async def withdraw(self, live: LiveSession) -> None:
        """Take back what was saved beforehand and does not stand, but for what another request has decided
        meanwhile."""
        async with live.saving:
            entries = self.withdrawals.of(live.session.id)
            await self._journal.withdraw(live.session, tuple(filter(live.undecided, entries)))
            self.withdrawals.settled(live.session.id, entries)

    async def withdraw_all(self) -> None:
        """Take back all that is to be taken back, also of sessions that are not in memory any more.

        Raises:
            StoreError: when the journal cannot be read or written.
        """
        for id, key in self.withdrawals.sessions().items():
            live = self._live.get(id) or await self._by_key_of(key)
            if live is None or live.session.id != id:
                self.withdrawals.settled(id, self.withdrawals.of(id))  # it was forgotten
                continue
            await self.withdraw(live)

    @asynccontextmanager
    async def _pending_writes(self, live: LiveSession) -> AsyncIterator[tuple[tuple[Entry, ...], tuple[Message, ...]]]:
        """What the journal does not have of a ledger, for the one who brings it there; nobody else does meanwhile."""
        async with live.saving:
            # They stay where they are until they are written: who asks meanwhile is told of them.
            entries, messages = tuple(live.unwritten), tuple(live.unkept.values())
            yield entries, messages
            live.known = True
            self.withdrawals.settled(live.session.id, entries)  # decided anew, it stands
            del live.unwritten[: len(entries)]
            for message in messages:
                live.unkept.pop(message.digest, None)

    async def commit(self, exchange: Exchange) -> None:
        """Journal an exchange and, in the same transaction, what the journal does not have of its session's ledger.

        Raises:
            StoreError: when the journal takes neither.
        """
        live = self._live.get(exchange.session.id)
        if live is None or not live.ahead:
            await self._journal.commit(exchange)
            return
        async with self._pending_writes(live) as (entries, messages):
            await self._journal.commit(exchange, entries, messages)

    async def save_ledger(self, session: str) -> None:
        """Bring the journal up to the ledger of a session, if anything of it is unwritten."""
        live = self._live.get(session)
        if live is not None and live.ahead:
            await self.save(live)

    def unwritten(self, session: str) -> tuple[Entry, ...]:
        """What of a session's ledger the journal does not have, as far as that is known."""
        live = self._live.get(session)
        return tuple(live.unwritten) if live is not None else ()

    def forget(self) -> None:
        """Drop everything that is kept in memory, after the journal was changed beneath it."""
        self._live.clear()
        self._bytes = 0
        self._by_key.clear()
        self._by_link.clear()
        self._familiar.forget()

    def _by_trail(self, namespace: str, trail: Sequence[bytes]) -> tuple[LiveSession, int] | None:
        for shared in range(len(trail), 0, -1):
            hit = self._by_link.get((namespace, trail[shared - 1]))
            live = self._live.get(hit[0]) if hit else None
            if live is not None:
                return live, shared
        return None

    async def _stored(self, namespace: str, trail: Sequence[bytes]) -> tuple[LiveSession, int] | None:
        hit = await self._journal.session_by_trail(namespace, trail)
        if hit is None:
            return None
        session, shared, at_tip = hit
        live = await self._load(session)
        if not live.tip:
            live.tip = trail[shared - 1] if at_tip else b"elsewhere"
        return live, shared

    async def _load(self, session: Session) -> LiveSession:
        live = self._live.get(session.id)
        if live is None:
            entries = self.withdrawals.without(session.id, await self._journal.ledger(session.id))
            long = len(entries) > AT_ONCE
            ledger = await asyncio.to_thread(Ledger, entries) if long else Ledger(entries)
            # What leaves in haste must not be pinned, also where no plan was made since a start.
            pinned = await self._journal.pinned(session.id) if ledger.shed else frozenset[str]()
            live = self._store(LiveSession(session, ledger, known=True, read_at=session.seen_at, pinned=pinned))
        return live

    def _new(
        self,
        key: str | None,
        arrival: Arrival,
        begun: LiveSession | None,
        conversation: Conversation,
        parent: str | None,
        sender: LiveSession | None,
    ) -> LiveSession:
        """A new session, which inherits what was decided about its messages where they were said in another. It goes
        without memory where the one does that it forks from, or that sent it."""
        id = self._new_id()
        # Runs of one script begin alike and are no forks of each other: each has an arm of its own.
        answered = any(message.role is Role.ASSISTANT for message in conversation.messages)
        before = (begun if answered else None) or sender
        held = before.session.held_out if before else held_out(id, self._holdout)
        scope = arrival.scope
        if scope.user and not scope.project:
            # Work that names no project is kept apart: it is a project of its own.
            scope = replace(scope, project=f"{OWN_PROJECT}{id}")
        session = Session(
            id=id,
            key=key or f"{arrival.namespace}:trail:{id}",
            scope=scope,
            runtime=arrival.runtime,
            started_at=arrival.at,
            seen_at=arrival.at,
            kind=arrival.kind,
            parent=parent,
            forked_from=begun.session.id if begun else None,
            credential=arrival.credential,
            held_out=held,
        )
        inherited = begun.ledger.at([OFFERED, *conversation.keys()]) if begun and not held else []
        live = LiveSession(session, Ledger(inherited), unwritten=list(inherited))
        if begun is not None:
            # What the provider has in its cache of the one, the other's requests begin with.
            live.opening, live.read_at = begun.opening, begun.read_at
            live.pinned = begun.pinned
        return self._store(live)

    def _store(self, live: LiveSession) -> LiveSession:
        known = self._live.setdefault(live.session.id, live)
        self._by_key[known.session.key] = known.session.id
        self._live.move_to_end(known.session.id)
        self._make_room(known)
        return known

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
                if self._by_key.get(gone.session.key) == gone.session.id:
                    del self._by_key[gone.session.key]
