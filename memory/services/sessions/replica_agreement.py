"""Where several processes write one journal: what is kept in memory is a cache, and decisions are agreed about."""

from __future__ import annotations

from collections.abc import Sequence

from memory.conversation import Conversation
from memory.edits import Entry, Ledger
from memory.ports import Journal, LedgerVersion, StoredSession
from memory.services.sessions.ledger_saving import LedgerSaver
from memory.services.sessions.live import LiveSession
from memory.services.sessions.live_sessions import LiveSessions
from memory.services.sessions.namespaces import session_key
from memory.session import Arrival


class ReplicaAgreement:
    """Agrees with the other processes, where there are any: ``shared``."""

    def __init__(self, journal: Journal, live_sessions: LiveSessions, ledgers: LedgerSaver, shared: bool) -> None:
        self._journal = journal
        self._live_sessions = live_sessions
        self._ledgers = ledgers
        self.shared = shared

    async def look(self, conversation: Conversation, arrival: Arrival) -> None:
        """Bring what is kept of a request's session up to what other processes have written.

        Raises:
            StoreError: when the journal cannot be read.
        """
        if not self.shared:
            return
        key, trail = session_key(arrival, arrival.session_key), conversation.trail()
        near = self._likely_session(key, arrival.namespace, trail)
        known = (near.session.id, near.version) if near is not None else None
        found = await self._journal.stored_session(key, arrival.namespace, trail, known)
        if found is None:
            return
        live = self._live_sessions.get(found.session.id)
        if live is None or live.version != found.version:
            withdrawals = self._live_sessions.withdrawals
            standing = self._continued_ledger(live, found, known) or await self._journal.ledger(found.session.id)
            entries = withdrawals.without(found.session.id, standing)
            live = self._live_sessions.get(found.session.id) or self._live_sessions.add(
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
        if not found.by_key:
            tip = trail[found.shared - 1]
            self._live_sessions.ends_at(live, arrival.namespace, tip, found.shared)
            if live.tip not in trail[found.shared - 1 :]:
                live.tip = tip if found.at_tip else b"elsewhere"

    def _likely_session(self, key: str | None, namespace: str, trail: Sequence[bytes]) -> LiveSession | None:
        if key is not None:
            return self._live_sessions.by_known_key(key)
        found = self._live_sessions.by_trail(namespace, trail)
        return found[0] if found else None

    @staticmethod
    def _continued_ledger(
        live: LiveSession | None, found: StoredSession, known: tuple[str, LedgerVersion] | None
    ) -> tuple[Entry, ...]:
        """The ledger that is at hand with what came behind it; nothing where it cannot be put together so."""
        if live is None or live.unwritten or found.since is None or known != (live.session.id, live.version):
            return ()
        ledger = Ledger(live.ledger)
        for entry in found.since:
            if not ledger.takes(entry):
                return ()
            ledger.write(entry)
        return tuple(ledger)

    async def agree(self, live: LiveSession, conversation: Conversation, arrival: Arrival) -> tuple[LiveSession, bool]:
        """Bring the journal up to the ledger before its request is sent. What another process has decided first is
        adopted; the session that stands, and whether anything of ours does not.

        Raises:
            StoreError: when the journal cannot be written.
        """
        key, trail = session_key(arrival, arrival.session_key), conversation.trail()
        async with self._ledgers.pending_writes(live) as (entries, messages):
            if live.known and not entries and not messages:
                return live, False
            opening = (arrival.namespace, trail[-1]) if key is None else None
            version = live.version if live.known else None
            agreed = await self._journal.agree(live.session, opening, version, entries, messages)
            if agreed.session.id == live.session.id:
                live.version = agreed.version
        if agreed.session.id != live.session.id:
            # Another process had begun it: what that has not decided is decided there.
            self._live_sessions.drop(live)
            await self.look(conversation, arrival)
            loaded = await self._live_sessions.load(agreed.session)
            other = self._live_sessions.arrived(loaded, key, trail, arrival, conversation)
            other.decide(entries)
            other.unkept.update((message.digest, message) for message in messages)
            return (await self.agree(other, conversation, arrival))[0], True
        if agreed.entries is None:
            return live, False
        standing = self._live_sessions.withdrawals.without(live.session.id, agreed.entries)
        live.renew(standing, agreed.version)
        stand = {(each.key, each.act, each.part, each.at_rest().text) for each in standing}
        return live, any((each.key, each.act, each.part, each.at_rest().text) not in stand for each in entries)
