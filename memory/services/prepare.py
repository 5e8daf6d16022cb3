"""Prepare a request: find its session, replay the ledger's edits, and decide once about each new message.

The order matters. Earlier decisions are replayed first and need nothing but the ledger. What is new (the page at a
session's first request, recall at each new message of a person or a tool) is decided under a deadline, and the decision
is recorded whatever it is, so that a retry changes nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory.conversation import Conversation, Reply
from memory.edits import Append, Edit, Insert
from memory.hooks.chain import Features
from memory.ports import Guard
from memory.services.context_sources import PageSource, PriorFindings, Recalled, Recaller, mentions
from memory.services.deadline import Deadline
from memory.services.deciding import ContextDecider, ContextDecision, Known, elapsed_ms, no_addition, tokens_of
from memory.services.ledger_writer import LEDGER_SECONDS, Ledgers
from memory.services.request import SessionRequest
from memory.services.sessions.live import LiveSession
from memory.services.sessions.namespaces import in_own_namespace
from memory.services.sessions.session_matching import SessionMatcher
from memory.services.sessions.shared_errands import SharedErrands
from memory.services.sessions.subagent_detection import RecentErrands
from memory.services.shortening import REFUSED_SECONDS, OverflowShortener
from memory.services.window.fitting import SHED_SECONDS, Fit, WindowFitter, write
from memory.session import Arrival, Mode, Prepared, Receipt, RequestKind
from memory.settings import MemorySettings

PATIENCE = 2
"""Finding a session may take this many times the deadline of a recall."""

USED = 0.9
"""The share of its time limit that the steps of a preparation may use. What is late by then is left out and the rest is
used; at the time limit itself, everything would be lost."""

REPLAY_SECONDS = 5.0
"""How long finding a session may take that this process does not know. If its history was edited before, the same edits
must be replayed, or its prefix breaks; on a busy machine that takes long after a start."""

HOPELESS = 8
"""Bytes per token of the window. A request with more never fits unedited."""


AGREED_SECONDS = 1.0
"""How long a request waits at least for what other replicas have decided: its prefix depends on it."""


HELD_OUT = "held out; this session goes without memory (memory.measure.holdout)"
"""What is told of a request of such a session."""

WITHDRAWING = "taking back what no provider has read"
"""What is told to be under way."""


class Preparation:
    """Prepares requests."""

    def __init__(
        self,
        settings: MemorySettings,
        sessions: SessionMatcher,
        recaller: Recaller,
        pages: PageSource,
        guard: Guard,
        new_id: Callable[[], str],
        paused: Callable[[], bool],
        window_of: Callable[[str], int | None] = lambda model: None,
        fitting: WindowFitter | None = None,
        findings: PriorFindings | None = None,
        spawned: RecentErrands | None = None,
        features: Features | None = None,
        known: Known | None = None,
        errands: SharedErrands | None = None,
    ) -> None:
        self._shared_errands = errands
        self._settings = settings
        self._sessions = sessions
        self._guard = guard
        self._new_id = new_id
        self._paused = paused
        self._fitting = fitting
        self._shortening = OverflowShortener(sessions, fitting) if fitting is not None else None
        self._deciding = ContextDecider(settings, recaller, pages, guard, window_of, fitting, findings, features, known)
        self._findings = findings
        self._spawned = spawned or RecentErrands()
        self._features = features
        self._ledgers = Ledgers(sessions, guard)

    def time_limit(self, conversation: Conversation, arrival: Arrival) -> float:
        """Seconds after which a request is sent without its preparation. One that is far too large for its model would
        only be refused, so it waits longer; so does one whose ledger must be read after a start."""
        arrival = in_own_namespace(arrival)
        limit = self._decision_time(conversation, arrival) + self._replay(conversation, arrival)
        return (
            limit + self._look_time(conversation, arrival) + AGREED_SECONDS if self._sessions.replicas.shared else limit
        )

    def _look_time(self, conversation: Conversation, arrival: Arrival) -> float:
        """Seconds within which it must be found out what other replicas have written. Where that takes longer what is
        remembered here will do, as far as anything is."""
        known = self._sessions.find_remembered(conversation, arrival) is not None
        return AGREED_SECONDS if known else REPLAY_SECONDS

    def _decision_time(self, conversation: Conversation, arrival: Arrival) -> float:
        looking = self._findings.deadline if self._findings is not None else 0.0
        shedding = SHED_SECONDS if self._fitting is not None else 0.0
        return PATIENCE * self._deadline(conversation) + looking + shedding + self._extra_time(conversation, arrival)

    def _deadline(self, conversation: Conversation) -> float:
        return self._deciding.deadline(bool(conversation.messages) and bool(conversation.messages[-1].spoken))

    def _extra_time(self, conversation: Conversation, arrival: Arrival) -> float:
        if self._fitting is None or arrival.size <= HOPELESS * self._fitting.window(conversation):
            return 0.0
        return REFUSED_SECONDS

    def _replay(self, conversation: Conversation, arrival: Arrival) -> float:
        """Extra seconds for a request whose session may be known to the journal only."""
        known = self._sessions.find_remembered(conversation, arrival) is not None
        return 0.0 if known or not _takes_part(conversation, arrival) else REPLAY_SECONDS

    def untouched(self, conversation: Conversation, arrival: Arrival, status: str) -> Prepared:
        """A request in which memory no longer takes part: the edits of its session that this process remembers are
        replayed, so that the prefix stays, and nothing is added or recorded. Never waits."""
        arrival = in_own_namespace(arrival)
        near = self._sessions.find_nearest(conversation, arrival) if _takes_part(conversation, arrival) else None
        return self._replay_only(conversation, arrival, near, status)

    async def fallback_edits(self, conversation: Conversation, arrival: Arrival, why: str) -> Prepared:
        """The edits that this process remembers, for when preparing failed. Waits for nothing but the ledger, and for
        that no longer than any request does.

        That the newest message gets nothing is recorded like any decision: a retry must not add what this request
        did not have.
        """
        arrival = self._resolve_kind(conversation, self._allowed(in_own_namespace(arrival)))
        if not _takes_part(conversation, arrival):
            return self._replay_only(conversation, arrival, None, f"degraded; {why}")
        near = self._sessions.find_nearest(conversation, arrival)
        if arrival.mode is Mode.OFF:
            return self._replay_only(conversation, arrival, near, f"degraded; {why}")
        live = None
        decides = False
        if near is not None:
            arrival = _of_session(arrival, near)
        else:
            arrival, _ = self._spawned.recognised(conversation, arrival)
        if arrival.kind.teaches and not self._paused():
            decides = True
            live = self._sessions.decide(conversation, arrival, no_addition(conversation, why))
        elif self._sessions.find_remembered(conversation, arrival) is near:
            live = near
        edits = _replayed_edits(conversation, arrival, near)
        if self._fitting is not None and near is not None and arrival.kind.teaches and not self._paused():
            request = SessionRequest(conversation, near, arrival)
            fit = self._fitting.fit_without_plan(request, self._fitting.load(request, edits))
            if fit.entries:
                edits = request.edits(fit.entries)
            if live is near:
                self._record_fit(near, fit)
        if decides and live is not None:
            await self._written(live)
        elif decides:
            placing = self._sessions.place(conversation, arrival)
            await self._ledgers.waited_for(placing, "writing that nothing was added")
        receipt = self._receipt(arrival, conversation, live.session.id if live else "", f"degraded; {why}")
        return Prepared(live.session if live else None, arrival, edits, receipt, unplaced=live is None, changed=None)

    async def prepare(self, conversation: Conversation, arrival: Arrival) -> Prepared:
        """The edits that this request needs.

        Raises:
            StoreError: when the session cannot be read; :meth:`fallback_edits` is what is left then.
        """
        arrival = self._allowed(in_own_namespace(arrival))
        if self._sessions.replicas.shared and _takes_part(conversation, arrival):
            async with asyncio.timeout(self._look_time(conversation, arrival)):
                await self._sessions.replicas.look(conversation, arrival)
                if self._shared_errands is not None:
                    await self._shared_errands.hear(conversation, arrival)
        if arrival.mode is Mode.OFF:
            known = (
                await self._sessions.find_known(conversation, arrival) if _takes_part(conversation, arrival) else None
            )
            return self._replay_only(conversation, arrival, known, f"off; {arrival.note}" if arrival.note else "off")
        if not conversation.messages or arrival.scope.user is None:
            return self._replay_only(conversation, arrival, None, f"untouched; {arrival.note or 'no owner'}")
        arrival = self._resolve_kind(conversation, arrival)
        if not _takes_part(conversation, arrival):
            return self._replay_only(conversation, arrival, None, f"untouched; {arrival.kind}")
        began, replay = time.perf_counter(), self._replay(conversation, arrival)
        deciding = USED * self._decision_time(conversation, arrival)
        deadline = Deadline(deciding + replay)
        arrival, taken = self._spawned.recognised(conversation, arrival)
        finding = PATIENCE * self._deadline(conversation) + self._extra_time(conversation, arrival) + replay
        async with asyncio.timeout(deadline.within(finding)):
            find = self._sessions.find if arrival.kind.teaches else self._sessions.find_known
            live = await find(conversation, arrival)
        deadline = Deadline(deadline.within(deciding))
        if live is None:
            # It teaches nothing, so it begins no session; but it may bring along what was said in one.
            live = self._sessions.find_rewritten(conversation, arrival)
            return self._replay_only(
                conversation, arrival, live, f"{'remembered' if live else 'untouched'}; {arrival.kind}"
            )
        self._spawned.arrived(arrival, live.session, taken, conversation)
        arrival = _of_session(arrival, live)
        if self._features is not None and arrival.checkout is not None:
            self._ledgers.run_in_background(self._features.arrived(live.session, arrival), "looking at a checkout")
        request = SessionRequest(conversation, live, arrival)
        steps = {"session": elapsed_ms(began)}
        live.tools = live.tools or bool(conversation.tools)
        decided = ContextDecision()
        without = self._holds_out(live)
        if arrival.kind.teaches and not self._paused() and not without:
            decided = await self._decide(request, deadline)
            steps |= decided.steps
        edits = request.edits()
        fit = decided.fit
        if self._fitting is not None:
            start = time.perf_counter()
            load = self._fitting.load(request, edits)
            if arrival.kind.teaches and not self._paused() and not without:
                trimmed = self._fitting.fit_without_plan(request, load, fit.late)
                if trimmed.entries:
                    self._record_fit(live, trimmed)
                    edits = request.edits()
                    fit, load = replace(trimmed, paged=fit.paged), self._fitting.load(request, edits)
            fit = self._fitting.measured(load, fit)
            steps["measure"] = elapsed_ms(start)
        if arrival.kind.teaches and not self._paused() and not without:
            start = time.perf_counter()
            if self._sessions.replicas.shared:
                request, overruled = await self._agreed(request, deadline)
                live, edits = request.live, request.edits()
                if overruled:
                    decided = ContextDecision(recalled=Recalled(note="another replica has decided"))
                    fit = self._fitting.measured(self._fitting.load(request, edits), Fit()) if self._fitting else fit
            else:
                await self._written(live, deadline.left)
            steps["ledger"] = elapsed_ms(start)
        receipt = replace(
            self._receipt(arrival, conversation, live.session.id, HELD_OUT if without else _status(edits, decided)),
            shown=(*decided.research.shown, *decided.recalled.shown),
            page_tokens=tokens_of(decided.page.text),
            recall_tokens=tokens_of(decided.recalled.text),
            bytes_added=sum(map(_added_bytes, edits)),
            note="; ".join(filter(None, (decided.recalled.note, fit.note))),
            steps=steps | {"prepare": elapsed_ms(began)},
            tokens=fit.tokens,
            window=fit.window,
            shed=fit.shed,
            paged=fit.paged,
            saved=-fit.changed,
        )
        if decided.research.shown and self._findings is not None:
            used = self._findings.used(live.session.id, arrival.at, decided.research, decided.answer)
            self._ledgers.run_in_background(used, "counting the use of research")
        if self._findings is not None and (lines := mentions(decided.recalled.shown)):
            reminded = self._findings.mentioned(live.session.id, arrival.at, lines)
            self._ledgers.run_in_background(reminded, "counting the use of research")
        offers = live.ledger.offers if conversation.tools and not without else ""
        prepared = Prepared(live.session, arrival, edits, receipt, changed=fit.changed, tools=offers)
        return replace(prepared, answer=decided.answer)

    def offering(self, prepared: Prepared, conversation: Conversation, tools: str) -> Prepared:
        """The plan with the tools that the request really offers, which may differ from those that were counted: a
        session's first request only begins to offer them."""
        live = self._sessions.get(prepared.session.id) if prepared.session else None
        if self._fitting is None or live is None or prepared.changed is None or tools == prepared.tools:
            return replace(prepared, tools=tools)
        request = SessionRequest(conversation, live, prepared.arrival)
        more = self._fitting.offered_tokens(request) * (1 if tools else -1)
        receipt = replace(prepared.receipt, tokens=prepared.receipt.tokens + more, saved=prepared.receipt.saved - more)
        return replace(prepared, tools=tools, changed=prepared.changed + more, receipt=receipt)

    def _holds_out(self, live: LiveSession) -> bool:
        """Whether a session goes without memory; when nothing is measured any more, none does."""
        return live.session.held_out is True and self._settings.measure.holdout > 0

    def _record_fit(self, live: LiveSession, fit: Fit) -> None:
        """Record what leaves the request in the session's ledger, which is still to be written."""
        if fit.entries:
            write(live, fit.entries, fit.unkept)

    async def _agreed(self, request: SessionRequest, deadline: Deadline) -> tuple[SessionRequest, bool]:
        """Agree with the other processes about what was decided, before the request is sent; whether anything of it
        was decided otherwise. Where that takes too long the request goes as it was decided here: the session may then
        have been given something else elsewhere, which is told as a failure of memory."""
        self._withdraw_beside(request.live)
        agreeing = self._sessions.replicas.agree(request.live, request.conversation, request.arrival)
        (live, overruled), _ = await self._guard(
            agreeing,
            default=(request.live, False),
            timeout_seconds=max(deadline.left, AGREED_SECONDS),
            operation="agreeing with other replicas",
        )
        return SessionRequest(request.conversation, live, request.arrival), overruled

    async def _decide(self, request: SessionRequest, deadline: Deadline) -> ContextDecision:
        """Decide about a request, one request of a session at a time."""
        live = request.live
        doing = "waiting for another request of the session"
        ours, why = await self._guard(
            live.lock.acquire(), default=False, timeout_seconds=deadline.left, operation=doing
        )
        if ours:
            try:
                decided = await self._deciding.decide(request, deadline)
            finally:
                live.lock.release()
        else:
            live.decide(no_addition(request.conversation, why))
            decided = ContextDecision(recalled=Recalled(note=why, failed=True), fit=Fit(late=True))
        if live.unkept and not self._sessions.replicas.shared:
            # What a stub stands for has to be had before anybody can read the stub.
            doing = "journaling what is shed"
            await self._guard(
                self._sessions.ledgers.save(live), default=None, timeout_seconds=deadline.left, operation=doing
            )
        return decided

    async def shorten_after_overflow(
        self, conversation: Conversation, arrival: Arrival, prepared: Prepared, limit: int | None, size: int | None
    ) -> Prepared | None:
        """The request that a provider refused as too long, made smaller; None where nothing can leave it.

        ``limit`` is how many tokens its model reads and ``size`` how many the request had, as far as it said so. What
        was decided is :attr:`Prepared.pending` until :meth:`mark_sent` or :meth:`mark_unread`. Where the session was
        found too late before, what stands in its ledger may be enough; a request that teaches nothing gets no more than
        that.
        """
        arrival = prepared.arrival
        if self._shortening is None or not _takes_part(conversation, arrival):
            return None
        without = prepared.receipt.status == HELD_OUT
        decides = arrival.kind.teaches and arrival.mode is not Mode.OFF and not self._paused() and not without
        return await self._shortening.shortened(conversation, prepared, limit, size, decides)

    async def mark_sending(self, prepared: Prepared) -> None:
        """A shortened request is about to be sent: what was decided for it is in the journal before its provider may
        read it. Waits for that no longer than any request does."""
        live = self._pending_in(prepared)
        if live is not None:
            # What may be read now must not be taken back by what an earlier try left undone.
            self._sessions.ledgers.withdrawals.settled(live.session.id, prepared.pending.entries)
            await self._ledgers.waited_for(
                self._sessions.ledgers.save_beforehand(live, prepared.pending), "writing the ledger"
            )

    async def mark_sent(self, prepared: Prepared) -> None:
        """A shortened request was sent, and its provider may have read it: what was decided for it stands from now on.
        Waits for the ledger, no longer than any request does."""
        live = self._pending_in(prepared)
        if live is not None:
            write(live, prepared.pending.entries, prepared.pending.unkept)
            await self._written(live)

    async def mark_unread(self, prepared: Prepared) -> None:
        """A shortened request was refused for what stands in it, or never sent: what was decided for it does not stand.
        Where the journal cannot take it back now, it does with the session's next save."""
        live = self._pending_in(prepared)
        if live is not None:
            self._sessions.ledgers.withdrawals.add(live.session, prepared.pending.entries)
            await self._ledgers.waited_for(self._sessions.ledgers.withdraw(live), WITHDRAWING)

    async def _written(self, live: LiveSession, seconds: float = LEDGER_SECONDS) -> None:
        """Wait until a session's ledger is written, for so many seconds at most; what is to be taken back
        goes first."""
        self._withdraw_beside(live)
        await self._ledgers.written(live, seconds)

    def _withdraw_beside(self, live: LiveSession) -> None:
        if self._sessions.ledgers.withdrawals.of(live.session.id):
            self._ledgers.run_in_background(self._sessions.ledgers.withdraw(live), WITHDRAWING)

    def _pending_in(self, prepared: Prepared) -> LiveSession | None:
        """The session that something is pending in."""
        return (
            self._sessions.get(prepared.session.id)
            if prepared.session and prepared.pending.entries
            else None
        )

    def mark_read(self, prepared: Prepared) -> None:
        """The provider has read a request: its prefix is in the provider's cache from now on."""
        if prepared.session is not None and prepared.arrival.kind.teaches:
            self._sessions.mark_read(prepared.session.id, prepared.arrival.at)

    async def learn_usage(self, prepared: Prepared, conversation: Conversation, reply: Reply) -> None:
        """Learn from what the provider reported of a request's size."""
        live = self._sessions.get(prepared.session.id) if prepared.session else None
        if self._fitting is not None and live is not None and prepared.changed is not None:
            request = SessionRequest(conversation, live, prepared.arrival)
            await self._fitting.learn_usage(request, prepared.edits, prepared.tools, reply.usage)

    def _replay_only(
        self, conversation: Conversation, arrival: Arrival, live: LiveSession | None, status: str
    ) -> Prepared:
        """Replay a session's edits and record nothing; no edits if there is no session."""
        edits = _replayed_edits(conversation, arrival, live)
        return Prepared(None, arrival, edits, self._receipt(arrival, conversation, "", status))

    def _allowed(self, arrival: Arrival) -> Arrival:
        """The arrival with its mode limited by the settings and by a pause: what may not teach is not journaled."""
        teaches = self._settings.mode is Mode.ON and not self._paused()
        return replace(arrival, mode=Mode.READ_ONLY) if arrival.mode is Mode.ON and not teaches else arrival

    def _resolve_kind(self, conversation: Conversation, arrival: Arrival) -> Arrival:
        """A request without tools in a session that has some is a title, a summary, a suggestion: no turn."""
        if not arrival.unsure or not arrival.kind.teaches:
            return arrival
        live = self._sessions.find_remembered(conversation, arrival)
        return replace(arrival, kind=RequestKind.SIDE) if live is not None and live.tools else arrival

    async def settle(self) -> None:
        """Wait until every ledger that is being written is in the journal, and what was to be taken back is tried once
        more."""
        await self._ledgers.settle()
        self._ledgers.run_in_background(self._sessions.ledgers.withdraw_all(), WITHDRAWING)
        await self._ledgers.settle()

    def _receipt(self, arrival: Arrival, conversation: Conversation, session: str, status: str) -> Receipt:
        return Receipt(self._new_id(), arrival.at, session, arrival.kind, status, conversation.model)


def _replayed_edits(conversation: Conversation, arrival: Arrival, live: LiveSession | None) -> tuple[Edit, ...]:
    """The edits that a session's ledger holds for a request."""
    return SessionRequest(conversation, live, arrival).edits() if live is not None else ()


def _takes_part(conversation: Conversation, arrival: Arrival) -> bool:
    """Whether a request is one of a session: side requests that are conversations of their own are not."""
    owned = bool(conversation.messages) and arrival.scope.user is not None
    return owned and (arrival.kind.teaches or arrival.extends)


def _added_bytes(edit: Edit) -> int:
    match edit:
        case Append(_, text) | Insert(_, text):
            return len(text.encode())
        case _:
            return 0


def _of_session(arrival: Arrival, live: LiveSession) -> Arrival:
    """A request of a sub-agent's session is a sub-agent's, though it does not say so itself."""
    known = live.session.kind is RequestKind.SUBAGENT and arrival.kind is RequestKind.MAIN
    return replace(arrival, kind=RequestKind.SUBAGENT) if known else arrival


def _status(edits: Sequence[Edit], decided: ContextDecision) -> str:
    if decided.recalled.failed:
        return f"degraded; {decided.recalled.note}"
    if not edits:
        return "untouched"
    return f"remembered; recalled={len(decided.recalled.shown)}; edits={len(edits)}"
