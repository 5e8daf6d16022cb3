"""Note an exchange: bring it into the journal before the client sees the end of the reply.

When the journal cannot take it, the exchange is kept here and written as soon as the journal can.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace

from memory.conversation import Conversation, Image, Opaque, Part, Reasoning, Reply, Text, ToolCall, ToolResult
from memory.ports import Guard, Journal
from memory.session import Arrival, Exchange, Prepared, Session

log = logging.getLogger(__name__)

PATIENCE = 30.0
"""Seconds that one write may take before it is tried again later."""

KEPT = 2000
"""Exchanges kept while the journal cannot be written; beyond it the oldest are lost, and that is counted."""

KEPT_BYTES = 64 * 2**20
"""Bytes of the texts of the exchanges that are kept, beyond which the oldest are lost too. The newest one is kept
though it alone be larger."""

AGAIN_SECONDS = 5.0
"""How long to wait before what is kept is tried again."""


class DiskNearlyFull(Exception):
    """The disk is too full to journal anything more. What comes is kept in memory and written when there is room."""


@dataclass(frozen=True, slots=True)
class _Heard:
    """An exchange, whose session may still have to be found."""

    prepared: Prepared
    conversation: Conversation
    reply: Reply
    status: int


class Notes:
    """The shell that journals exchanges.

    ``place`` finds the session of a request that is unplaced, ``save`` writes what of a session's ledger is not
    written yet: who has seen the end of a reply sends its history again, and it must be made the same again.
    """

    def __init__(
        self,
        journal: Journal,
        guard: Guard,
        journaled: Callable[[], None],
        place: Callable[[Conversation, Arrival], Awaitable[Session]],
        room: Callable[[], bool] = lambda: True,
        save: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self._journal = journal
        self._room = room
        self._guard = guard
        self._place = place
        self._save = save
        self._journaled = journaled
        self._kept: deque[tuple[_Heard, int]] = deque()  # each with its bytes
        self._kept_bytes = 0
        self._again: asyncio.Task[None] | None = None
        self.lost = 0

    @property
    def kept(self) -> int:
        """How many exchanges wait for the journal."""
        return len(self._kept)

    async def note(self, prepared: Prepared, conversation: Conversation, reply: Reply, status: int) -> None:
        """Journal an exchange. Where the caller asked for no storing, only the session and its ledger are kept."""
        if not prepared.journaled:
            return
        exchange = _Heard(prepared, conversation, reply, status)
        if await self._write(exchange):
            self._journaled()
            return
        self._keep(exchange)
        if self._again is None or self._again.done():
            self._again = asyncio.create_task(self._try_again())

    async def write_kept(self) -> None:
        """Try again to write what could not be written, oldest first; stops at the first that still cannot."""
        while self._kept:
            exchange, _ = self._kept[0]
            if not await self._write(exchange):
                return
            if self._kept and self._kept[0][0] is exchange:
                self._drop()
            self._journaled()

    async def stop(self) -> None:
        """Write what waits once more, and try no further."""
        if self._again is not None:
            self._again.cancel()
            await asyncio.wait({self._again})
            self._again = None
        await self.write_kept()

    def _keep(self, exchange: _Heard) -> None:
        size = _bytes_of(exchange)
        while self._kept and (len(self._kept) >= KEPT or self._kept_bytes + size > KEPT_BYTES):
            self._drop()
            self.lost += 1
            log.error(
                "an exchange is lost: the journal cannot be written, and no more can be kept (%d so far)", self.lost
            )
        self._kept.append((exchange, size))
        self._kept_bytes += size

    def _drop(self) -> None:
        _, size = self._kept.popleft()
        self._kept_bytes -= size

    async def _try_again(self) -> None:
        """Until nothing is kept any more: nobody else would write it while no further exchange comes."""
        while self._kept:
            await asyncio.sleep(AGAIN_SECONDS)
            await self.write_kept()

    async def _write(self, exchange: _Heard) -> bool:
        written, _ = await self._guard(
            self._commit(exchange), otherwise=False, within=PATIENCE, doing="journaling an exchange"
        )
        return written

    async def _commit(self, heard: _Heard) -> bool:
        if not self._room():
            raise DiskNearlyFull("there is less free disk than memory.journal.min_free_mib")
        prepared, receipt = heard.prepared, heard.prepared.receipt
        session = prepared.session
        if session is None:
            session = await self._place(heard.conversation, prepared.arrival)
            receipt = replace(receipt, session=session.id)
        exchange = Exchange(
            receipt.id, session, prepared.arrival, heard.conversation, heard.reply, heard.status, receipt
        )
        # Side by side: the journal's one writer takes both into the same transaction.
        saving = [self._save(session.id)] if self._save is not None else []
        await asyncio.gather(*saving, self._journal.commit(exchange))
        return True


def _bytes_of(heard: _Heard) -> int:
    """What an exchange's texts take in memory, without looking at a character of them."""
    parts = [part for message in heard.conversation.messages for part in message.parts]
    spoken = sum(sys.getsizeof(message.spoken) for message in heard.conversation.messages)
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
