"""Record an exchange: write it to the journal before the client sees the end of the reply.

If the journal cannot take it, or not in time, the exchange is set aside in a file and taken back as soon as the journal
can. Only if that fails too does it wait in memory.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from memory.conversation import (
    Conversation,
    Image,
    MessageHistory,
    Opaque,
    Part,
    Reasoning,
    Reply,
    Text,
    ToolCall,
    ToolResult,
)
from memory.edits import Entry
from memory.ports import Guard, Journal
from memory.session import Arrival, Exchange, Prepared, Session

log = logging.getLogger(__name__)

WRITE_TIMEOUT = 30.0
"""Seconds that one write may take before it is retried later."""

MAX_PENDING = 2000
"""Exchanges that wait in memory while they can be written nowhere. Beyond this the oldest are lost, and counted."""

MAX_PENDING_BYTES = 64 * 2**20
"""Bytes of the texts of the waiting exchanges, beyond which the oldest are lost too. The newest stays, however
large."""

RETRY_SECONDS = 5.0
"""Seconds before what is set aside or waiting is retried."""

SET_ASIDE_SECONDS = 10.0
"""Seconds after which a disk counts as failing that has not taken an exchange. The end of a reply waits for it;
normally that takes a few milliseconds."""

REDACTED_BYTES_PER_SECOND = 2**17
"""Bytes of text that are redacted per second at least, even on a busy machine: setting aside may take that much
longer."""


class DiskNearlyFull(Exception):
    """The disk is too full for the journal. Exchanges wait in memory and are written when there is room."""


@dataclass(slots=True, eq=False)
class _PendingExchange:
    """An exchange that is being recorded, and what is written of it once its session is found."""

    prepared: Prepared
    conversation: Conversation
    reply: Reply
    status: int
    exchange: Exchange | None = None
    made_up: bool = False
    """Whether its file, if it has one, tells of a session that was made up: it still waits to be placed."""
    aside: bool = False
    """Whether it is known to have a file, and so counts among what is aside, and outlives this process."""


class ExchangeJournal:
    """Journals exchanges.

    ``place`` finds the session of a request that is unplaced; ``commit`` brings an exchange into the journal with what
    of its session's ledger is not written yet, and ``unwritten`` tells what that is: who has seen the end of a reply
    sends its history again, and it must be made the same again. ``make_up`` gives a session for a request whose own
    cannot be found yet, and what was decided about it, so that its exchange can be set aside.
    """

    def __init__(
        self,
        journal: Journal,
        guard: Guard,
        journaled: Callable[[], None],
        place: Callable[[Conversation, Arrival], Awaitable[Session]],
        room: Callable[[], bool] = lambda: True,
        commit: Callable[[Exchange], Awaitable[None]] | None = None,
        unwritten: Callable[[str], Sequence[Entry]] = lambda session: (),
        make_up: Callable[[Conversation, Arrival], tuple[Session, Sequence[Entry]]] | None = None,
    ) -> None:
        self._journal = journal
        self._has_disk_space = room
        self._guard = guard
        self._place = place
        self._commit_exchange = commit or journal.commit
        self._unwritten = unwritten
        self._make_up = make_up
        self._journaled = journaled
        self._in_progress: dict[str, _PendingExchange] = {}
        self._pending: deque[tuple[_PendingExchange, int]] = deque()  # each with its bytes
        self._pending_bytes = 0
        self._retry_task: asyncio.Task[None] | None = None
        self.lost = 0

    @property
    def pending(self) -> int:
        """How many exchanges wait for the journal."""
        return sum(not heard.aside for heard, _ in self._pending) + self._journal.aside

    @property
    def damaged(self) -> int:
        """Exchanges that were aside and could not be taken back."""
        return self._journal.broken

    async def open(self) -> None:
        """Take back what an earlier process set aside; retry later what the journal does not take yet."""
        if self._journal.aside and not await self._take_back():
            self._schedule_retry()

    async def record(self, prepared: Prepared, conversation: Conversation, reply: Reply, status: int) -> None:
        """Journal an exchange; when this is done it is in the journal, aside, or kept. Where the caller asked for no
        storing, only the session and its ledger are kept."""
        if not prepared.journaled:
            return
        heard = _PendingExchange(prepared, conversation, reply, status)
        self._in_progress[prepared.receipt.id] = heard
        try:
            if await self._write(heard):
                self._journaled()
                return
            if not await self._set_aside(heard) or heard.made_up:
                self._hold(heard)
        finally:
            del self._in_progress[prepared.receipt.id]
        self._schedule_retry()

    async def set_aside(self, receipt: str) -> bool:
        """Have an exchange that is being noted outlive this process, whatever comes of it: by its receipt's id. False
        where it cannot be set aside; True also where it is noted already."""
        heard = self._in_progress.get(receipt)
        try:
            return heard is None or await self._set_aside(heard)
        finally:
            # The journal may have taken it before the file was written, and nothing else would take that away.
            if self.pending:
                self._schedule_retry()

    async def write_pending(self) -> None:
        """Try again to write what could not be written, oldest first; stops at the first that still cannot."""
        if self._journal.aside and not await self._take_back():
            return
        while self._pending:
            heard, _ = self._pending[0]
            if not await self._write(heard):
                return
            if self._pending and self._pending[0][0] is heard:
                self._drop()
            self._journaled()

    async def stop(self) -> None:
        """Write what waits once more, and try no further."""
        if self._retry_task is not None:
            self._retry_task.cancel()
            await asyncio.wait({self._retry_task})
            self._retry_task = None
        await self.write_pending()

    def _hold(self, heard: _PendingExchange) -> None:
        size = _estimated_bytes(heard)
        while self._pending and (len(self._pending) >= MAX_PENDING or self._pending_bytes + size > MAX_PENDING_BYTES):
            if not self._drop().aside:
                self._lose(1, "the journal cannot be written, and no more can be kept")
        self._pending.append((heard, size))
        self._pending_bytes += size

    def _drop(self) -> _PendingExchange:
        heard, size = self._pending.popleft()
        self._pending_bytes -= size
        return heard

    def _lose(self, count: int, why: str) -> None:
        self.lost += count
        log.error("an exchange was lost: %s (%d so far)", why, self.lost)

    def _schedule_retry(self) -> None:
        if self._retry_task is None or self._retry_task.done():
            self._retry_task = asyncio.create_task(self._retry_until_empty())

    async def _retry_until_empty(self) -> None:
        """Retry until nothing waits: without another exchange, nothing else would trigger a write."""
        while self._pending or self.pending:
            await asyncio.sleep(RETRY_SECONDS)
            await self.write_pending()

    async def _write(self, heard: _PendingExchange) -> bool:
        written, _ = await self._guard(
            self._commit(heard), default=False, timeout_seconds=WRITE_TIMEOUT, operation="journaling an exchange"
        )
        return written

    async def _commit(self, heard: _PendingExchange) -> bool:
        self._check_disk_space()
        await self._commit_exchange(await self._with_session(heard))
        return True

    async def _set_aside(self, heard: _PendingExchange) -> bool:
        async def work() -> bool:
            if heard.exchange is None and self._make_up is not None:
                # To look for it may take as long as what holds the journal up.
                session, entries = self._make_up(heard.conversation, heard.prepared.arrival)
                heard.made_up = True
                await self._journal.set_aside(replace(_in_session(heard, session), placed=False), entries)
            else:
                exchange = await self._with_session(heard)
                await self._journal.set_aside(exchange, self._unwritten(exchange.session.id))
            heard.aside = True
            return True

        patience = SET_ASIDE_SECONDS + _estimated_bytes(heard) / REDACTED_BYTES_PER_SECOND
        aside, _ = await self._guard(
            work(), default=False, timeout_seconds=patience, operation="setting an exchange aside"
        )
        return aside

    async def _take_back(self) -> bool:
        """Whether everything that was set aside is in the journal, or reported as unreadable."""

        async def work() -> int:
            self._check_disk_space()
            # What waits here is written from here, with its own session. It may have a file that nobody was told of.
            waiting = {heard.prepared.receipt.id for heard, _ in self._pending}
            return await self._journal.take_back(waiting.union(self._in_progress))

        taken, _ = await self._guard(
            work(), default=None, timeout_seconds=WRITE_TIMEOUT, operation="taking exchanges back"
        )
        if taken is None:
            return False
        if taken:
            log.info("%d exchanges that were set aside are in the journal", taken)
        self._journaled()
        return True

    def _check_disk_space(self) -> None:
        if not self._has_disk_space():
            raise DiskNearlyFull("there is less free disk than memory.journal.min_free_mib")

    async def _with_session(self, heard: _PendingExchange) -> Exchange:
        """The exchange with its session, which is looked up if it is not known yet."""
        if heard.exchange is None:
            prepared = heard.prepared
            session = prepared.session or await self._place(heard.conversation, prepared.arrival)
            heard.exchange = _in_session(heard, session)
        return heard.exchange


def _in_session(heard: _PendingExchange, session: Session) -> Exchange:
    prepared = heard.prepared
    receipt = replace(prepared.receipt, session=session.id)
    return Exchange(receipt.id, session, prepared.arrival, heard.conversation, heard.reply, heard.status, receipt)


def _estimated_bytes(heard: _PendingExchange) -> int:
    """What an exchange's texts take in memory, without looking at a character of them."""
    messages = heard.conversation.messages
    if isinstance(messages, MessageHistory):
        return messages.weight + _size_of(heard.reply.parts)
    parts = [part for message in messages for part in message.parts]
    spoken = sum(sys.getsizeof(message.spoken) for message in messages)
    return sys.getsizeof(heard.conversation.instructions) + spoken + _size_of(parts) + _size_of(heard.reply.parts)


def _size_of(parts: Iterable[Part]) -> int:
    size = 0
    for part in parts:
        match part:
            case Text(text):
                size += sys.getsizeof(text)
            case Image(source):
                size += sys.getsizeof(source)
            case Reasoning(text, signature):
                size += sys.getsizeof(text) + sys.getsizeof(signature)
            case ToolCall(_, _, arguments):
                size += sys.getsizeof(arguments)
            case ToolResult(_, content, _):
                size += _size_of(content)
            case Opaque(_, raw):
                size += sys.getsizeof(raw)
    return size
