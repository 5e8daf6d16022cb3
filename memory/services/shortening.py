"""Make a request smaller that its provider has refused as too long, so that it can be sent once more."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from memory.conversation import Conversation, Usage
from memory.services.deadline import Deadline
from memory.services.request import SessionRequest
from memory.services.sessions.session_matching import SessionMatcher
from memory.services.window.fitting import Fit, WindowFitter
from memory.session import Pending, Prepared

BELIEVED = 0.8
"""How large a request must be, as a share of the limit that its refusal names, for that limit to be believed: error
texts repeat what a client said."""

REFUSED_SECONDS = 4.0
"""How long deciding what leaves a refused request may take: its only other answer is an error. And how much longer a
request is waited for that would be refused as it came."""


class OverflowShortener:
    """Shortens refused requests."""

    def __init__(self, sessions: SessionMatcher, fitting: WindowFitter) -> None:
        self._sessions = sessions
        self._fitting = fitting

    async def shortened(
        self, conversation: Conversation, prepared: Prepared, limit: int | None, size: int | None, decides: bool
    ) -> Prepared | None:
        """The request with less in it, of which nothing is written down yet; None where nothing can leave it.

        ``limit`` is how many tokens its model reads and ``size`` how many the request had, as far as the provider said
        so. With ``decides`` more may leave than what stands in its session's ledger.
        """
        arrival, deadline = prepared.arrival, Deadline(REFUSED_SECONDS)
        found = self._sessions.find if decides else self._sessions.find_known
        live = await found(conversation, arrival) or await self._sessions.find_rewritten(conversation, arrival)
        if live is None:
            return None
        request = SessionRequest(conversation, live, arrival)
        sent = self._fitting.load(request, prepared.edits)
        if limit and max(size or 0, sent.expected) >= BELIEVED * limit:
            self._fitting.learn_window(conversation.model, limit)
        if size and prepared.changed is not None:
            await self._fitting.learn_usage(request, prepared.edits, prepared.tools, Usage(input=size))
        fit = Fit()
        if decides:
            async with asyncio.timeout(deadline.left):
                await live.lock.acquire()
            try:
                fit = await self._fitting.fit_after_refusal(request, prepared.edits, deadline)
            finally:
                live.lock.release()
        standing = request.standing(fit.entries)
        edits = standing.edits
        fit = self._fitting.measured(request, standing, self._fitting.load(request, edits), fit)
        # Deciding has counted what was only estimated when the request was sent.
        sent = self._fitting.load(request, prepared.edits)
        if fit.changed >= sent.changed:
            return None
        receipt = replace(
            prepared.receipt,
            session=live.session.id if decides else prepared.receipt.session,
            status=f"{prepared.receipt.status}; refused as too long",
            note="; ".join(filter(None, (prepared.receipt.note, fit.note))),
            tokens=fit.tokens,
            window=fit.window,
            shed=fit.shed,
            saved=-fit.changed,
            sources=fit.sources,
        )
        return replace(
            prepared,
            session=live.session if decides else prepared.session,
            edits=edits,
            receipt=receipt,
            unplaced=prepared.unplaced and not decides,
            changed=fit.changed,
            pending=Pending(fit.entries, fit.unkept),
        )
