"""An exchange goes into the journal before its client sees the end of the reply."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from memory.conversation import Reply
from memory.session import HiddenRound, Prepared
from memory.withheld import withheld_reply
from proxy import metrics
from proxy.edge import Edge
from proxy.fail_open import fail_open_at_once
from proxy.wire.dialect import RequestView


class ExchangeCommit:
    """Writes one exchange to the journal, once."""

    def __init__(self, edge: Edge, view: RequestView | None, prepared: Prepared | None) -> None:
        self._edge = edge
        self._view = view
        self._prepared = prepared
        self.begun = False
        self.heard: Reply | None = None

    def record_hidden(self, rounds: tuple[HiddenRound, ...]) -> None:
        """Note the hidden rounds of the reply in the receipt."""
        if self._prepared is not None and rounds:
            self._prepared = replace(self._prepared, receipt=replace(self._prepared.receipt, hidden=rounds))

    def begin(self, reply: Reply) -> asyncio.Task[object] | None:
        """Start writing; the write outlives the request."""
        self.begun, self.heard = True, reply
        if self._view is not None:
            reply = withheld_reply(reply, self._view.unread)
        if not reply.complete:
            metrics.CUT.inc()
        memory, view, prepared = self._edge.memory, self._view, self._prepared
        if memory is None or view is None or prepared is None or not prepared.journaled:
            return None
        for hear in (
            lambda: memory.preparation.mark_read(prepared),
            lambda: memory.recent_errands.note_calls(prepared, reply),
        ):
            fail_open_at_once(
                hear, default=None, operation="noting the end of a reply", degradations=self._edge.degradations
            )
        if reply.usage is not None:
            self._edge.run_in_background(memory.preparation.learn_usage(prepared, view.conversation, reply))
        return self._edge.run_in_background(memory.exchange_journal.record(prepared, view.conversation, reply, 200))

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
        aside = self._edge.run_in_background(memory.exchange_journal.set_aside(prepared.receipt.id))
        await asyncio.wait({task, aside}, return_when="FIRST_COMPLETED")
        if task.done():
            return
        metrics.LATE_COMMITS.inc()
        safe = await aside
        why = "aside: in a file, not yet in the journal" if safe else "late: neither in the journal nor aside"
        self._edge.degradations.add("journaling", why)
