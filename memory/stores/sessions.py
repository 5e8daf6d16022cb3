"""Sessions in the journal: who they are, where their requests ended, and what was decided in them.

What had been read behind so many messages of a session since a person last spoke: reckoned on from exchange to
exchange, so that a long turn is not read again with each of its requests.

Where a request ended, by which the next one of its session is found: its reply is part of that, in each form in
which a client may send it back.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from itertools import accumulate, groupby

import orjson

from memory.conversation import Message, Part, Reasoning, Reply, Role, Text, chained, digest
from memory.edits import Act, Entry
from memory.fact import Origin
from memory.learning.taint import taint_of
from memory.lru import LruDict
from memory.ports import JournaledMessage, JournaledTurn
from memory.scope import Scope
from memory.session import Receipt, Session
from memory.stores.base import CHUNK, JournalPart, ask_many, widening
from memory.stores.connection import Connection, Row
from memory.stores.errors import PersonForgottenError
from memory.stores.exchange_draft import ExchangeDraft
from memory.stores.history_cache import DIGEST, EarlierExchange, split
from memory.stores.messages import seal_all, unseal, write_messages
from memory.stores.queries import QUERIES, many, write_returning, write_several
from memory.stores.recent_commits import RecentCommits, history_of
from memory.stores.rows import entry_of, entry_row, names, receipt_of, session_of, session_row, stamp

HEARD_IN = 64
"""Sessions of a namespace, those seen last, of which one may be that of a history that was written anew."""


def write_session(connection: Connection, session: Session) -> Row:
    """Insert or update; the session's row."""
    row = session_row(session)
    written: list[Row] = connection.execute(QUERIES["session_write"], row).fetchall()
    if not written:
        connection.execute(QUERIES["person_add"], (row["person"],))
        written = connection.execute(QUERIES["session_write"], row).fetchall()
    return written[0]


def write_entries(connection: Connection, entries: Iterable[Entry], session: int) -> None:
    """Write what was decided, in its order; what stands there already is not written twice."""
    for added, some in groupby(entries, lambda entry: entry.act is Act.APPEND):
        if added:
            _write_entries(connection, list(some), session)
            continue
        for entry in some:
            if not _write_entries(connection, [entry], session):
                again = connection.execute(QUERIES["ledger_again"], (session, entry_row(entry, session)["mark"]))
                _mention(connection, again.fetchone()["number"], entry)


def _write_entries(connection: Connection, entries: Sequence[Entry], session: int) -> int:
    """Write those entries that do not stand there; how many that were."""
    rows = [entry_row(entry, session) for entry in entries]
    added = write_returning(connection, "ledger_write", [tuple(row.values()) for row in rows])
    by_mark = {row["mark"]: entry for row, entry in zip(rows, entries, strict=True)}
    for number, mark in added:
        _mention(connection, number, by_mark[mark])
    return len(added)


def _mention(connection: Connection, number: int, entry: Entry) -> None:
    if entry.memories:
        connection.execute(QUERIES["mentions_write"], ("ledger", number, names(entry.memories)))


def write_new_entry(connection: Connection, entry: Entry, stored: Entry, session: int) -> None:
    """Write an entry as it is ``stored`` (its text may be gone), unless it stands there already, wherever that is: what
    was decided after it stays after it."""
    row = entry_row(stored, session) | {"mark": entry_row(entry, session)["mark"]}
    for number, _ in write_returning(connection, "ledger_write", [tuple(row.values())]):
        _mention(connection, number, stored)


class Sessions(JournalPart):
    """The part of the journal that knows sessions, their trails and their ledgers."""

    _newly: RecentCommits

    async def session_by_key(self, key: str) -> Session | None:
        def work(connection: Connection) -> Session | None:
            row = connection.execute(QUERIES["session_by_key"], (key,)).fetchone()
            return session_of(row) if row else None

        return await self._db.look(work)

    async def session_by_trail(self, namespace: str, trail: Sequence[bytes]) -> tuple[Session, int, bool] | None:
        """See :class:`memory.ports.Journal`. Asks for the longest links first."""

        def work(connection: Connection) -> tuple[Session, int, bool] | None:
            found = by_trail(connection, namespace, trail)
            return (session_of(found[0]), found[1], bool(found[0]["at_tip"])) if found else None

        # A trail of ordinary length takes less than the way to a reader's thread.
        return await (self._db.look(work) if len(trail) <= CHUNK else self._db.read(work))

    async def session_by_messages(
        self, namespace: str, messages: Sequence[bytes], end: int
    ) -> tuple[Session, int, tuple[bytes, ...]] | None:
        begin = f"{namespace}:trail:"
        keys = begin, f"{begin[:-1]};"

        def work(connection: Connection) -> tuple[Session, int, tuple[bytes, ...]] | None:
            asked = many("session_by_messages", len(messages))
            row = connection.execute(asked, (*keys, HEARD_IN, *messages)).fetchone()
            if row is None:
                return None
            last = split(history_of(connection, row["tip"])[-end * DIGEST :]) if row["tip"] else ()
            return session_of(row), row["heard"], last

        return await self._db.read(work) if messages else None

    async def ledger(self, session: str) -> tuple[Entry, ...]:
        def work(connection: Connection) -> tuple[Entry, ...]:
            return tuple(entry_of(row) for row in connection.execute(QUERIES["ledger_of"], (session,)))

        return await self._db.read(work)

    async def given(self, session: str) -> list[tuple[bytes, tuple[str, ...]]]:
        def work(connection: Connection) -> list[tuple[bytes, tuple[str, ...]]]:
            rows = connection.execute(QUERIES["ledger_given"], (session,)).fetchall()
            given = orjson.loads("[" + ",".join(row["memories"] for row in rows) + "]")
            return [(row["digest"], tuple(ids)) for row, ids in zip(rows, given, strict=True)]

        return await self._db.look(work)

    async def enter(self, session: Session, entries: Sequence[Entry], messages: Sequence[Message] = ()) -> None:
        """See :class:`memory.ports.Journal`. Entering the same entry twice is entering it once; where the last one
        written holds, it is the last one then."""
        sealed = await seal_all(messages, self._redact.of(session.scope.org))

        def work(connection: Connection) -> Row:
            forgotten = self._forgotten_persons.ask(connection, session.scope, session.seen_at)
            row = write_session(connection, session)
            self._forgotten_persons.refuse(forgotten)
            write_messages(connection, row["person"], sealed)
            write_entries(connection, entries, row["number"])
            return row

        with contextlib.suppress(PersonForgottenError):
            self._newly.stands(await self._db.write(work, anywhere=True))

    async def withdraw(self, session: Session, entries: Sequence[Entry]) -> None:
        def work(connection: Connection) -> Row:
            forgotten = self._forgotten_persons.ask(connection, session.scope, session.seen_at)
            row = write_session(connection, session)
            self._forgotten_persons.refuse(forgotten)
            for entry in entries:
                mark = entry_row(entry, row["number"])["mark"]
                for gone in connection.execute(QUERIES["ledger_withdraw"], (row["number"], mark)).fetchall():
                    for memory in entry.memories:
                        connection.execute(QUERIES["retention_unmention"], (memory, "ledger", gone["number"]))
            return row

        with contextlib.suppress(PersonForgottenError):
            self._newly.stands(await self._db.write(work, anywhere=True))


def by_trail(connection: Connection, namespace: str, trail: Sequence[bytes]) -> tuple[Row, int] | None:
    """The row of the session that went furthest along a trail, and how many messages are shared."""
    for piece in widening(range(len(trail) - 1, -1, -1)):
        place = {trail[index]: index for index in piece}
        rows = connection.execute(many("trail_find", len(place)), (namespace, *place)).fetchall()
        if rows:
            # The first of the longest: the query puts a tip, then the session seen last, before the others.
            best = max(rows, key=lambda row: place[row["link"]])
            return best, place[best["link"]] + 1
    return None


NAMED = 4
"""Letters of an id at least that name a session; a runtime's own id may be shorter."""


class LatestTurnStore(JournalPart):
    """The part of the journal that is asked where sessions stand."""

    async def latest(self, limit: int, runtime: str = "", of: Scope | None = None) -> list[tuple[Session, Receipt]]:
        query = ("latest_turns", (runtime, limit)) if of is None else ("latest_of", (runtime, limit, of.org, of.user))

        def work(connection: Connection) -> list[tuple[Session, Receipt]]:
            rows = connection.execute(QUERIES[query[0]], query[1])
            return [(session_of(row), receipt_of(row["receipt"])) for row in rows]

        return await self._db.read(work)

    async def turns(self, person: str, name: str, limit: int = 2) -> list[JournaledTurn]:
        def work(connection: Connection) -> list[JournaledTurn]:
            end = name + "\U0010ffff" if len(name) >= NAMED else name
            found = (person, name, end, limit)
            return [_turn(connection, row) for row in connection.execute(QUERIES["latest_named"], found).fetchall()]

        return await self._db.read(work) if name else []


def _turn(connection: Connection, row: Row) -> JournaledTurn:
    digests = split(history_of(connection, row["turn"]))
    wanted = [*digests, row["reply"]] if row["reply"] else digests
    messages = {}
    for held in ask_many(connection, "messages_get", wanted, (row["person"],)):
        # One damaged row must not keep the rest of a session from being given back.
        with contextlib.suppress(ValueError):
            message = unseal(held["digest"], held["role"], held["body"], whole=True)
            messages[message.digest] = JournaledMessage(message, bool(held["redacted"]), bool(held["forgotten"]))
    return JournaledTurn(
        session=session_of(row),
        dialect=row["dialect"],
        model=row["model"],
        at=datetime.fromisoformat(row["turned_at"]),
        messages=tuple(messages.get(key) or _missing(key) for key in digests),
        reply=messages.get(row["reply"]) if row["reply"] else None,
    )


def _missing(digest: bytes) -> JournaledMessage:
    return JournaledMessage(Message(Role.OTHER, (Text("[unreadable]"),), digest), redacted=True)


_STEP = 200
"""Messages that are read at once, from the end on."""

Read = Callable[[Sequence[bytes]], Mapping[bytes, Message]]


@dataclass(frozen=True, slots=True)
class _KnownTaint:
    """The taint behind a history of so many bytes with this hash."""

    size: int
    hash: bytes
    taint: Origin | None


class RunningTaints:
    """The taints of the sessions that are alive, of ``most`` of them."""

    def __init__(self, most: int = 512) -> None:
        self._lock = threading.Lock()
        self._known: LruDict[str, _KnownTaint] = LruDict(most)

    def behind(self, history: bytes, *, of: str, read: Read) -> Origin | None:
        """The taint behind a joined history of the session ``of``; ``read`` gives messages by their digests."""
        with self._lock:
            known = self._known.get(of)
        if known is None or known.hash != _hash(history[: known.size]):
            known = _KnownTaint(0, b"", None)
        # Its last message again: what a runtime says is told by what stands before it.
        first = max(known.size // DIGEST - 1, 0)
        digests = split(history)
        unread: list[Message] = []
        end, spoken = len(digests), False
        while end > first and not spoken:
            start = max(first, end - _STEP)
            found = read(digests[start:end])
            step = [found[key] for key in digests[start:end]]
            spoken = any(message.role is Role.USER and message.spoken for message in step)
            unread[:0] = step
            end = start
        taint = taint_of(unread, known.taint)
        with self._lock:
            self._known.put(of, _KnownTaint(len(history), _hash(history), taint))
        return taint


def _hash(history: bytes) -> bytes:
    return blake2b(history, digest_size=16).digest()


def reply_message(reply: Reply) -> Message | None:
    """The reply as the message that a client sends back; None where nothing was said."""
    name = digest(Role.ASSISTANT, reply.sent or reply.parts)
    return Message(Role.ASSISTANT, reply.parts, name) if reply.parts else None


def forms(parts: Sequence[Part], whole: bytes = b"") -> list[tuple[bytes, ...]]:
    """The digests of the messages as which a client may send a reply back, the likeliest first; ``whole`` is that of
    all parts as one message, where it is known.

    As one message or, in the Responses format, as one for each part; and without the reasoning, which most
    clients of the chat format leave out.
    """
    found: dict[tuple[bytes, ...], None] = {}
    plain = tuple(part for part in parts if not isinstance(part, Reasoning))
    for chosen in (tuple(parts), plain) if len(plain) < len(parts) else (plain,):
        if chosen:
            found[(whole if whole and len(chosen) == len(parts) else digest(Role.ASSISTANT, chosen),)] = None
            if len(chosen) > 1:
                found[tuple(digest(Role.ASSISTANT, (part,)) for part in chosen)] = None
    return list(found)


def going_on(link: bytes, digests: Iterable[bytes]) -> bytes:
    """The link of a trail that goes on with these messages (see :meth:`memory.conversation.Conversation.trail`)."""
    for key in digests:
        link = chained(link, key)
    return link


def links(digests: Iterable[bytes]) -> list[bytes]:
    """The trail of these messages."""
    return list(accumulate(digests, chained, initial=b""))[1:]


def last_link(history: bytes, bases: Iterable[EarlierExchange]) -> bytes:
    """The last link of the trail of a history; hashing goes on from an exchange that the request continues."""
    for past in bases:
        if past.link and history.startswith(past.history):
            return going_on(past.link, split(history[len(past.history) :]))
    return going_on(b"", split(history))


def write_trail(connection: Connection, draft: ExchangeDraft, session: int, number: int, link: bytes) -> None:
    """Where this request ended, and where the next one will be when it sends the reply along."""
    if not link or not (draft.kind.teaches or draft.extends):
        return
    if draft.kind.teaches:
        connection.execute(QUERIES["session_tip"], {"turn": number, "session": session, "at": stamp(draft.at)})
    links = [link]
    if draft.complete:
        links.extend(going_on(link, sequence) for sequence in draft.forms)
    write_several(
        connection, "trail_write", [(link, draft.namespace, session, number) for link in dict.fromkeys(links)]
    )
