"""What several processes agree about in the journal, before a request is sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from memory.conversation import Message
from memory.edits import Act, Entry, Ledger
from memory.ports import NO_LEDGER, AgreedLedger, LedgerVersion, StoredSession
from memory.session import Session
from memory.stores.base import JournalPart
from memory.stores.connection import Connection, Cursor, Row
from memory.stores.errors import Overtaken, PersonForgottenError, ResultsLost
from memory.stores.messages import PackedMessage, seal_all, write_messages
from memory.stores.queries import QUERIES, many, write_several
from memory.stores.recent_commits import RecentCommits
from memory.stores.rows import entry_of, entry_row, names, session_of, session_row
from memory.stores.sessions import by_trail, write_entries, write_session

FEW_NUMBERS = 4
"""Numbers at hand below which more are asked for."""

RESERVE_NUMBERS = "SELECT nextval(pg_get_serial_sequence('sessions', 'number')) AS number FROM generate_series(1, 16)"

AGAIN = timedelta(minutes=10)
"""Within this time a request that opens alike is the same one, sent again."""


class Agreements(JournalPart):
    """The part of the journal in which the first decision stands."""

    _newly: RecentCommits
    _numbers: deque[int]
    """Numbers that no session has yet, for those that are begun here."""

    async def stored_session(
        self, key: str | None, namespace: str, trail: Sequence[bytes], known: tuple[str, LedgerVersion] | None = None
    ) -> StoredSession | None:
        """See :class:`memory.ports.Journal`. What is known is asked for beside the session, without knowing whether it
        is that one, and the trail beside the key: so it comes on one way there and back."""

        def work(connection: Connection) -> StoredSession | None:
            hear = self._db.heed(connection)
            reserved = self._ask_numbers(connection) if known is None else None
            standing = since = None
            if known is not None:
                standing = connection.execute(QUERIES["session_standing"], (known[0],))
                since = connection.execute(QUERIES["ledger_since"], (known[0], known[1].last))
            named = connection.execute(QUERIES["session_by_key"], (key,)) if key is not None else None
            along = by_trail(connection, namespace, trail) if named is None or known is None else None
            row = named.fetchone() if named is not None else None
            found = (row, len(trail)) if row is not None else along
            hear()
            if reserved is not None:
                self._numbers.extend(each["number"] for each in reserved)
            if found is None:
                return None
            row, shared = found
            if known is None or standing is None or since is None or row["id"] != known[0]:
                standing, since = connection.execute(QUERIES["session_standing"], (row["id"],)), None
            stands, more = standing.fetchone(), None
            if since is not None and known is not None:
                more = tuple(entry_of(each) for each in since)
                more = more if known[1].size + len(more) == stands["size"] else None
            by_key = found is not along
            at_tip = by_key or bool(row["at_tip"])
            version = _version_of(stands)
            return StoredSession(session_of(row), version, shared, at_tip, bool(stands["tools"]), more, by_key)

        return await self._db.read(work)

    def _ask_numbers(self, connection: Connection) -> Cursor | None:
        """Ask for numbers of sessions that are begun later, where there are few left: a session whose number is known
        is begun without waiting for it."""
        if not self._db.shared or len(self._numbers) >= FEW_NUMBERS:
            return None
        return connection.execute(RESERVE_NUMBERS)

    async def agree(
        self,
        session: Session,
        opening: tuple[str, bytes] | None,
        version: LedgerVersion | None,
        entries: Sequence[Entry],
        messages: Sequence[Message] = (),
    ) -> AgreedLedger:
        """See :class:`memory.ports.Journal`. One transaction is written after the other, so what is looked up here
        stands when the rest of it is written. Of a person who was forgotten since it was asked nothing is written, and
        their request goes as it was decided here."""
        try:
            return await self._agree(session, opening, version, entries, messages)
        except PersonForgottenError:
            return AgreedLedger(session, version or NO_LEDGER)

    async def _agree(
        self,
        session: Session,
        opening: tuple[str, bytes] | None,
        version: LedgerVersion | None,
        entries: Sequence[Entry],
        messages: Sequence[Message],
    ) -> AgreedLedger:
        sealed = await seal_all(messages, self._redact.of(session.scope.org))
        if self._db.shared and all(entry.act is Act.APPEND for entry in entries):
            # What is written already is found there: no entry is written twice.
            with suppress(Overtaken, ResultsLost):
                return await self._agree_at_once(session, opening, version, entries, sealed)

        def work(connection: Connection) -> tuple[Row | None, AgreedLedger]:
            forgotten = self._forgotten_persons.ask(connection, session.scope, session.seen_at)
            self._forgotten_persons.refuse(forgotten)
            if version is None:
                begun = _begun_elsewhere(_ask_begun(connection, session, opening), session, opening)
                if begun is not None:
                    return None, AgreedLedger(session_of(begun), NO_LEDGER)
            row = write_session(connection, session)
            number = row["number"]
            write_messages(connection, row["person"], sealed)
            merged = None
            if _version(connection, number) == (version or NO_LEDGER):
                write_entries(connection, entries, number)
            else:
                ledger = Ledger(entry_of(each) for each in connection.execute(QUERIES["ledger_of"], (session.id,)))
                for entry in entries:
                    if ledger.takes(entry):
                        ledger.write(entry)
                        write_entries(connection, [entry], number)
                merged = tuple(ledger)
            if version is None and opening is not None:
                write_several(connection, "trail_write", [(opening[1], opening[0], number, 0)])
            return row, AgreedLedger(session_of(row), _version(connection, number), merged)

        row, agreed = await self._db.write(work, anywhere=True)
        if row is not None:
            self._newly.stands(row)
        return agreed

    async def _agree_at_once(
        self,
        session: Session,
        opening: tuple[str, bytes] | None,
        version: LedgerVersion | None,
        entries: Sequence[Entry],
        messages: Sequence[PackedMessage],
    ) -> AgreedLedger:
        """The same where nobody else has decided meanwhile, as mostly: what stands is not read before it is written to,
        and the transaction ends itself where it is not what was expected.

        Raises:
            Overtaken: when somebody has.
        """

        number = self._numbers.popleft() if version is None and not messages and self._numbers else None

        def work(connection: Connection) -> tuple[Row | None, Cursor, Cursor]:
            self._forgotten_persons.require_known(connection, session.scope, session.seen_at)
            if number is not None:
                written = _begin_session(connection, session, opening, number)
                _write_decision(connection, number, entries)
                return None, written, connection.execute(QUERIES["ledger_version"], (number,))
            known = self._newly.rows(session.id) if version is not None else None
            begun = _ask_begun(connection, session, opening) if version is None else None
            written = connection.execute(QUERIES["session_write"], session_row(session))
            row: Row | None = None
            if known is None:
                row = written.fetchone()
                if row is None or (begun is not None and _begun_elsewhere(begun, session, opening) is not None):
                    raise Overtaken("the session is begun elsewhere, or its person is new")
                known = row["number"], row["person"]
            mine, person = known
            last = version or NO_LEDGER
            connection.execute("SELECT ledger_must_stand(?, ?, ?)", (mine, last.last, last.size))
            write_messages(connection, person, messages)
            _write_decision(connection, mine, entries)
            if version is None and opening is not None:
                write_several(connection, "trail_write", [(opening[1], opening[0], mine, 0)])
            return row, written, connection.execute(QUERIES["ledger_version"], (mine,))

        row, written, version_now = await self._db.write(work, anywhere=True)
        row = row or written.fetchone()
        self._newly.stands(row)
        return AgreedLedger(session_of(row), _version_of(version_now.fetchone()))


def _begin_session(connection: Connection, session: Session, opening: tuple[str, bytes] | None, number: int) -> Cursor:
    """Begin a session under a number that was reserved for it; the transaction ends itself where it may have been begun
    already, here or elsewhere."""
    row = session_row(session)
    connection.execute(QUERIES["person_add"], (row["person"],))
    namespace, link = opening or ("", b"")
    since = (session.seen_at - AGAIN).timestamp()
    connection.execute("SELECT session_must_be_new(?, ?, ?, ?, ?)", (session.id, session.key, namespace, link, since))
    written = connection.execute(QUERIES["session_begin"], row | {"number": number})
    if opening is not None:
        write_several(connection, "trail_write", [(link, namespace, number, 0)])
    return written


def _write_decision(connection: Connection, session: int, entries: Sequence[Entry]) -> None:
    """Write what was decided in a session, without waiting for it."""
    decided = [entry_row(entry, session) for entry in entries]
    write_several(connection, "ledger_write", [tuple(each.values()) for each in decided])
    for each, entry in zip(decided, entries, strict=True):
        if entry.memories:
            connection.execute(QUERIES["ledger_mention"], (names(entry.memories), session, each["mark"]))


def _ask_begun(connection: Connection, session: Session, opening: tuple[str, bytes] | None) -> Cursor:
    """Ask for the sessions that may have been begun for the same request."""
    if opening is None:
        return connection.execute(QUERIES["session_by_key"], (session.key,))
    return connection.execute(many("trail_find", 1), opening)


def _begun_elsewhere(begun: Cursor, session: Session, opening: tuple[str, bytes] | None) -> Row | None:
    """The row of the session that another process has begun for the same request."""
    row: Row | None = begun.fetchone()
    if row is None or row["id"] == session.id:
        return None
    late = opening is not None and session.seen_at - datetime.fromisoformat(row["seen_at"]) >= AGAIN
    return None if late else row


def _version_of(row: Row) -> LedgerVersion:
    return LedgerVersion(row["last"], row["size"])


def _version(connection: Connection, session: int) -> LedgerVersion:
    return _version_of(connection.execute(QUERIES["ledger_version"], (session,)).fetchone())
