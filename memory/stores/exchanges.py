"""Exchanges in the journal: appended as they come, read again by the worker that learns from them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import orjson

from memory.conversation import Message
from memory.edits import Entry
from memory.ports import Journaled
from memory.scope import Layer, Scope
from memory.session import Exchange, Receipt, Session
from memory.stores.base import ask_many
from memory.stores.connection import Connection, Row
from memory.stores.errors import PersonForgottenError
from memory.stores.exchange_draft import ExchangeDraft
from memory.stores.gate import LoopGate
from memory.stores.history_cache import BASES, DIGEST, EarlierExchange, RecentHistories, common, fresh, join, split
from memory.stores.memory_cache import KnownMemories
from memory.stores.messages import PackedMessage, nobody, seal_all, write_messages
from memory.stores.queries import QUERIES, write_several
from memory.stores.recent_commits import CommittedExchange, ExchangeOwner, Reading, WorkerBacklog, history_of
from memory.stores.rows import names, receipt_of, receipt_text, session_of, stamp
from memory.stores.sessions import (
    RunningTaints,
    forms,
    last_link,
    reply_message,
    write_entries,
    write_session,
    write_trail,
)

# A history is stored whole after so many deltas, so that reading one never follows a long chain.
DEPTH = 64

RECENT = 2000
"""Exchanges of everybody's in which a person's newest replies are looked for."""

LOOKED_UP = 1000
"""New messages that are looked up on the loop: some milliseconds."""

# Of a history without end so many messages are read again with every exchange: the first, and those before what is new.
OPENING, BEFORE = 40, 400


@dataclass(frozen=True, slots=True)
class WrittenExchange:
    """An exchange that was written: as later ones build on it, as the workers read it, the number of its person, and
    its session's row where that was written, too."""

    past: EarlierExchange
    exchange: CommittedExchange
    person: int
    session: Row | None = None


class Exchanges(WorkerBacklog):
    """The part of the journal that knows exchanges, messages and receipts."""

    _recent: RecentHistories
    _taints: RunningTaints
    _known: KnownMemories
    _gate: LoopGate
    _drafts: dict[str, asyncio.Future[ExchangeDraft | None]]
    """The exchanges that are being committed, each with its draft, or None where none could be made."""
    _asking: set[str]
    """Those of them of which the database is still being asked what it has."""

    async def commit(self, exchange: Exchange, entries: Sequence[Entry] = (), messages: Sequence[Message] = ()) -> None:
        """See :class:`memory.ports.Journal`. Committing the same exchange twice is committing it once."""
        drafting = self._drafts[exchange.id] = asyncio.get_running_loop().create_future()
        try:
            async with self._gate.passing():  # What is looked up now must still be there when the rest is written.
                opened: list[Message] = []
                draft = await self._drafted(exchange, opened.append)
                drafting.set_result(draft)
                redact = self._redact.of(exchange.session.scope.org)
                await self._write_draft(draft, entries, await seal_all(messages, redact), opened)
        finally:
            if not drafting.done():
                drafting.set_result(None)
            if self._drafts.get(exchange.id) is drafting:
                del self._drafts[exchange.id]

    async def newest_exchange(self) -> int:
        return await self._db.look(lambda connection: int(connection.execute(QUERIES["exchange_newest"]).fetchone()[0]))

    async def recent_replies(self, person: str, limit: int) -> list[tuple[Session, datetime, Message]]:
        def work(connection: Connection) -> list[tuple[Session, datetime, Message]]:
            rows = connection.execute(QUERIES["replies_recent"], (RECENT, person, limit)).fetchall()
            if not rows:
                return []
            messages = self._opened.get(connection, rows[0]["person"], [row["replied"] for row in rows])
            return [
                (session_of(row), datetime.fromisoformat(row["replied_at"]), messages[row["replied"]]) for row in rows
            ]

        return await self._db.read(work)

    async def unlearned(self, limit: int) -> list[Journaled]:
        return await self._behind("learned", limit, self._journaled)

    async def receipt(self, id: str, of: Scope | None = None) -> Receipt | None:
        between: tuple[str | None, ...] = (id, id + "\U0010ffff")
        query = ("receipt_find", between) if of is None else ("receipt_of", (*between, of.org, of.user))

        def work(connection: Connection) -> Receipt | None:
            rows = connection.execute(QUERIES[query[0]], query[1]).fetchall() if id else []
            if rows and (len(rows) == 1 or rows[0]["id"] == id):
                return receipt_of(rows[0]["body"])
            return None

        return await self._db.look(work)

    async def receipts(self, limit: int, of: Scope | None = None) -> list[Receipt]:
        def work(connection: Connection) -> list[Receipt]:
            if of is None:
                rows = connection.execute(QUERIES["receipts_newest"], (limit,))
            else:
                rows = connection.execute(QUERIES["receipts_of"], (of.org, of.user, limit))
            return [receipt_of(row["body"]) for row in rows]

        return await self._db.read(work)

    async def _drafted(
        self, exchange: Exchange, opened: Callable[[Message], None] = nobody, asked_seconds: float | None = None
    ) -> ExchangeDraft:
        """Redacting and packing takes the time, so it is done before the writer is asked, and only for what is new;
        ``opened`` is told what is new as it will be read again. The database is asked for ``asked_seconds`` at most.

        Raises:
            StoreFault: what the database reported.
            TimeoutError: when it has not answered.
        """
        history = join(exchange.conversation.digests)
        reply = reply_message(exchange.reply)
        new = len(exchange.conversation.messages) - _most_shared_messages(self._recent.of(exchange.session.id), history)
        self._asking.add(exchange.id)
        try:
            async with asyncio.timeout(asked_seconds):
                ask = self._db.look if new <= LOOKED_UP else self._db.read
                unknown = await ask(lambda connection: self._unstored_messages(connection, exchange, history, reply))
        finally:
            self._asking.discard(exchange.id)
        return await self._sealed_draft(exchange, history, reply, unknown, opened)

    async def _drafted_unasked(self, exchange: Exchange) -> ExchangeDraft:
        """The same where the database cannot be asked what it has: new is all that it is not known to have."""
        history = join(exchange.conversation.digests)
        reply = reply_message(exchange.reply)
        start = _most_shared_messages(self._recent.of(exchange.session.id), history)
        messages = (*exchange.conversation.messages[start:], *((reply,) if reply else ()))
        return await self._sealed_draft(exchange, history, reply, _each_once(messages))

    async def _sealed_draft(
        self,
        exchange: Exchange,
        history: bytes,
        reply: Message | None,
        messages: Sequence[Message],
        opened: Callable[[Message], None] = nobody,
    ) -> ExchangeDraft:
        arrival, answer = exchange.arrival, exchange.reply
        redact = self._redact.of(exchange.session.scope.org)
        return ExchangeDraft(
            id=exchange.id,
            session=exchange.session,
            kind=arrival.kind,
            extends=arrival.extends,
            namespace=arrival.namespace,
            at=arrival.at,
            dialect=exchange.conversation.dialect,
            model=redact.name(exchange.conversation.model),
            status=exchange.status,
            history=history,
            messages=tuple(await seal_all(messages, redact, opened)),
            reply=reply.digest if reply else None,
            forms=tuple(forms(answer.sent or answer.parts, reply.digest if reply else b"")),
            complete=answer.complete,
            stop=redact(answer.stop),
            usage=answer.usage,
            receipt=replace(exchange.receipt, model=redact.name(exchange.receipt.model)),
            behind=len(exchange.conversation.messages) - 1 - exchange.conversation.newest,
            tools=bool(exchange.conversation.tools),
            placed=exchange.placed,
        )

    async def _write_draft(
        self,
        draft: ExchangeDraft,
        entries: Sequence[Entry],
        messages: Sequence[PackedMessage],
        opened: Sequence[Message] = (),
    ) -> None:
        def work(connection: Connection) -> WrittenExchange | None:
            # Mostly it was written with what was decided about the request, and nothing of it has changed since.
            row, place = None, self._newly.stored(draft.session)
            forgotten = self._forgotten_persons.ask(connection, draft.session.scope, draft.at)
            if place is None:
                row = write_session(connection, draft.session)
                place = row["number"], row["person"]
            number, person = place
            self._forgotten_persons.refuse(forgotten)
            write_messages(connection, person, messages)
            write_entries(connection, entries, number)
            written = self._append(connection, draft, number, person)
            return replace(written, session=row) if written is not None else None

        written = None
        with suppress(PersonForgottenError):
            written = await self._db.write(work, anywhere=True)
        if written is not None:
            self._remember(draft.session.id, written)
            # The worker asks for them at once.
            self._opened.keep(written.person, opened)

    def _remember(self, session: str, written: WrittenExchange) -> None:
        """An exchange was committed."""
        self._recent.remember(session, written.past)
        if written.session is not None:
            self._newly.stands(written.session)
        self._newly.remember(written.exchange)

    def _unstored_messages(
        self, connection: Connection, exchange: Exchange, history: bytes, reply: Message | None
    ) -> list[Message]:
        rows = self._newly.rows(exchange.session.id)
        if rows is None:
            row = connection.execute(QUERIES["session_get"], (exchange.session.id,)).fetchone()
            rows = (row["number"], row["person"]) if row else None
        number, person = rows if rows else (None, _person(connection, exchange))
        start = _most_shared_messages(self._base_exchanges(connection, exchange.session, number), history)
        messages = _each_once((*exchange.conversation.messages[start:], *((reply,) if reply else ())))
        known = set()
        if person is not None:
            digests = [message.digest for message in messages]
            known = {found["digest"] for found in ask_many(connection, "messages_known", digests, (person,))}
        return [message for message in messages if message.digest not in known]

    def _append(
        self, connection: Connection, draft: ExchangeDraft, session: int, person: int
    ) -> WrittenExchange | None:
        """Write an exchange of the session and the person with these numbers; None where it was committed before."""
        bases = self._base_exchanges(connection, draft.session, session)
        base, depth, known = None, 0, 0
        for past in bases:
            shared = common(past.history, draft.history)
            if shared > known and past.depth < DEPTH:
                base, depth, known = past.number, past.depth + 1, shared
        new, times = self._count_new_messages(connection, session, _most_shared_messages(bases, draft.history), draft)
        memories = tuple([each.memory for each in draft.receipt.shown])
        shown, at = names(memories), stamp(draft.at) or ""
        row = _exchange_row(draft, new) | {
            "session": session,
            "base": base,
            "kept": known,
            "depth": depth,
            "shown": shown,
        }
        cursor = connection.execute(QUERIES["exchange_write"], row | {"tail": draft.history[known * DIGEST :]})
        if not cursor.rowcount:
            return None
        number = cursor.lastrowid or 0
        self._newly.written(number)
        write_messages(connection, person, draft.messages)
        write_several(connection, "seen_write", [(session, key, count) for key, count in times.items()])
        link = last_link(draft.history, bases)
        trail = last_link(draft.history[: -draft.behind * DIGEST], bases) if draft.behind else link
        write_trail(connection, draft, session, number, trail)
        if draft.receipt.id:  # A replayed exchange has none: nothing was done to it.
            stored = self._known.of(memories)
            body = receipt_text(draft.receipt, self._redact.of(draft.session.scope.org), stored)
            connection.execute(QUERIES["receipt_write"], (draft.receipt.id, number, body))
        if draft.receipt.shown:
            connection.execute(QUERIES["mentions_write"], ("exchange", number, shown))
        exchange = _committed(draft, number, session, new, memories, datetime.fromisoformat(at))
        return WrittenExchange(EarlierExchange(number, depth, draft.history, link), exchange, person)

    def _base_exchanges(self, connection: Connection, of: Session, session: int | None) -> list[EarlierExchange]:
        """The session's last exchanges, the newest first; of a new session those of the one that it forked from, so
        that what is shared is neither stored nor taught again."""
        bases = self._recent.of(of.id)
        if not bases and session is not None:
            bases = _newest(connection, session)
        if not bases and of.forked_from:
            bases = self._recent.of(of.forked_from)
            row = connection.execute(QUERIES["session_get"], (of.forked_from,)).fetchone()
            if not bases and row:
                bases = _newest(connection, row["number"])
        return bases

    def _count_new_messages(
        self, connection: Connection, session: int, start: int, draft: ExchangeDraft
    ) -> tuple[list[int], dict[bytes, int]]:
        """Which messages are new to the session, and how often each stands in it now, the reply included."""
        digests = split(draft.history)
        rows = ask_many(connection, "seen_find", digests[start:], (session,))
        new, times = fresh(digests, start, {row["digest"]: row["times"] for row in rows})
        for sequence in draft.forms:
            for key in sequence:
                times[key] = digests.count(key) + 1
        return new, times

    def _journaled(self, exchange: CommittedExchange, of: ExchangeOwner, read: Reading) -> Journaled:
        history = exchange.history
        digests = split(history)
        fresh = exchange.fresh
        begin = min(fresh, default=len(digests)) - BEFORE
        opening, end = (OPENING, begin) if begin > OPENING else (0, 0)
        taint = None
        if opening:
            taint = self._taints.behind(history[: (end + 1) * DIGEST], of=of.session.id, read=read)
        between, digests = digests[opening:end], digests[:opening] + digests[end:]
        messages = read([*digests, exchange.reply] if exchange.reply else digests)
        answered = exchange.complete and exchange.status < 400
        return Journaled(
            number=exchange.number,
            id=exchange.id,
            session=of.session,
            kind=exchange.kind,
            at=exchange.at,
            messages=tuple([messages[key] for key in digests]),
            fresh=tuple(index - len(between) if index >= end else index for index in fresh),
            reply=messages[exchange.reply] if answered and exchange.reply else None,
            shown=exchange.shown,
            opening=opening,
            between=between,
            taint=taint,
            tools=exchange.tools,
            recalled=exchange.recalled,
        )


def _exchange_row(draft: ExchangeDraft, new: Sequence[int]) -> dict[str, Any]:
    """What stands in the row of an exchange, whatever it is built on."""
    return {
        "id": draft.id,
        "kind": draft.kind.value,
        "at": stamp(draft.at) or "",
        "dialect": draft.dialect,
        "model": draft.model,
        "status": draft.status,
        "fresh": orjson.dumps(new).decode(),
        "reply": draft.reply,
        "complete": draft.complete,
        "stop": draft.stop,
        "usage": orjson.dumps(asdict(draft.usage)).decode() if draft.usage else "",
        "tools": draft.tools,
    }


def _committed(
    draft: ExchangeDraft, number: int, session: int, new: Sequence[int], memories: tuple[str, ...], at: datetime
) -> CommittedExchange:
    return CommittedExchange(
        number=number,
        id=draft.id,
        session=session,
        kind=draft.kind.value,
        at=at,
        model=draft.model,
        status=draft.status,
        fresh=tuple(new),
        reply=draft.reply,
        complete=draft.complete,
        usage=draft.usage,
        shown=memories,
        history=draft.history,
        tools=draft.tools,
        recalled=draft.receipt.shown if draft.receipt.id else None,
    )


def _most_shared_messages(bases: Iterable[EarlierExchange], history: bytes) -> int:
    """How many messages of a history one of the last exchanges had already, from the front."""
    return max((common(past.history, history) for past in bases), default=0)


def _each_once(messages: Sequence[Message]) -> list[Message]:
    return list({message.digest: message for message in reversed(messages)}.values())[::-1]


def _newest(connection: Connection, session: int) -> list[EarlierExchange]:
    rows = connection.execute(QUERIES["exchanges_newest"], (session, BASES)).fetchall()
    return [EarlierExchange(row["number"], row["depth"], history_of(connection, row["number"])) for row in rows]


def _person(connection: Connection, exchange: Exchange) -> int | None:
    row = connection.execute(QUERIES["person_get"], (exchange.session.scope.owner(Layer.USER) or "",)).fetchone()
    return row["number"] if row else None
