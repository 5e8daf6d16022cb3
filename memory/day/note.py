"""Note an exchange: bring it into the journal before the client sees the end of the reply.

When the journal cannot take it, or not in time, the exchange is set aside, where it outlives this process, and is
taken back as soon as the journal can. Only where that fails too is it kept here.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from memory.conversation import Conversation, History, Image, Opaque, Part, Reasoning, Reply, Text, ToolCall, ToolResult
from memory.edits import Entry
from memory.ports import Guard, Journal
from memory.session import Arrival, Exchange, Prepared, Session

log = logging.getLogger(__name__)

PATIENCE = 30.0
"""Seconds that one write may take before it is tried again later."""

KEPT = 2000
"""Exchanges kept while they can be written nowhere; beyond it the oldest are lost, and that is counted."""

KEPT_BYTES = 64 * 2**20
"""Bytes of the texts of the exchanges that are kept, beyond which the oldest are lost too. The newest one is kept
though it alone be larger."""

AGAIN_SECONDS = 5.0
"""How long to wait before what is aside or kept is tried again."""

ASIDE_SECONDS = 10.0
"""Seconds after which a disk counts as failing that has not taken what is to be set aside: a reply's end waits for it,
and a few milliseconds do, but for a machine that stands still."""

REDACTED_SECOND = 2**17
"""Bytes of an exchange's texts that are freed of secrets in a second at least, also on a busy machine: so much longer
setting it aside may take."""


class DiskNearlyFull(Exception):
    """The disk is too full to journal anything more. What comes is kept in memory and written when there is room."""


@dataclass(slots=True, eq=False)
class _Heard:
    """An exchange, and how it stands in its session, once that is found."""

    prepared: Prepared
    conversation: Conversation
    reply: Reply
    status: int
    exchange: Exchange | None = None


class Notes:
    """The shell that journals exchanges.

    ``place`` finds the session of a request that is unplaced; ``commit`` brings an exchange into the journal with what
    of its session's ledger is not written yet, and ``unwritten`` tells what that is: who has seen the end of a reply
    sends its history again, and it must be made the same again.
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
    ) -> None:
        self._journal = journal
        self._room = room
        self._guard = guard
        self._place = place
        self._journaling = commit or journal.commit
        self._unwritten = unwritten
        self._journaled = journaled
        self._under_way: dict[str, _Heard] = {}
        self._kept: deque[tuple[_Heard, int]] = deque()  # each with its bytes
        self._kept_bytes = 0
        self._again: asyncio.Task[None] | None = None
        self.lost = 0

    @property
    def kept(self) -> int:
        """How many exchanges wait for the journal."""
        return len(self._kept) + self._journal.aside

    @property
    def broken(self) -> int:
        """Exchanges that were aside and could not be taken back."""
        return self._journal.broken

    async def open(self) -> None:
        """Take back what an earlier process set aside; what the journal does not take yet is tried again."""
        if self._journal.aside and not await self._take_back():
            self._try_later()

    async def note(self, prepared: Prepared, conversation: Conversation, reply: Reply, status: int) -> None:
        """Journal an exchange; when this is done it is in the journal, aside, or kept. Where the caller asked for no
        storing, only the session and its ledger are kept."""
        if not prepared.journaled:
            return
        heard = _Heard(prepared, conversation, reply, status)
        self._under_way[prepared.receipt.id] = heard
        try:
            if await self._write(heard):
                self._journaled()
                return
            if not await self._set_aside(heard):
                self._keep(heard)
        finally:
            del self._under_way[prepared.receipt.id]
        self._try_later()

    async def set_aside(self, receipt: str) -> bool:
        """Have an exchange that is being noted outlive this process, whatever comes of it: by its receipt's id. False
        where it cannot be set aside; True also where it is noted already."""
        heard = self._under_way.get(receipt)
        return heard is None or await self._set_aside(heard)

    async def write_kept(self) -> None:
        """Try again to write what could not be written, oldest first; stops at the first that still cannot."""
        if self._journal.aside and not await self._take_back():
            return
        while self._kept:
            heard, _ = self._kept[0]
            if not await self._write(heard):
                return
            if self._kept and self._kept[0][0] is heard:
                self._drop()
            self._journaled()

    async def stop(self) -> None:
        """Write what waits once more, and try no further."""
        if self._again is not None:
            self._again.cancel()
            await asyncio.wait({self._again})
            self._again = None
        await self.write_kept()

    def _keep(self, heard: _Heard) -> None:
        size = _bytes_of(heard)
        while self._kept and (len(self._kept) >= KEPT or self._kept_bytes + size > KEPT_BYTES):
            self._drop()
            self._lose(1, "the journal cannot be written, and no more can be kept")
        self._kept.append((heard, size))
        self._kept_bytes += size

    def _drop(self) -> None:
        _, size = self._kept.popleft()
        self._kept_bytes -= size

    def _lose(self, count: int, why: str) -> None:
        self.lost += count
        log.error("an exchange is lost: %s (%d so far)", why, self.lost)

    def _try_later(self) -> None:
        if self._again is None or self._again.done():
            self._again = asyncio.create_task(self._try_again())

    async def _try_again(self) -> None:
        """Until nothing waits any more: nobody else would write it while no further exchange comes."""
        while self.kept:
            await asyncio.sleep(AGAIN_SECONDS)
            await self.write_kept()

    async def _write(self, heard: _Heard) -> bool:
        written, _ = await self._guard(
            self._commit(heard), otherwise=False, within=PATIENCE, doing="journaling an exchange"
        )
        return written

    async def _commit(self, heard: _Heard) -> bool:
        self._must_have_room()
        await self._journaling(await self._placed(heard))
        return True

    async def _set_aside(self, heard: _Heard) -> bool:
        async def work() -> bool:
            exchange = await self._placed(heard)
            await self._journal.set_aside(exchange, self._unwritten(exchange.session.id))
            return True

        patience = ASIDE_SECONDS + _bytes_of(heard) / REDACTED_SECOND
        aside, _ = await self._guard(work(), otherwise=False, within=patience, doing="setting an exchange aside")
        return aside

    async def _take_back(self) -> bool:
        """Whether all that was aside is in the journal, or told that it cannot come there."""

        async def work() -> int:
            self._must_have_room()
            return await self._journal.take_back()

        taken, _ = await self._guard(work(), otherwise=None, within=PATIENCE, doing="taking exchanges back")
        if taken is None:
            return False
        if taken:
            log.info("%d exchanges that were set aside are in the journal", taken)
        self._journaled()
        return True

    def _must_have_room(self) -> None:
        if not self._room():
            raise DiskNearlyFull("there is less free disk than memory.journal.min_free_mib")

    async def _placed(self, heard: _Heard) -> Exchange:
        """The exchange in its session, which is found where it was not known."""
        if heard.exchange is None:
            prepared, receipt = heard.prepared, heard.prepared.receipt
            session = prepared.session
            if session is None:
                session = await self._place(heard.conversation, prepared.arrival)
                receipt = replace(receipt, session=session.id)
            heard.exchange = Exchange(
                receipt.id, session, prepared.arrival, heard.conversation, heard.reply, heard.status, receipt
            )
        return heard.exchange


def _bytes_of(heard: _Heard) -> int:
    """What an exchange's texts take in memory, without looking at a character of them."""
    messages = heard.conversation.messages
    if isinstance(messages, History):
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
