"""Fit a request into its model's window: what leaves it, what comes back to it, and how large it is then.

The shell around :mod:`memory.services.window.shedding` and :mod:`memory.services.window.paging`. What was decided is
written into the session's ledger, so that it is made again in every later request: at once where the request goes out
with it for sure, else when it has gone out. A session's lock is held by the caller.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from memory.context.shed_plan import SegmentCut
from memory.conversation import Conversation, Form, Message, Usage
from memory.edits import PAGED, ROTATE, Act, ActiveEdits, Drop, Edit, Entry
from memory.learning.redact import redact
from memory.ports import Guard
from memory.scope import Scope
from memory.services.context_sources import FrozenPage
from memory.services.deadline import Deadline
from memory.services.request import SessionRequest
from memory.services.sessions.live import LiveSession
from memory.services.window.decision import Decision
from memory.services.window.paging import PageIn, Returned
from memory.services.window.request_size import RequestSize, RequestSizer
from memory.services.window.shedding import Shedder
from memory.services.window.usage_calibration import UsageCalibration
from memory.session import Shed, WindowSources

SHED_SECONDS = 1.0
"""How long deciding what leaves may take. It happens once in many requests, and what must leave must."""

OVER = 0.9
"""What a window is taken for, as a share of the request that a provider refused without saying how much it reads."""


@dataclass(frozen=True, slots=True)
class Fit:
    """How a request stands with its edits. ``tokens`` is what the provider will report, ``changed`` what the edits
    made of it in our own tokens, ``paged`` the handles of what came back; ``note`` says what went wrong. ``entries``
    are what was decided to leave, ``unkept`` the messages that it leaves and that the journal does not have. ``late``
    says that nothing could be decided in time. ``sources`` are its tokens by what they came from."""

    tokens: int = 0
    window: int = 0
    changed: int = 0
    shed: Shed | None = None
    paged: tuple[str, ...] = ()
    note: str = ""
    entries: tuple[Entry, ...] = ()
    unkept: tuple[Message, ...] = ()
    late: bool = False
    sources: WindowSources | None = None


class WindowFitter:
    """Keeps sessions below their windows."""

    def __init__(
        self,
        loads: RequestSizer,
        shedding: Shedder,
        paging: PageIn,
        reported: UsageCalibration,
        page: Callable[[Scope], Awaitable[FrozenPage]],
        guard: Guard,
    ) -> None:
        self._loads = loads
        self._shedding = shedding
        self._paging = paging
        self._reported = reported
        self._page = page
        self._guard = guard

    async def look(self, conversation: Conversation) -> None:
        """Look at a request before its size is asked for: many new messages are looked at beside the loop."""
        await self._loads.look(conversation)

    async def shed(self, request: SessionRequest, deadline: Deadline) -> Fit:
        """Decide what leaves, and write it into the ledger."""
        load = self._loads.of(request, request.edits())
        fit = await self._decide(request, load, deadline)
        write(request.live, fit.entries, fit.unkept)
        return fit

    def fit_without_plan(self, request: SessionRequest, load: RequestSize, late: bool = True) -> Fit:
        """Have leave at once what has to, where a request of a session that has been shed would go out too large: where
        its plan is ``late``, at the expense of the reply; else larger than the window. Never waits. What was decided is
        for the caller to write."""
        decision = self._shedding.fallback_trim(request, load, late)
        entries = list(decision.entries)
        if decision.cut is not None:
            # The note of before goes on, and the page in it; what it says more is without secrets already.
            before = (entry for _, entry in request.standing().entries)
            memories = next((entry.memories for entry in before if entry.act is Act.CUT), ())
            entries.append(_cut_with(request, decision.cut, FrozenPage("", memories)))
        return Fit(shed=decision.shed, note=decision.warning, entries=tuple(entries), unkept=decision.unkept)

    async def fit_after_refusal(self, request: SessionRequest, sent: Sequence[Edit], deadline: Deadline) -> Fit:
        """Decide what leaves a request that its provider would not take with the edits that it was ``sent`` with; of
        that nothing is written yet. Where the session's own edits make it small enough already, nothing."""
        most = int(self._loads.of(request, sent).expected * OVER)
        load = self._loads.of(request, request.edits())
        load = replace(load, window=min(load.window, most))
        return await self._decide(request, load, deadline, load.expected > load.window)

    async def _decide(self, request: SessionRequest, load: RequestSize, deadline: Deadline, must: bool = False) -> Fit:
        fit, late = await self._decide_step(request, load, deadline, must)
        if not late:
            return fit
        # What was decided too late for the request before need not be enough for this one.
        now = replace(self._loads.of(request, request.edits(fit.entries)), window=load.window)
        must = must and now.expected > now.window
        more, _ = await self._decide_step(request, now, deadline, must, fit.entries)
        return replace(
            more,
            shed=more.shed or fit.shed,
            note="; ".join(filter(None, (fit.note, more.note))),
            entries=(*fit.entries, *more.entries),
            unkept=(*fit.unkept, *more.unkept),
        )

    async def _decide_step(
        self, request: SessionRequest, load: RequestSize, deadline: Deadline, must: bool, before: Sequence[Entry] = ()
    ) -> tuple[Fit, bool]:
        """One decision, on top of those ``before``; whether it was made for the request before."""
        decision, why = await self._guard(
            self._shedding.decide(request, request.standing(before), load, must),
            default=Decision(),
            timeout_seconds=deadline.left,
            operation="shedding",
        )
        entries = list(decision.entries)
        if decision.cut is not None:
            reading, doing = self._page(request.live.session.scope), "reading the page"
            page, _ = await self._guard(reading, default=FrozenPage(), timeout_seconds=deadline.left, operation=doing)
            # What is pinned may be long, and looking for secrets would hold every stream up.
            clean = await asyncio.to_thread(redact, decision.cut.text)
            entries.append(_cut_with(request, replace(decision.cut, text=clean.text), page))
        note = why or decision.warning
        fit = Fit(shed=decision.shed, note=note, entries=tuple(entries), unkept=decision.unkept, late=bool(why))
        return fit, decision.late

    async def page_in(self, request: SessionRequest, deadline: Deadline) -> tuple[str, ...]:
        """Bring back what the newest message turns to, once; that nothing came back is a decision too."""
        standing = request.standing()
        last = request.conversation.newest
        if not (standing.replaced or standing.dropped) or any(
            index == last and entry.about == PAGED for index, entry in standing.entries
        ):
            return ()
        window = self._loads.window(request.conversation)
        seen = self._loads.sight(request, standing, self._loads.of(request, standing.edits))
        found, why = await self._guard(
            self._paging.page_in(request.session, seen.conversation, seen.standing, window),
            default=Returned(),
            timeout_seconds=deadline.left,
            operation="paging in",
        )
        form = request.conversation.messages[last].takes or Form.SUFFIX
        # What a client sent may hold a secret, and a ledger must not.
        text = redact(found.text).text if found.text else ""
        written = request.live.decide([Entry(*request.keys[last], text, form, f"{PAGED} {why}".strip())])
        return found.handles if written else ()

    def measured(self, request: SessionRequest, standing: ActiveEdits, load: RequestSize, fit: Fit) -> Fit:
        """How large the request is with all of its edits, and what fills it."""
        sources = self._loads.sources(request, standing, load)
        return replace(fit, tokens=load.expected, window=load.window, changed=load.changed, sources=sources)

    def outgrown(self, request: SessionRequest, load: RequestSize) -> bool:
        """Whether a request goes on from a history at its server that has become too large, and is to be made smaller
        in the client's own copy of it."""
        return self._shedding.outgrown(request, load)

    def load(self, request: SessionRequest, edits: Sequence[Edit]) -> RequestSize:
        """How large a request is with some edits."""
        return self._loads.of(request, edits)

    def window(self, conversation: Conversation) -> int:
        """Tokens that a request's model reads at once."""
        return self._loads.window(conversation)

    def offered_tokens(self, request: SessionRequest) -> int:
        """Tokens of the tools that its session offers beside the client's."""
        return self._loads.offered(request)

    def learn_window(self, model: str, window: int) -> None:
        """A provider said how many tokens a model reads at once."""
        self._reported.learn_window(model, window)

    async def learn_usage(
        self, request: SessionRequest, edits: Sequence[Edit], tools: str, usage: Usage | None
    ) -> None:
        """What a provider reported for a request that went out with some edits, and with the definitions of some
        ``tools``."""

        def counted() -> int:
            # Counted anew: when it was sent, some of it may have been estimated.
            more = self._loads.tokens(tools) - self._loads.offered(request)
            return self._loads.of(request, edits).total + more

        gone = {message for edit in edits if isinstance(edit, Drop) for message in edit.messages}
        await self._reported.reported(request.session, request.conversation, counted, usage, gone)


def _cut_with(request: SessionRequest, cut: SegmentCut, page: FrozenPage) -> Entry:
    """The entry of a cut whose text holds no secret."""
    form = request.conversation.messages[request.conversation.head - 1].takes or Form.SUFFIX
    digest, occurrence = request.keys[cut.message]
    return Entry(digest, occurrence, page.text + cut.text, form, ROTATE, page.memories, act=Act.CUT)


def write(live: LiveSession, entries: Iterable[Entry], unkept: Iterable[Message]) -> None:
    """Write what was decided to leave into a session's ledger, and remember what the journal has still to get for it:
    a stub's handle must lead to what stood there, whatever becomes of the request."""
    written = live.decide(entries)
    if not written:
        return
    live.unkept.update((message.digest, message) for message in unkept)
    if any(entry.act is Act.CUT for entry in written):
        live.session = replace(live.session, segment=live.session.segment + 1)
