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
from memory.ports import BoundedSeconds, Guard
from memory.services.context_sources import PageSource, PriorFindings, Recalled, Recaller, mentions
from memory.services.deadline import Deadline
from memory.services.deciding import ContextDecider, ContextDecision, Known, elapsed_ms, no_addition, tokens_of
from memory.services.ledger_writer import Ledgers
from memory.services.quota_use import QuotaUse
from memory.services.request import SessionRequest, takes_part
from memory.services.sessions.live import LiveSession
from memory.services.sessions.namespaces import in_own_namespace
from memory.services.sessions.session_matching import SessionMatcher
from memory.services.sessions.subagent_detection import RecentErrands, SharedErrands
from memory.services.shortening import OverflowShortener
from memory.services.time_limits import AGREED_SECONDS, TimeLimits
from memory.services.window.counting import MANY
from memory.services.window.fitting import Fit, WindowFitter, write
from memory.services.window.request_size import RequestSize
from memory.session import Arrival, Mode, Prepared, Receipt, RequestKind
from memory.settings import MemorySettings
from memory.visibility import only

HELD_OUT = "held out; this session goes without memory (memory.measure.holdout)"
"""What is told of a request of such a session."""


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
        quotas: QuotaUse | None = None,
    ) -> None:
        self._quotas = quotas
        self._shared_errands = errands
        self._settings = settings
        self._sessions = sessions
        self._guard = guard
        self._new_id = new_id
        self._paused = paused
        self._fitting = fitting
        self._shortening = OverflowShortener(sessions, fitting) if fitting is not None else None
        self._deciding = ContextDecider(
            settings, recaller, pages, guard, window_of, fitting, findings, features, known, quotas
        )
        self._limits = TimeLimits(sessions, self._deciding, fitting, findings)
        self._findings = findings
        self._spawned = spawned or RecentErrands()
        self._features = features
        self.ledgers = Ledgers(sessions, guard)

    def time_limit(self, conversation: Conversation, arrival: Arrival) -> BoundedSeconds:
        """Seconds after which a request is sent without its preparation."""
        return self._limits.whole(conversation, in_own_namespace(arrival))

    async def fallback_edits(self, conversation: Conversation, arrival: Arrival, why: str) -> Prepared:
        """The edits that this process remembers, for when preparing failed. Waits for nothing but the ledger, and for
        that no longer than any request does.

        That the newest message gets nothing is recorded like any decision: a retry must not add what this request
        did not have.
        """
        arrival = self._resolve_kind(conversation, self._with_allowed_mode(in_own_namespace(arrival)))
        if not takes_part(conversation, arrival):
            return self._replay_only(conversation, arrival, None, f"degraded; {why}")
        near = self._sessions.find_nearest(conversation, arrival)
        if arrival.mode is Mode.OFF:
            return self._replay_only(conversation, arrival, near, f"degraded; {why}")
        live = None
        decides = False
        if near is not None:
            arrival = _as_subagent_request(arrival, near)
        else:
            arrival, _ = self._spawned.recognised(conversation, arrival)
        if arrival.kind.teaches and not self._paused():
            decides = True
            keys = conversation.keys() if near is None else SessionRequest(conversation, near, arrival).keys
            live = self._sessions.decide(conversation, arrival, no_addition(conversation, keys, why))
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
            await self.ledgers.written(live)
        elif decides:
            placing = self._sessions.place(conversation, arrival)
            await self.ledgers.waited_for(placing, "writing that nothing was added")
        status = f"degraded; {why}" + (f"; edits={len(edits)}" if edits else "")
        receipt = self._receipt(arrival, conversation, live.session.id if live else "", status)
        return Prepared(live.session if live else None, arrival, edits, receipt, unplaced=live is None, changed=None)

    async def prepare(self, conversation: Conversation, arrival: Arrival) -> Prepared:
        """The edits that this request needs.

        Raises:
            StoreError: when the session cannot be read; :meth:`fallback_edits` is what is left then.
        """
        arrival = self._with_allowed_mode(in_own_namespace(arrival))
        if self._sessions.replicas.shared and takes_part(conversation, arrival):
            async with asyncio.timeout(self._limits.look(conversation, arrival)):
                # What each of them asks takes a way to the database and back: they go together.
                await asyncio.gather(
                    self._sessions.replicas.look(conversation, arrival),
                    *([self._shared_errands.hear(conversation, arrival)] if self._shared_errands else ()),
                )
        if arrival.mode is Mode.OFF:
            known = (
                await self._sessions.find_known(conversation, arrival) if takes_part(conversation, arrival) else None
            )
            return self._replay_only(conversation, arrival, known, f"off; {arrival.note}" if arrival.note else "off")
        if not conversation.messages or arrival.scope.user is None:
            return self._replay_only(conversation, arrival, None, f"untouched; {arrival.note or 'no owner'}")
        arrival = self._resolve_kind(conversation, arrival)
        if not takes_part(conversation, arrival):
            return self._replay_only(conversation, arrival, None, f"untouched; {arrival.kind}")
        began, replay = time.perf_counter(), self._limits.replay(conversation, arrival)
        deciding = self._limits.deciding(conversation, arrival)
        deadline = Deadline(deciding + replay)
        arrival, taken = self._spawned.recognised(conversation, arrival)
        async with asyncio.timeout(deadline.within(self._limits.finding(conversation, arrival, replay))):
            find = self._sessions.find if arrival.kind.teaches else self._sessions.find_known
            live = await find(conversation, arrival)
            if live is None:
                # It teaches nothing, so it begins no session; but it may bring along what was said in one.
                live = await self._sessions.find_rewritten(conversation, arrival)
                return self._replay_only(
                    conversation, arrival, live, f"{'remembered' if live else 'untouched'}; {arrival.kind}"
                )
        deadline = Deadline(deadline.within(deciding))
        self._spawned.arrived(arrival, live.session, taken, conversation)
        arrival = _as_subagent_request(arrival, live)
        if self._features is not None and arrival.checkout is not None:
            self.ledgers.run_in_background(self._features.arrived(live.session, arrival), "looking at a checkout")
        request = SessionRequest(conversation, live, arrival)
        steps = {"session": elapsed_ms(began)}
        if self._fitting is not None and len(conversation.messages) >= MANY:
            await self._fitting.look(conversation)
        live.tools = live.tools or bool(conversation.tools)
        decided = ContextDecision()
        without = self._holds_out(live)
        if arrival.kind.teaches and not self._paused() and not without:
            with only((*live.session.scope.owners(), *arrival.also)):
                decided = await self._decide(request, deadline)
            steps |= decided.steps
        standing = request.standing()
        edits = standing.edits
        fit = decided.fit
        load: RequestSize | None = None
        if self._fitting is not None:
            start = time.perf_counter()
            load = self._fitting.load(request, edits)
            if arrival.kind.teaches and not self._paused() and not without:
                trimmed = self._fitting.fit_without_plan(request, load, fit.late)
                if trimmed.entries:
                    self._record_fit(live, trimmed)
                    standing = request.standing()
                    edits = standing.edits
                    fit, load = replace(trimmed, paged=fit.paged), self._fitting.load(request, edits)
            fit = self._fitting.measured(request, standing, load, fit)
            steps["measure"] = elapsed_ms(start)
        if arrival.kind.teaches and not self._paused() and not without:
            start = time.perf_counter()
            if self._sessions.replicas.shared:
                request, overruled = await self._agree_with_others(request, deadline)
                live, standing = request.live, request.standing()
                edits = standing.edits
                if overruled:
                    decided = ContextDecision(recalled=Recalled(note="another replica has decided"))
                    if self._fitting is not None:
                        load = self._fitting.load(request, edits)
                        fit = self._fitting.measured(request, standing, load, Fit())
            else:
                await self.ledgers.written(live, deadline.left)
            steps["ledger"] = elapsed_ms(start)
        full = self._quotas.learns_nothing(arrival.scope) if self._quotas is not None else ""
        status = "; ".join(filter(None, (_status(edits, decided), decided.used_up, full)))
        receipt = replace(
            self._receipt(arrival, conversation, live.session.id, HELD_OUT if without else status),
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
            sources=fit.sources,
        )
        if decided.research.shown and self._findings is not None:
            used = self._findings.used(live.session.id, arrival.at, decided.research, decided.answer)
            self.ledgers.run_in_background(used, "counting the use of research")
        if self._findings is not None and (lines := mentions(decided.recalled.shown)):
            reminded = self._findings.mentioned(live.session.id, arrival.at, lines)
            self.ledgers.run_in_background(reminded, "counting the use of research")
        offers = live.ledger.offers if conversation.tools and not without else ""
        prepared = Prepared(
            live.session, arrival, edits, receipt, changed=fit.changed, tools=offers, answer=decided.answer
        )
        if self._fitting is not None and load is not None and arrival.resends and not without:
            # Last, since it counts as asked: nothing that is waited for, and may fail, comes before the asking.
            prepared = replace(prepared, outgrown=self._fitting.outgrown(request, load))
        return prepared

    def offering(self, prepared: Prepared, conversation: Conversation, tools: str) -> Prepared:
        """The plan with the tools that the request really offers, which may differ from those that were counted: a
        session's first request only begins to offer them."""
        live = self._sessions.get(prepared.session.id) if prepared.session else None
        if self._fitting is None or live is None or prepared.changed is None or tools == prepared.tools:
            return replace(prepared, tools=tools)
        request = SessionRequest(conversation, live, prepared.arrival)
        more = self._fitting.offered_tokens(request) * (1 if tools else -1)
        held = prepared.receipt
        sources = replace(held.sources, tools=max(held.sources.tools + more, 0)) if held.sources else None
        receipt = replace(held, tokens=held.tokens + more, saved=held.saved - more, sources=sources)
        return replace(prepared, tools=tools, changed=prepared.changed + more, receipt=receipt)

    def _holds_out(self, live: LiveSession) -> bool:
        """Whether a session goes without memory; when nothing is measured any more, none does."""
        return live.session.held_out is True and self._settings.measure.holdout > 0

    def _record_fit(self, live: LiveSession, fit: Fit) -> None:
        """Record what leaves the request in the session's ledger, which is still to be written."""
        if fit.entries:
            write(live, fit.entries, fit.unkept)

    async def _agree_with_others(self, request: SessionRequest, deadline: Deadline) -> tuple[SessionRequest, bool]:
        """Agree with the other processes about what was decided, before the request is sent; whether anything of it
        was decided otherwise. Where that takes too long the request goes as it was decided here: the session may then
        have been given something else elsewhere, which is told as a failure of memory."""
        self.ledgers.withdraw_beside(request.live)
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
            live.decide(no_addition(request.conversation, request.keys, why))
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
        was decided is :attr:`Prepared.pending` until :meth:`Ledgers.mark_sent` or
        :meth:`Ledgers.mark_unread`. Where the session was
        found too late before, what stands in its ledger may be enough; a request that teaches nothing gets no more than
        that.
        """
        arrival = prepared.arrival
        if self._shortening is None or not takes_part(conversation, arrival):
            return None
        without = prepared.receipt.status == HELD_OUT
        decides = arrival.kind.teaches and arrival.mode is not Mode.OFF and not self._paused() and not without
        return await self._shortening.shortened(conversation, prepared, limit, size, decides)

    def mark_read(self, prepared: Prepared, conversation: Conversation, reply: Reply) -> None:
        """The provider has read a request and answered so: its prefix is in the provider's cache from now on."""
        if prepared.session is not None and prepared.arrival.kind.teaches:
            answered = conversation.trail()[-1] if reply.complete and conversation.messages else b""
            self._sessions.mark_read(prepared.session.id, prepared.arrival.at, answered)
            live = self._sessions.get(prepared.session.id)
            if live is not None and reply.id and conversation.stored:
                live.holds(reply.id, SessionRequest(conversation, live, prepared.arrival).held_with_own(reply.usage))

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

    def _with_allowed_mode(self, arrival: Arrival) -> Arrival:
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
        await self.ledgers.finish()

    def _receipt(self, arrival: Arrival, conversation: Conversation, session: str, status: str) -> Receipt:
        return Receipt(self._new_id(), arrival.at, session, arrival.kind, status, conversation.model)


def _replayed_edits(conversation: Conversation, arrival: Arrival, live: LiveSession | None) -> tuple[Edit, ...]:
    return SessionRequest(conversation, live, arrival).edits() if live is not None else ()


def _added_bytes(edit: Edit) -> int:
    match edit:
        case Append(_, text) | Insert(_, text):
            return len(text.encode())
        case _:
            return 0


def _as_subagent_request(arrival: Arrival, live: LiveSession) -> Arrival:
    """A request of a sub-agent's session is a sub-agent's, though it does not say so itself."""
    known = live.session.kind is RequestKind.SUBAGENT and arrival.kind is RequestKind.MAIN
    return replace(arrival, kind=RequestKind.SUBAGENT) if known else arrival


def _status(edits: Sequence[Edit], decided: ContextDecision) -> str:
    if decided.recalled.failed:
        return f"degraded; {decided.recalled.note}"
    if decided.without_page:
        return f"degraded; without the page: {decided.without_page}"
    if not edits:
        return "untouched"
    return f"remembered; recalled={len(decided.recalled.shown)}; edits={len(edits)}"
