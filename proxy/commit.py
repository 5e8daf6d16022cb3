"""An exchange goes into the journal before its client sees the end of the reply."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

from memory.conversation import Reply, ToolCall
from memory.session import HiddenRound, Prepared
from memory.unread_files import UnreadFiles
from memory.withheld import withheld_reply
from proxy import metrics
from proxy.edge import Edge
from proxy.fail_open import SET_ASIDE, fail_open, fail_open_at_once
from proxy.wire.dialect import RequestView

LARGE_TO_LEAVE_OUT = 16 * 1024
"""Bytes of a request, or characters of a reply's calls, from which on a thread looks for what is never read."""

LEAVING_OUT = "leaving out what is never read"
"""What it is called where it fails."""

LEAVING_OUT_SECONDS = 5.0
"""Seconds that it may take for a reply."""

UNHEARD = Reply()
"""What is kept of a reply in which nobody knows what must not be."""


class ExchangeCommit:
    """Writes one exchange to the journal, once."""

    def __init__(self, edge: Edge, view: RequestView | None, prepared: Prepared | None) -> None:
        self._edge = edge
        self._view = view
        self._prepared = prepared
        self.begun = False
        self.heard: Reply | None = None
        self._looked_through: asyncio.Event | None = None

    def record_hidden(self, rounds: tuple[HiddenRound, ...]) -> None:
        """Note the hidden rounds of the reply in the receipt."""
        if self._prepared is not None and rounds:
            self._prepared = replace(self._prepared, receipt=replace(self._prepared.receipt, hidden=rounds))

    def begin(self, reply: Reply) -> asyncio.Task[object] | None:
        """Start writing; the write outlives the request."""
        self.begun, self.heard = True, reply
        if not reply.complete:
            metrics.CUT.inc()
        view = self._view
        if self._edge.memory is None or view is None or self._prepared is None or not self._prepared.journaled:
            return None
        if view.unread and _size(reply) >= LARGE_TO_LEAVE_OUT:
            self._looked_through = asyncio.Event()
            return self._edge.run_in_background(self._record_large(reply, view.unread, self._looked_through))
        kept = reply
        if view.unread:
            kept = fail_open_at_once(
                lambda: withheld_reply(reply, view.unread),
                default=UNHEARD,
                operation=LEAVING_OUT,
                degradations=self._edge.degradations,
            )
        record = self._record(kept)
        return None if record is None else self._edge.run_in_background(record)

    async def _record_large(self, reply: Reply, unread: UnreadFiles, looked_through: asyncio.Event) -> object:
        """Write a reply that must be looked through in a thread first."""
        try:
            kept, _ = await fail_open(
                asyncio.to_thread(withheld_reply, reply, unread),
                default=UNHEARD,
                timeout_seconds=LEAVING_OUT_SECONDS,
                operation=LEAVING_OUT,
                degradations=self._edge.degradations,
            )
            record = self._record(kept)
        finally:
            looked_through.set()
        return None if record is None else await record

    def _record(self, reply: Reply) -> Coroutine[Any, Any, object] | None:
        memory, view, prepared = self._edge.memory, self._view, self._prepared
        if memory is None or view is None or prepared is None:
            return None
        for hear in (
            lambda: memory.preparation.mark_read(prepared, view.conversation, reply),
            lambda: memory.recent_errands.note_calls(prepared, reply),
        ):
            fail_open_at_once(
                hear, default=None, operation="noting the end of a reply", degradations=self._edge.degradations
            )
        if reply.usage is not None:
            self._edge.run_in_background(memory.preparation.learn_usage(prepared, view.conversation, reply))
        return memory.exchange_journal.record(prepared, view.conversation, reply, 200)

    async def commit_before_end(self, reply: Reply) -> None:
        """Write, and wait until the exchange is durable: in the journal or, if that takes longer than the end of a
        reply is held back, in a file. If neither is possible, the reply ends anyway, and that is counted."""
        task = self.begin(reply)
        memory, prepared = self._edge.memory, self._prepared
        if task is None or memory is None or prepared is None:
            return
        done, _ = await asyncio.wait({task}, timeout=self._edge.settings.memory.journal.hold_ms / 1000)
        if done:
            return
        if self._looked_through is not None:
            await asyncio.wait(
                {task, asyncio.ensure_future(self._looked_through.wait())}, return_when="FIRST_COMPLETED"
            )
        aside = self._edge.run_in_background(memory.exchange_journal.set_aside(prepared.receipt.id))
        await asyncio.wait({task, aside}, return_when="FIRST_COMPLETED")
        if task.done():
            return
        metrics.LATE_COMMITS.inc()
        safe = await aside
        why = f"{SET_ASIDE}: in a file, not yet in the journal" if safe else "late: neither in the journal nor aside"
        self._edge.degradations.add("journaling", why)


def _size(reply: Reply) -> int:
    return sum(len(part.arguments) for part in reply.parts if isinstance(part, ToolCall))
