"""Prepare a request: find its session, make the ledger's edits again, and decide once about each new message.

The order matters. What was decided before is made again first and needs nothing but the ledger; what is new (the
page at a session's first request, recall at each new message of a person or a tool) is decided under a deadline,
and the decision is written down whatever it is, so that a retry changes nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from memory.conversation import Conversation, Reply
from memory.day.deadline import Deadline
from memory.day.deciding import Decided, Deciding, Known, ms, nothing, tokens_of
from memory.day.given import Pages, Recalled, Recaller
from memory.day.ledgers import Ledgers
from memory.day.request import Request
from memory.day.research.findings import Findings, mentions
from memory.day.sessions.finding import LiveSessions, in_own_namespace
from memory.day.sessions.live import LiveSession
from memory.day.sessions.spawned import Spawned
from memory.day.shortening import REFUSED_SECONDS, Shortening
from memory.day.window.fitting import SHED_SECONDS, Fit, Fitting, write
from memory.edits import Append, Edit, Insert
from memory.hooks.chain import Features
from memory.ports import Guard
from memory.session import Arrival, Mode, Prepared, Receipt, RequestKind
from memory.settings import MemorySettings

PATIENCE = 2
"""How many deadlines of a recall finding a request's session may take."""

USED = 0.9
"""The share of its patience that preparing a request may use up by its steps: what is late is left out then, and what
was done goes on; beyond the patience all of it would be thrown away."""

REPLAY_SECONDS = 5.0
"""How long finding a session may take that this process does not know. Its history may have been made under a ledger,
and what was added to it must be made again, or its prefix breaks: on a busy machine that takes long after a start."""

HOPELESS = 8
"""Bytes for each token of a window from which on a request does not fit as it came, whatever it says."""


HELD_OUT = "held out; this session goes without memory (memory.measure.holdout)"
"""What is told of a request of such a session."""


class Preparation:
    """The shell that prepares requests."""

    def __init__(
        self,
        settings: MemorySettings,
        sessions: LiveSessions,
        recaller: Recaller,
        pages: Pages,
        guard: Guard,
        new_id: Callable[[], str],
        paused: Callable[[], bool],
        window_of: Callable[[str], int | None] = lambda model: None,
        fitting: Fitting | None = None,
        findings: Findings | None = None,
        spawned: Spawned | None = None,
        features: Features | None = None,
        known: Known | None = None,
    ) -> None:
        self._settings = settings
        self._sessions = sessions
        self._guard = guard
        self._new_id = new_id
        self._paused = paused
        self._fitting = fitting
        self._shortening = Shortening(sessions, fitting) if fitting is not None else None
        self._deciding = Deciding(settings, recaller, pages, guard, window_of, fitting, findings, features, known)
        self._findings = findings
        self._spawned = spawned or Spawned()
        self._features = features
        self._ledgers = Ledgers(sessions, guard)

    def patience(self, conversation: Conversation, arrival: Arrival) -> float:
        """Seconds after which a request goes on without waiting for its preparation. One that is far too large for its
        model would only be refused then: it waits longer, as after a start for all that its session's ledger says."""
        arrival = in_own_namespace(arrival)
        return self._deciding_for(conversation, arrival) + self._replay(conversation, arrival)

    def _deciding_for(self, conversation: Conversation, arrival: Arrival) -> float:
        looking = self._findings.deadline if self._findings is not None else 0.0
        shedding = SHED_SECONDS if self._fitting is not None else 0.0
        return PATIENCE * self._deadline(conversation) + looking + shedding + self._more(conversation, arrival)

    def _deadline(self, conversation: Conversation) -> float:
        return self._deciding.deadline(bool(conversation.messages) and bool(conversation.messages[-1].spoken))

    def _more(self, conversation: Conversation, arrival: Arrival) -> float:
        if self._fitting is None or arrival.size <= HOPELESS * self._fitting.window(conversation):
            return 0.0
        return REFUSED_SECONDS

    def _replay(self, conversation: Conversation, arrival: Arrival) -> float:
        """Seconds more for a request whose session only the journal may know."""
        known = self._sessions.remembered(conversation, arrival) is not None
        return 0.0 if known or not _takes_part(conversation, arrival) else REPLAY_SECONDS

    def untouched(self, conversation: Conversation, arrival: Arrival, status: str) -> Prepared:
        """A request in which memory takes no part any more: what this process remembers to have added to its session
        is made again, so that the prefix stays, and nothing is new or written down; never waits."""
        arrival = in_own_namespace(arrival)
        near = self._sessions.nearest(conversation, arrival) if _takes_part(conversation, arrival) else None
        return self._only_again(conversation, arrival, near, status)

    def made_again(self, conversation: Conversation, arrival: Arrival, why: str) -> Prepared:
        """What this process remembers of the session's plan, for when preparing failed; never waits.

        That the newest message got nothing is a decision like any other: a retry must not add what this request did
        not have.
        """
        arrival = self._sure(conversation, self._allowed(in_own_namespace(arrival)))
        if not _takes_part(conversation, arrival):
            return self._only_again(conversation, arrival, None, f"degraded; {why}")
        near = self._sessions.nearest(conversation, arrival)
        if arrival.mode is Mode.OFF:
            return self._only_again(conversation, arrival, near, f"degraded; {why}")
        live = None
        if near is not None:
            arrival = _of_session(arrival, near)
        else:
            arrival, _ = self._spawned.recognised(conversation, arrival)
        if arrival.kind.teaches and not self._paused():
            live = self._sessions.decide(conversation, arrival, nothing(conversation, why))
            if live is not None:
                self._ledgers.write(live)
            else:
                self._ledgers.beside(self._sessions.place(conversation, arrival), "writing that nothing was added")
        elif self._sessions.remembered(conversation, arrival) is near:
            live = near
        edits = _made_again(conversation, arrival, near)
        if self._fitting is not None and near is not None and arrival.kind.teaches and not self._paused():
            request = Request(conversation, near, arrival)
            fit = self._fitting.hasten(request, self._fitting.load(request, edits))
            if fit.entries:
                edits = request.edits(fit.entries)
            if live is near:
                self._write_down(near, fit)
        receipt = self._receipt(arrival, conversation, live.session.id if live else "", f"degraded; {why}")
        return Prepared(live.session if live else None, arrival, edits, receipt, unplaced=live is None, changed=None)

    async def prepare(self, conversation: Conversation, arrival: Arrival) -> Prepared:
        """The edits that this request needs.

        Raises:
            StoreError: when the session cannot be read; :meth:`made_again` is what is left then.
        """
        arrival = self._allowed(in_own_namespace(arrival))
        if arrival.mode is Mode.OFF:
            known = await self._sessions.known(conversation, arrival) if _takes_part(conversation, arrival) else None
            return self._only_again(conversation, arrival, known, f"off; {arrival.note}" if arrival.note else "off")
        if not conversation.messages or arrival.scope.user is None:
            return self._only_again(conversation, arrival, None, f"untouched; {arrival.note or 'no owner'}")
        arrival = self._sure(conversation, arrival)
        if not _takes_part(conversation, arrival):
            return self._only_again(conversation, arrival, None, f"untouched; {arrival.kind}")
        began, replay = time.perf_counter(), self._replay(conversation, arrival)
        deciding = USED * self._deciding_for(conversation, arrival)
        deadline = Deadline(deciding + replay)
        arrival, taken = self._spawned.recognised(conversation, arrival)
        finding = PATIENCE * self._deadline(conversation) + self._more(conversation, arrival) + replay
        async with asyncio.timeout(deadline.within(finding)):
            find = self._sessions.find if arrival.kind.teaches else self._sessions.known
            live = await find(conversation, arrival)
        deadline = Deadline(deadline.within(deciding))
        if live is None:
            # It teaches nothing, so it begins no session; but it may bring along what was said in one.
            live = self._sessions.rewritten(conversation, arrival)
            return self._only_again(
                conversation, arrival, live, f"{'remembered' if live else 'untouched'}; {arrival.kind}"
            )
        self._spawned.arrived(arrival, live.session, taken, conversation)
        arrival = _of_session(arrival, live)
        if self._features is not None and arrival.checkout is not None:
            self._ledgers.beside(self._features.arrived(live.session, arrival), "looking at a checkout")
        request = Request(conversation, live, arrival)
        steps = {"session": ms(began)}
        live.tools = live.tools or bool(conversation.tools)
        decided = Decided()
        without = self._holds_out(live)
        if arrival.kind.teaches and not self._paused() and not without:
            decided = await self._decided(request, deadline)
            steps |= decided.steps
        edits = request.edits()
        fit = decided.fit
        if self._fitting is not None:
            start = time.perf_counter()
            load = self._fitting.load(request, edits)
            if arrival.kind.teaches and not self._paused() and not without:
                hasty = self._fitting.hasten(request, load, fit.late)
                if hasty.entries:
                    self._write_down(live, hasty)
                    edits = request.edits()
                    fit, load = replace(hasty, paged=fit.paged), self._fitting.load(request, edits)
            fit = self._fitting.measured(load, fit)
            steps["measure"] = ms(start)
        receipt = replace(
            self._receipt(arrival, conversation, live.session.id, HELD_OUT if without else _status(edits, decided)),
            shown=(*decided.research.shown, *decided.recalled.shown),
            page_tokens=tokens_of(decided.page.text),
            recall_tokens=tokens_of(decided.recalled.text),
            bytes_added=sum(map(_added, edits)),
            note="; ".join(filter(None, (decided.recalled.note, fit.note))),
            steps=steps | {"prepare": ms(began)},
            tokens=fit.tokens,
            window=fit.window,
            shed=fit.shed,
            paged=fit.paged,
            saved=-fit.changed,
        )
        if decided.research.shown and self._findings is not None:
            used = self._findings.used(live.session.id, arrival.at, decided.research, decided.answer)
            self._ledgers.beside(used, "counting the use of research")
        if self._findings is not None and (lines := mentions(decided.recalled.shown)):
            reminded = self._findings.mentioned(live.session.id, arrival.at, lines)
            self._ledgers.beside(reminded, "counting the use of research")
        offers = live.ledger.offers if conversation.tools and not without else ""
        prepared = Prepared(live.session, arrival, edits, receipt, changed=fit.changed, tools=offers)
        return replace(prepared, answer=decided.answer)

    def offering(self, prepared: Prepared, conversation: Conversation, tools: str) -> Prepared:
        """The plan with the definitions of the tools that stand in the request, which may not be those that were
        counted: a session's first request only begins to offer some."""
        live = self._sessions.alive(prepared.session.id) if prepared.session else None
        if self._fitting is None or live is None or prepared.changed is None or tools == prepared.tools:
            return replace(prepared, tools=tools)
        request = Request(conversation, live, prepared.arrival)
        more = self._fitting.offered(request) * (1 if tools else -1)
        receipt = replace(prepared.receipt, tokens=prepared.receipt.tokens + more, saved=prepared.receipt.saved - more)
        return replace(prepared, tools=tools, changed=prepared.changed + more, receipt=receipt)

    def _holds_out(self, live: LiveSession) -> bool:
        """Whether a session goes without memory; when nothing is measured any more, none does."""
        return live.session.held_out is True and self._settings.measure.holdout > 0

    def _write_down(self, live: LiveSession, fit: Fit) -> None:
        """Write what was decided to leave into the session's ledger, and the ledger beside the request; never waits."""
        if fit.entries:
            write(live, fit.entries, fit.unkept)
            self._ledgers.write(live)

    async def _decided(self, request: Request, deadline: Deadline) -> Decided:
        """What is decided about a request of a session, one request after the other."""
        live = request.live
        doing = "waiting for another request of the session"
        ours, why = await self._guard(live.lock.acquire(), otherwise=False, within=deadline.left, doing=doing)
        if ours:
            try:
                decided = await self._deciding.decide(request, deadline)
            finally:
                live.lock.release()
        else:
            live.decide(nothing(request.conversation, why))
            decided = Decided(recalled=Recalled(note=why, failed=True), fit=Fit(late=True))
        if live.unkept:
            # What a stub stands for has to be had before anybody can read the stub.
            doing = "journaling what is shed"
            await self._guard(self._sessions.save(live), otherwise=None, within=deadline.left, doing=doing)
        self._ledgers.write(live)
        return decided

    async def overflowed(
        self, conversation: Conversation, arrival: Arrival, prepared: Prepared, limit: int | None, size: int | None
    ) -> Prepared | None:
        """The request that a provider refused as too long, made smaller; None where nothing can leave it.

        ``limit`` is how many tokens its model reads and ``size`` how many the request had, as far as it said so. What
        was decided is :attr:`Prepared.pending` until :meth:`went_out`. Where the session was found too late before,
        what stands in its ledger may be enough; a request that teaches nothing gets no more than that.
        """
        arrival = prepared.arrival
        if self._shortening is None or not _takes_part(conversation, arrival):
            return None
        without = prepared.receipt.status == HELD_OUT
        decides = arrival.kind.teaches and arrival.mode is not Mode.OFF and not self._paused() and not without
        return await self._shortening.shortened(conversation, prepared, limit, size, decides)

    def went_out(self, prepared: Prepared) -> None:
        """A shortened request has gone to its provider, which may have read it: what was decided for it stands from
        now on. Never waits."""
        live = self._sessions.alive(prepared.session.id) if prepared.session else None
        if live is not None and prepared.pending.entries:
            write(live, prepared.pending.entries, prepared.pending.unkept)
            self._ledgers.write(live)

    def was_read(self, prepared: Prepared) -> None:
        """The provider has read a request: its prefix is in the provider's cache from now on."""
        if prepared.session is not None and prepared.arrival.kind.teaches:
            self._sessions.read(prepared.session.id, prepared.arrival.at)

    async def heard(self, prepared: Prepared, conversation: Conversation, reply: Reply) -> None:
        """Learn from what the provider reported of a request's size."""
        live = self._sessions.alive(prepared.session.id) if prepared.session else None
        if self._fitting is not None and live is not None and prepared.changed is not None:
            request = Request(conversation, live, prepared.arrival)
            await self._fitting.heard(request, prepared.edits, prepared.tools, reply.usage)

    def _only_again(
        self, conversation: Conversation, arrival: Arrival, live: LiveSession | None, status: str
    ) -> Prepared:
        """A session's edits made again, of which nothing is written down; none where there is no session."""
        edits = _made_again(conversation, arrival, live)
        return Prepared(None, arrival, edits, self._receipt(arrival, conversation, "", status))

    def _allowed(self, arrival: Arrival) -> Arrival:
        """The arrival with what the settings and a pause leave of its mode: who may not teach is not journaled."""
        teaches = self._settings.mode is Mode.ON and not self._paused()
        return replace(arrival, mode=Mode.READ_ONLY) if arrival.mode is Mode.ON and not teaches else arrival

    def _sure(self, conversation: Conversation, arrival: Arrival) -> Arrival:
        """A request without tools in a session that has some is a title, a summary, a suggestion: no turn."""
        if not arrival.unsure or not arrival.kind.teaches:
            return arrival
        live = self._sessions.remembered(conversation, arrival)
        return replace(arrival, kind=RequestKind.SIDE) if live is not None and live.tools else arrival

    async def settle(self) -> None:
        """Wait until every ledger that is being written is in the journal."""
        await self._ledgers.settle()

    def _receipt(self, arrival: Arrival, conversation: Conversation, session: str, status: str) -> Receipt:
        return Receipt(self._new_id(), arrival.at, session, arrival.kind, status, conversation.model)


def _made_again(conversation: Conversation, arrival: Arrival, live: LiveSession | None) -> tuple[Edit, ...]:
    """What a session's ledger holds for a request; nothing where there is no session."""
    return Request(conversation, live, arrival).edits() if live is not None else ()


def _takes_part(conversation: Conversation, arrival: Arrival) -> bool:
    """Whether a request is one of a session: side requests that are conversations of their own are not."""
    owned = bool(conversation.messages) and arrival.scope.user is not None
    return owned and (arrival.kind.teaches or arrival.extends)


def _added(edit: Edit) -> int:
    match edit:
        case Append(_, text) | Insert(_, text):
            return len(text.encode())
        case _:
            return 0


def _of_session(arrival: Arrival, live: LiveSession) -> Arrival:
    """A request of a sub-agent's session is a sub-agent's, though it does not say so itself."""
    known = live.session.kind is RequestKind.SUBAGENT and arrival.kind is RequestKind.MAIN
    return replace(arrival, kind=RequestKind.SUBAGENT) if known else arrival


def _status(edits: Sequence[Edit], decided: Decided) -> str:
    if decided.recalled.failed:
        return f"degraded; {decided.recalled.note}"
    if not edits:
        return "untouched"
    return f"remembered; recalled={len(decided.recalled.shown)}; edits={len(edits)}"
