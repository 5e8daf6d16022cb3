"""Which session a request belongs to.

A runtime's own id decides where there is one. Otherwise the trail does: the chain of message hashes, of which a
client's next request is an extension. Openings collide ("hi"), so a trail that only shares an opening is a new
session; a history that was made under a session's ledger inherits what was written there, whatever it became.

A client may leave out of a message what it had put around a person's words. The message is another one then, at which
the ledger holds nothing; what stood behind the words goes on behind them. Where the client has broken its own prefix,
no provider has what follows.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from weakref import WeakValueDictionary

from memory.conversation import Conversation, Role
from memory.edits import OFFERED, Act, Entry, Key, Ledger
from memory.ports import Journal
from memory.scope import OWN_PROJECT, Layer, Scope
from memory.services.sessions.continuation import began_in_session, goes_on, in_common
from memory.services.sessions.ledger_saving import LedgerSaver
from memory.services.sessions.live import LiveSession, held_out
from memory.services.sessions.live_sessions import LiveSessions
from memory.services.sessions.namespaces import session_key
from memory.services.sessions.replica_agreement import ReplicaAgreement
from memory.session import Arrival, Session

MOST = 16
"""Messages that are looked up, the newest: a client writes those of its last turns anew."""


async def moved_entries(journal: Journal, scope: Scope, ledger: Ledger, conversation: Conversation) -> list[Entry]:
    """The entries of messages that are gone from a history, at those that say the same and were never sent before."""
    keys = conversation.keys()
    bare = [
        index
        for index, message in enumerate(conversation.messages)
        if message.spoken and index != conversation.newest and not ledger.at([keys[index]])
    ][-MOST:]
    gone = _gone_entries(ledger, frozenset(keys)) if bare else {}
    if not gone:
        return []
    person = scope.owner(Layer.USER) or ""

    async def words(digest: bytes) -> str | None:
        found = await journal.messages_by_digest(person, digest.hex(), 1)
        return found[0].message.spoken if found else None

    said = [(key, await words(key[0])) for key in list(gone)[-MOST:]]
    spoken_often = Counter(message.spoken for message in conversation.messages)
    moved: list[Entry] = []
    for index in bare:
        message, (digest, occurrence) = conversation.messages[index], keys[index]
        same = [key for key, spoken in said if spoken == message.spoken]
        # Which of several that say the same it was, nobody knows.
        if len(same) != 1 or spoken_often[message.spoken] > 1:
            continue
        [before] = same
        if message.takes is None or await words(digest) is not None:
            continue
        moved += [replace(entry, digest=digest, occurrence=occurrence, form=message.takes) for entry in gone[before]]
    return moved


def _gone_entries(ledger: Iterable[Entry], stand: frozenset[Key]) -> dict[Key, list[Entry]]:
    """What was added at messages that do not stand in a history any more, or hidden behind them."""
    found: dict[Key, list[Entry]] = {}
    for entry in ledger:
        if entry.act in (Act.APPEND, Act.INSERT) and entry.key not in stand:
            found.setdefault(entry.key, []).append(entry)
    return {key: entries for key, entries in found.items() if any(entry.text for entry in entries)}


class SessionMatcher:
    """Finds the session of a request, in memory first and then in the journal.

    Arrivals come in their own namespace (:func:`in_own_namespace`).
    """

    def __init__(self, journal: Journal, new_id: Callable[[], str], holdout: float = 0.0, shared: bool = False) -> None:
        self._journal = journal
        self._holdout = holdout
        self._new_id = new_id
        # Of two first requests that come at once, the second finds the session that the first made; a lock lives for
        # as long as somebody holds it or waits for it.
        self._finding: WeakValueDictionary[tuple[str, bytes], asyncio.Lock] = WeakValueDictionary()
        self.live_sessions = LiveSessions(journal)
        self.ledgers = LedgerSaver(journal, self.live_sessions)
        self.replicas = ReplicaAgreement(journal, self.live_sessions, self.ledgers, shared)

    def find_remembered(self, conversation: Conversation, arrival: Arrival) -> LiveSession | None:
        """The session of a request as far as this process remembers it; never waits."""
        key = session_key(arrival, arrival.session_key)
        if key is not None:
            return self.live_sessions.by_known_key(key)
        found = self.live_sessions.by_trail(arrival.namespace, conversation.trail())
        return found[0] if found else None

    def find_nearest(self, conversation: Conversation, arrival: Arrival) -> LiveSession | None:
        """The session in which a request's history was made, its own or the one it forks from, as far as this process
        remembers it; never waits."""
        key = session_key(arrival, arrival.session_key)
        if key is not None and (live := self.live_sessions.by_known_key(key)) is not None:
            return live
        trail = conversation.trail()
        found = self.live_sessions.by_trail(arrival.namespace, trail)
        # What is no turn has its own way to look at what it goes on from, and takes no more of a session than that.
        if key is None and arrival.kind.teaches and (found is None or not goes_on(*found, trail, arrival)):
            familiar = self._remembered_rewritten(conversation, arrival)
            if familiar is not None:
                return familiar
        if found is None or self._is_contested(found[1], trail, arrival):
            return None
        return found[0] if began_in_session(*found, conversation, arrival) else None

    def get(self, id: str) -> LiveSession | None:
        """A session by its id, as far as this process remembers it."""
        return self.live_sessions.get(id)

    async def find_known(self, conversation: Conversation, arrival: Arrival) -> LiveSession | None:
        """As :meth:`find_nearest`, the journal asked as well; makes no new session and moves none on."""
        key = session_key(arrival, arrival.session_key)
        if key is not None and (live := await self.live_sessions.by_key(key)) is not None:
            return live
        found = await self._furthest_along(conversation.trail(), arrival)
        return found[0] if found and began_in_session(*found, conversation, arrival) else None

    async def find_rewritten(self, conversation: Conversation, arrival: Arrival) -> LiveSession | None:
        """The session of a history that its client has written anew; makes no new one."""
        live = self._remembered_rewritten(conversation, arrival)
        if live is None and arrival.session_key is None:
            live = await self.live_sessions.stored_with_history(arrival.namespace, conversation.messages)
        return live

    async def _rewritten_session(
        self, conversation: Conversation, arrival: Arrival, began: LiveSession | None
    ) -> LiveSession | None:
        """The session of a history that its client has written anew; the journal is asked only of one that began in no
        session, since what it knows of one that did may be another branch of it."""
        if began is not None:
            return self._remembered_rewritten(conversation, arrival)
        return await self.find_rewritten(conversation, arrival)

    def _remembered_rewritten(self, conversation: Conversation, arrival: Arrival) -> LiveSession | None:
        """The same as far as this process remembers it.

        A request that is no turn may say less of where it is from than the session's turns do, so that no project is
        known of it; with another one it is another session's.
        """
        live = self.live_sessions.with_history(arrival.whose, conversation.messages)
        if live is None:
            return None
        project, its = arrival.scope.project, live.session.scope.project
        unnamed = project is None and (not arrival.kind.teaches or its == f"{OWN_PROJECT}{live.session.id}")
        return live if unnamed or project == its else None

    def mark_read(self, session: str, at: datetime, answered: bytes = b"") -> None:
        """A provider has read the request of a session that came at this moment; ``answered`` is the last link of its
        trail where the reply was whole."""
        live = self.live_sessions.get(session)
        if live is not None and (live.read_at is None or at >= live.read_at):
            live.read_at = at
            live.answered = answered or live.answered

    async def find(self, conversation: Conversation, arrival: Arrival, *, forwarded: bool = False) -> LiveSession:
        """The session of a request, new if there is none; ``forwarded`` says that the request has gone on without it.

        A request that teaches is where its session's trail ends from now on, so that another one on the same trail
        at the same time finds the same session. Only requests that may be of one new session wait for each other.
        """
        key, trail = session_key(arrival, arrival.session_key), conversation.trail()
        live = self._in_memory(key, trail, arrival)
        if live is None:
            async with self._finding.setdefault(in_common(key, conversation, trail, arrival), asyncio.Lock()):
                live = self._in_memory(key, trail, arrival) or await self._found_or_new(
                    key, trail, conversation, arrival, forwarded
                )
                return self.live_sessions.arrived(live, key, trail, arrival, conversation)
        return self.live_sessions.arrived(live, key, trail, arrival, conversation)

    async def place(self, conversation: Conversation, arrival: Arrival) -> Session:
        """The session of a request whose preparing failed, for its exchange to be journaled in. What was decided
        about the request is in the journal then.

        Raises:
            StoreError: when the journal cannot be read or written.
        """
        session = await self.find_or_create(conversation, arrival)
        await self.ledgers.save_by_id(session.id)
        return session

    async def find_or_create(self, conversation: Conversation, arrival: Arrival) -> Session:
        """As :meth:`place`, without a write: what was decided is still to be saved.

        Raises:
            StoreError: when the journal cannot be read.
        """
        await self.replicas.look(conversation, arrival)
        return (await self.find(conversation, arrival, forwarded=True)).session

    def make_up(self, conversation: Conversation, arrival: Arrival) -> tuple[Session, tuple[Entry, ...]]:
        """A session for a request whose own cannot be looked up, and what was decided about the request; never waits,
        and is kept nowhere."""
        key = session_key(arrival, arrival.session_key)
        parent = arrival.parent or session_key(arrival, arrival.parent_key)
        decided = self.live_sessions.waiting(key or arrival.namespace, conversation.trail()[-1])
        id = self._new_id()
        return _opened_session(id, key, arrival, parent, None, held_out(id, self._holdout)), decided

    def decide(self, conversation: Conversation, arrival: Arrival, entries: Sequence[Entry]) -> LiveSession | None:
        """Decide about the newest message of a request whose preparing failed; never waits.

        None where memory alone does not know its session: the decisions wait until a request that goes on from
        there has found it, and are written then.
        """
        key, trail = session_key(arrival, arrival.session_key), conversation.trail()
        live = self._in_memory(key, trail, arrival)
        if live is None:
            self.live_sessions.wait(key or arrival.namespace, trail[-1], entries)
            return None
        live.decide(entries)
        return self.live_sessions.arrived(live, key, trail, arrival, conversation)

    def _in_memory(self, key: str | None, trail: Sequence[bytes], arrival: Arrival) -> LiveSession | None:
        """The session where memory alone says which: its key is known, or the request goes on from its tip."""
        if key is not None:
            return self.live_sessions.by_known_key(key)
        found = self.live_sessions.by_trail(arrival.namespace, trail)
        if found is None or found[0].tip != trail[found[1] - 1] or not goes_on(*found, trail, arrival):
            return None
        if self._is_contested(found[1], trail, arrival):
            return None
        return found[0]

    async def _found_or_new(
        self, key: str | None, trail: Sequence[bytes], conversation: Conversation, arrival: Arrival, forwarded: bool
    ) -> LiveSession:
        # Where others write, too, the journal was looked at as the request came.
        live = await self.live_sessions.by_key(key) if key is not None and not self.replicas.shared else None
        if live is not None:
            return live
        found = await self._furthest_along(trail, arrival)
        if key is None and found is not None and goes_on(*found, trail, arrival):
            return found[0]
        began = found[0] if found is not None and began_in_session(*found, conversation, arrival) else None
        familiar = await self._rewritten_session(conversation, arrival, began) if key is None else None
        if familiar is not None and not {message.digest for message in conversation.messages}.isdisjoint(familiar.end):
            familiar.decide(await self._moved_ledger_entries(familiar, arrival, conversation, forwarded))
            return familiar
        # A fork: the session has gone on elsewhere, or the client has given it another id.
        begun = familiar or began
        parent = arrival.parent or session_key(arrival, arrival.parent_key)
        sender = await self.live_sessions.by_key(parent) if parent and self._holdout else None
        moved = await self._moved_ledger_entries(familiar, arrival, conversation, forwarded) if familiar else []
        live = self._new(key, arrival, begun, conversation, parent, sender)
        if not live.session.held_out:
            live.decide(moved)
        return live

    async def _moved_ledger_entries(
        self, live: LiveSession, arrival: Arrival, conversation: Conversation, forwarded: bool
    ) -> list[Entry]:
        """What a session's ledger holds at messages that its client has written anew; nothing where these have gone to
        the provider as they are."""
        return [] if forwarded else await moved_entries(self._journal, arrival.scope, live.ledger, conversation)

    def _is_contested(self, shared: int, trail: Sequence[bytes], arrival: Arrival) -> bool:
        """Whether a request goes on from where several sessions were."""
        return shared < len(trail) and self.live_sessions.is_contested(arrival.namespace, trail[shared - 1])

    async def _furthest_along(self, trail: Sequence[bytes], arrival: Arrival) -> tuple[LiveSession, int] | None:
        """The session that went furthest along a trail, and how many messages it shares."""
        found = self.live_sessions.by_trail(arrival.namespace, trail)
        unsure = found is None or self._is_contested(found[1], trail, arrival)
        if unsure or (found and found[0].tip != trail[found[1] - 1]):
            # What this process remembers is no session's newest request, or that of several: the journal may know one
            # that went further.
            asked = self.replicas.shared  # as it came
            stored = None if asked else await self.live_sessions.stored_by_trail(arrival.namespace, trail)
            found = max(found, stored, key=lambda pair: pair[1]) if found and stored else found or stored
        return found

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
        session = _opened_session(id, key, arrival, parent, begun.session.id if begun else None, held)
        inherited = begun.ledger.at([OFFERED, *conversation.keys()]) if begun and not held else []
        live = LiveSession(session, Ledger(inherited), unwritten=list(inherited))
        if begun is not None:
            # What the provider has in its cache of the one, the other's requests begin with.
            live.opening, live.read_at = begun.opening, begun.read_at
            live.pinned = begun.pinned
        return self.live_sessions.add(live)


def _opened_session(
    id: str, key: str | None, arrival: Arrival, parent: str | None, forked_from: str | None, held: bool | None
) -> Session:
    scope = arrival.scope
    if scope.user and not scope.project:
        # Work that names no project is kept apart: it is a project of its own.
        scope = replace(scope, project=f"{OWN_PROJECT}{id}")
    return Session(
        id=id,
        key=key or f"{arrival.namespace}:trail:{id}",
        scope=scope,
        runtime=arrival.runtime,
        started_at=arrival.at,
        seen_at=arrival.at,
        kind=arrival.kind,
        parent=parent,
        forked_from=forked_from,
        credential=arrival.credential,
        held_out=held,
    )
