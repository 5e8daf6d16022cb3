"""Keep a session under its model's window: gather what a plan needs, have it made, and give it back as a decision.

What leaves is decided by :mod:`memory.context.shed` and :mod:`memory.context.protection` out of plain values. Here they
are fetched: sizes from the counts, lower tiers and pins from the journal, the window, prices, and how long the
session was idle. Only what the journal can give back word for word may leave.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

from memory.context.budget import Budget, remaining
from memory.context.continuity import NoteContents
from memory.context.fallback_trim import fallback_trim
from memory.context.retention_value import SheddablePart
from memory.context.shed import plan
from memory.context.shed_plan import ShedPlan
from memory.conversation import Message, Role
from memory.edits import ActiveEdits, Key
from memory.fact import Fact, FactKind
from memory.lru import LruDict
from memory.ports import Journal
from memory.scope import Layer
from memory.services.request import SessionRequest
from memory.services.sessions.live import LiveSession
from memory.services.tiers import in_short
from memory.services.window.decision import Decision, decision
from memory.services.window.redaction_verdicts import RedactionVerdicts
from memory.services.window.request_size import AGAIN, Headroom, ModelTable, RequestSize, RequestSizer
from memory.services.window.sheddable_parts import comes_back, new_results, pinned_places, sayable, shelved_pieces
from memory.services.window.usage_calibration import UsageCalibration
from memory.session import Mode
from memory.settings import SheddingSettings

Plan = TypeVar("Plan")

MAX_LATE_PLANS = 64
"""Plans that are kept for the next request of their sessions, the newest."""


class LatePlans(Generic[Plan]):
    """Waits for what is made for a request; where the waiting is given up, it is made all the same, and kept by its
    session. Of the event loop only."""

    def __init__(self) -> None:
        self._tasks: LruDict[str, tuple[tuple[Key, ...], asyncio.Task[Plan]]] = LruDict(MAX_LATE_PLANS)

    async def plan_for(self, session: str, keys: Sequence[Key], work: Coroutine[Any, Any, Plan]) -> Plan:
        """What comes of the work for the request of a session that has these messages."""
        return await self._waited(session, tuple(keys), asyncio.create_task(work))

    async def late(self, session: str, keys: Sequence[Key]) -> Plan | None:
        """What was made too late for the request before this one, or is still being made; None where there is nothing,
        or the client has written its history anew since."""
        before, task = self._tasks.pop(session, ((), None))
        if task is None:
            return None
        if tuple(keys[: len(before)]) != before:
            task.cancel()
            return None
        return await self._waited(session, before, task)

    async def _waited(self, session: str, keys: tuple[Key, ...], task: asyncio.Task[Plan]) -> Plan:
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.cancelled():
                self._tasks.put(session, (keys, task))
                task.add_done_callback(_ignore_failure)
            raise


def _ignore_failure(task: asyncio.Task[Any]) -> None:
    """What went wrong with a plan that nobody asks for any more is no news."""
    if not task.cancelled():
        task.exception()


PINS = 256
"""Pinned contents of which is kept how a note says them."""

MAX_NOTE_LINES = 40
"""Lines of what was decided and corrected that a continuity note is given to choose from."""


class Shedder:
    """Decides what leaves a request."""

    def __init__(
        self,
        settings: SheddingSettings,
        journal: Journal,
        loads: RequestSizer,
        reported: UsageCalibration,
        windows: ModelTable,
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._loads = loads
        self._reported = reported
        self._windows = windows
        self._room = Headroom(settings, reported)
        self._overdue = LatePlans[Decision]()
        self._verdicts = RedactionVerdicts(comes_back)
        self._sayings = RedactionVerdicts(sayable, PINS)

    async def decide(
        self, request: SessionRequest, standing: ActiveEdits, load: RequestSize, must: bool = False
    ) -> Decision:
        """What leaves this request and all later ones. ``must``: the provider has refused it as too long. What was
        decided too late for the request before comes first, and alone."""
        if not self._may_shed(request):
            return Decision()
        live = request.live
        late = await self._overdue.late(request.session, request.keys)
        if late is not None:
            return replace(late, late=True)
        if live.outgrown:
            load = await self._as_held(request, standing, load)
        warm = self._room.warm(request)
        allowed = self._room.allowed(request, load)
        if live.ledger.shed:
            live.pinned = await self._journal.pinned(request.session)
        if not must and self._room.stays(request, load, allowed, warm):
            return Decision()
        load = await self._loads.counted(request, standing, load)
        load = await self._as_reported(request, load)
        allowed = self._room.allowed(request, load)
        if not must and self._room.stays(request, load, allowed, warm):
            return Decision()
        planned = self._plan_for_ledger(request, standing, load, allowed, warm, must)
        return await self._overdue.plan_for(request.session, request.keys, planned)

    async def _plan_for_ledger(
        self, request: SessionRequest, standing: ActiveEdits, load: RequestSize, allowed: Budget, warm: bool, must: bool
    ) -> Decision:
        """The plan, and what it comes to for the ledger."""
        seen = self._loads.sight(request, standing, load)
        near, standing = seen.conversation, seen.standing
        stands = {digest for index, (digest, _) in enumerate(seen.keys) if index not in standing.dropped}
        shelved = await self._journal.shelved(request.session, list(stands))
        request.live.pinned = await self._journal.pinned(request.session)
        places = pinned_places(request, request.live.pinned)
        pinned = dict(zip(places, await self._sayings.of(list(places.values())), strict=True))
        turns = sum(message.role is Role.ASSISTANT for message in near.messages)
        note = NoteContents(decided=tuple(await self.decided_in(request.live)), beyond=seen.beyond)

        def parts(message: Message) -> tuple[int, ...]:
            return self._loads.parts(message, near)

        def planned(pieces: Sequence[SheddablePart]) -> ShedPlan:
            return plan(
                near,
                pieces,
                seen.sizes,
                allowed,
                standing,
                warm=warm,
                turns=remaining(turns),
                prices=self._windows.prices(request.model),
                pinned=pinned,
                contents=note,
                must=must,
            )

        pieces = shelved_pieces(seen, parts, shelved)
        decided = await asyncio.to_thread(planned, pieces)
        if decided.tokens > self._room.most(request, load):
            await in_short.at_hand()
            # Counting is the loop's; what is read of a result's text may be all of it.
            sizes = {each.digest: parts(each) for each in near.messages if each.digest not in shelved}
            if new := await asyncio.to_thread(new_results, seen, lambda each: sizes[each.digest], shelved):
                back = await self._verdicts.of([(near.messages[each.message], each.part) for each in new])
                pieces.extend(each for each, whole in zip(new, back, strict=True) if whole)
                decided = await asyncio.to_thread(planned, pieces)
        request.live.looked = load.total
        return decision(decided, seen, shelved)

    def fallback_trim(self, request: SessionRequest, load: RequestSize, late: bool = True) -> Decision:
        """What leaves a request that does not fit and for which no plan is ready; never waits. Nothing, where nothing
        has ever left the session: its window may be larger than it is taken for, and a provider says so. With a plan
        that is not ``late``, what was added since may take a little of what is kept free for the reply.

        Whole rounds leave whatever stands in them, but for what is pinned, long, and not looked at for secrets yet: it
        could not be said in the note. A long result gives way to a stub only where it is known already that no secret
        stands in it. Either stays this once, and is looked at beside. A request that is too long then is refused by its
        provider, and shortened with time.
        """
        if not self._may_shed(request) or not request.live.ledger.shed:
            return Decision()
        allowed = self._room.allowed(request, load)
        if not late:
            allowed = self._room.close(request, load, allowed)
        if load.total <= allowed.window:
            return Decision()
        sayable_at_once = self._sayings.at_once()
        pinned = {name: sayable_at_once(*place) for name, place in pinned_places(request, request.live.pinned).items()}
        seen = self._loads.sight(request, request.standing(), load)
        near = seen.conversation

        def parts(index: int) -> tuple[int, ...]:
            return self._loads.parts(near.messages[index], near)

        warm = self._room.warm(request)
        comes_back_at_once = self._verdicts.at_once()

        def may_leave(message: Message, number: int) -> bool:
            return comes_back_at_once(message, number) is True

        decided = fallback_trim(near, seen.sizes, parts, allowed, seen.standing, pinned, may_leave, warm)
        return decision(decided, seen, ())

    async def settle(self) -> None:
        """Wait until everything is known that was looked at beside."""
        await self._verdicts.settle()
        await self._sayings.settle()

    def outgrown(self, request: SessionRequest, load: RequestSize) -> bool:
        """Whether the history that a request goes on from, at its server, does not fit into the window any more: what
        stands there can only be shed where the client sends all of it. Where it has sent it and nothing, or too little,
        could leave, no more so until it has grown."""
        live, conversation = request.live, request.conversation
        if not self._can_be_restored(request) or conversation.continues is None or not request.arrival.kind.teaches:
            return False
        most, reported = self._room.largest(request, load), request.held.usage
        # What is new is a small part of it, so that it does not matter whose tokens it is counted in.
        total = reported.input + reported.output + sum(load.sizes) if reported.input else load.total
        if total <= most:
            live.outgrown = 0
            return False
        if live.outgrown and total <= live.outgrown + int(AGAIN * most):
            return False
        live.outgrown = total
        return True

    def _may_shed(self, request: SessionRequest) -> bool:
        """Whether anything may leave a request: what stands at its server cannot."""
        return self._can_be_restored(request) and not request.conversation.continues

    def _can_be_restored(self, request: SessionRequest) -> bool:
        """Whether what leaves could be given back: what no journal gets could not."""
        return self._settings.enabled and request.arrival.mode is Mode.ON

    async def _as_reported(self, request: SessionRequest, load: RequestSize) -> RequestSize:
        """The load with what the provider reported of the session's newest turn, which a start has forgotten: without
        it the next request would be judged by what is usual of its model, and shed though it fits. It is taken for
        looked at then, so that it goes on as it was."""
        live, keys, model = request.live, request.keys, request.model
        if not live.known or self._reported.anchored(request.session, model):
            return load
        newest = await self._journal.newest_usage(request.session, model)
        if newest is None or not (0 < newest[1] <= len(keys) and keys[newest[1] - 1][0] == newest[2]):
            return load
        usage, messages, _ = newest
        counted = load.fixed + sum(load.sizes[:messages])
        self._reported.learned(request.session, model, counted, usage)
        live.looked = live.looked or counted
        return replace(load, expected=self._reported.expected(request.session, model, load.total))

    async def _as_held(self, request: SessionRequest, standing: ActiveEdits, load: RequestSize) -> RequestSize:
        """The load of a whole history with what was reported of it while its server held it: that is why it came."""
        held = next(reversed(request.live.held.values()), None)
        if held is None or not held.usage.input or held.keys[-1] not in request.keys:
            return load
        load = await self._loads.counted(request, standing, load)
        counted = load.fixed + sum(load.sizes[: request.keys.index(held.keys[-1]) + 1])
        self._reported.learned(request.session, request.model, counted, held.usage)
        return replace(load, expected=self._reported.expected(request.session, request.model, load.total))

    async def decided_in(self, live: LiveSession) -> list[str]:
        """What was decided and corrected in a session, the newest last, for a continuity note."""
        scope = live.session.scope
        owners = [owner for layer in (Layer.USER_PROJECT, Layer.USER) if (owner := scope.owner(layer))]
        facts: list[Fact] = await self._journal.facts_of(owners)
        kinds = (FactKind.DECISION, FactKind.CORRECTION, FactKind.CONVENTION, FactKind.PREFERENCE)
        decisions = [fact for fact in facts if fact.session == live.session.id and fact.kind in kinds]
        return [fact.text for fact in reversed(decisions[:MAX_NOTE_LINES])]
