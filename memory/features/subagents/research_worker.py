"""Keep research: a worker reads the exchanges behind its cursor, ties sub-agents to what sent them, and writes down
what they found.

Nothing here runs while a request waits. One exchange is one transaction with the cursor; the pieces by which a
research is found are written behind it, under ids of their own, so that writing them twice is writing them once.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from memory.conversation import Message, Role, ToolCall
from memory.features.subagents.folders import AllowedFolders
from memory.features.subagents.journal_port import ResearchJournal
from memory.features.subagents.research_index import SPACE, passages_of
from memory.features.subagents.returned_reports import ReturnedMessage, ReturnedReports, is_forgotten, person_of
from memory.learning.research import ObservedExchange, begun, gone_on, in_confidence, with_tiers
from memory.learning.spawning import errands, inherited, opening, taken
from memory.ports import Guard
from memory.research import Research, ResearchOutcome, Spawn, may_send, owner_of, owners_of, worked_in
from memory.scope import Scope
from memory.services.learn import Learner
from memory.services.sessions.subagent_detection import WITHIN, RecentErrands
from memory.services.worker import KNOWN_SECONDS, JournalFollower, Pace
from memory.session import RequestKind, Session
from memory.tiers.shape import Hint, Tiers

BATCH = 16
IDLE = timedelta(minutes=30)
"""How long a sub-agent may be silent before it counts as abandoned."""

LOOK_FOR_IDLE = timedelta(minutes=1)
"""How often it is looked for such."""


@dataclass(slots=True)
class _ResearchChanges:
    research: dict[str, Research]
    spawns: list[Spawn]


class ResearchWorker(JournalFollower):
    """Keeps research."""

    def __init__(
        self,
        journal: ResearchJournal,
        learner: Learner,
        spawned: RecentErrands,
        tiers: Callable[[str, Hint], Tiers],
        folders: AllowedFolders,
        guard: Guard,
        now: Callable[[], datetime],
        busy: Callable[[], bool] = lambda: False,
    ) -> None:
        # Where sub-agents are about no request is spared: the next one may be sent out with the same question at once,
        # and of many that report at the same time the last one's turn would come too late.
        super().__init__(guard, "keeping research", lambda: not spawned.about(now()) and busy(), KNOWN_SECONDS)
        self._journal = journal
        self._learner = learner
        self._spawned = spawned
        self._tiers = tiers
        self._folders = folders
        self._now = now
        self._looked: datetime | None = None
        self._learnt: dict[str, frozenset[str]] = {}
        self._reports = ReturnedReports(journal)

    def at_rest(self) -> AbstractAsyncContextManager[None]:
        """While this is held nothing is kept."""
        return self._one_at_a_time

    async def keep(self, research: Research, trail: Sequence[Message] = ()) -> None:
        """Write a research that comes from elsewhere, with its pieces."""
        async with self._one_at_a_time:
            await self._journal.write_research([research])
            await self._index(research, trail)

    async def _settle(self, done: bool) -> None:
        # Not before everything was read: the next exchange may be that of a sub-agent which seems to be silent.
        if done and (self._looked is None or abs(self._now() - self._looked) >= LOOK_FOR_IDLE):
            self._looked = self._now()
            await self._guard(self._close_idle(), default=None, timeout_seconds=60, operation="keeping research")

    async def _batch(self, pace: Pace) -> bool:
        async with self._one_at_a_time:
            waiting = await self._journal.unobserved(BATCH)
            for observed in waiting:
                await self._look(observed, observed is waiting[-1])
            self._sparing.paid(len(waiting) if len(waiting) == BATCH else None)
            return len(waiting) == BATCH

    async def _look(self, observed: ObservedExchange, last: bool) -> None:
        """Look at an exchange. Where it has nothing to do with research, only the ``last`` of several has to be
        written, since the cursor passes over the others with it."""
        number = observed.journaled.number
        async with self._tries.one(number) as again:
            if not again:
                await self._journal.write_research([], number)
                return
            work = _ResearchChanges({}, [])
            if observed.journaled.kind in (RequestKind.MAIN, RequestKind.SUBAGENT):
                await self._follow_subagent(observed, work)
                await self._follow_parent(observed, work)
            if work.research or work.spawns or last:
                await self._write(observed, work)

    async def _write(self, observed: ObservedExchange, work: _ResearchChanges) -> None:
        number, person = observed.journaled.number, person_of(observed.journaled.session)
        done = [each for each in work.research.values() if each.outcome is not ResearchOutcome.RUNNING]
        for each in done:
            work.research[each.id] = await asyncio.to_thread(self._finished, each)
        await self._journal.write_research(list(work.research.values()), number, work.spawns, person)
        for each in done:
            research = work.research[each.id]
            await self._index(research, await self._journal.trail(research))

    def _finished(self, research: Research) -> Research:
        marked = self._folders.marked(research.sources, research.directory)
        return with_tiers(replace(in_confidence(research), sources=marked), self._tiers)

    async def _follow_subagent(self, observed: ObservedExchange, work: _ResearchChanges) -> None:
        journaled, session = observed.journaled, observed.journaled.session
        known = await self._journal.research_of_session(session.id)
        if known is not None:
            work.research[known.id] = gone_on(known, observed)
            return
        spawn, parent = await self._errand_and_parent(observed)
        if session.kind is not RequestKind.SUBAGENT and spawn is None:
            return
        scope = worked_in(session.scope, parent.scope if parent is not None else None)
        owner = owner_of(scope)
        owners = owners_of(scope)
        if owner is None or await self._is_forgotten(owners, journaled.messages):
            return
        if spawn is not None and await is_forgotten(self._journal, owners, spawn.errand.prompt):
            return
        id = str(uuid.uuid5(SPACE, session.id))
        directory = self._directory(session, parent, scope)
        commit = await asyncio.to_thread(self._folders.commit, directory)
        errand = spawn.errand if spawn is not None else None
        research = begun(id, owner, person_of(session), observed, errand, directory, commit)
        research = replace(
            research,
            parent=parent.id if parent is not None else "",
            claimed=(session.parent or "").rpartition(":")[2] if parent is None else "",
        )
        if spawn is not None:
            work.spawns.append(replace(spawn, child=session.id))
            for other in await self._journal.research_of_parent(spawn.session):
                if other.call == spawn.errand.call and not other.session and not other.requests:
                    # It was taken for one that does not pass; now it is known.
                    research = replace(research, id=other.id, delivery=other.delivery, returned=other.returned)
        if learnt := self._spawned.learnt(session.id):
            await self._journal.learn_spawner(person_of(session), learnt)
            self._learnt.pop(person_of(session), None)
        work.research[research.id] = gone_on(in_confidence(research), observed)

    def _directory(self, session: Session, parent: Session | None, scope: Scope) -> str:
        """Where a sub-agent works: where it says, else where the session that sent it does; where neither is known any
        more, what names the project, if that is a folder."""
        directory = self._spawned.directory(session.id) or (
            self._spawned.directory(parent.id) if parent is not None else ""
        )
        return directory or (scope.project if scope.project and scope.project.startswith(("/", "~")) else "")

    async def _errand_and_parent(self, observed: ObservedExchange) -> tuple[Spawn | None, Session | None]:
        """The errand that a session took and the session that gave it, as far as they are known."""
        session = observed.journaled.session
        spawn, parent = self._spawned.spawn(session.id), self._spawned.parent(session.id)
        if parent is None and session.parent:
            parent = await self._journal.session_in_namespace(session.parent)
        if spawn is not None:
            return spawn, parent
        texts = opening(observed.journaled.messages)
        if parent is not None:
            given = await self._journal.spawns_of(parent.id)
        elif session.kind is RequestKind.MAIN and texts:
            given = await self._journal.spawns_waiting(person_of(session), session.started_at - WITHIN)
            given = [each for each in given if each.session != session.id and each.at <= observed.journaled.at]
        else:
            return None, None
        fitting = [(taken(each.errand, texts, True), not each.child, each) for each in given]
        best = max(fitting, key=lambda fit: fit[:2], default=None)
        if best is None or not best[0]:
            sent = {} if texts else {each.errand.call: each for each in given}
            return sent.get(inherited(observed.journaled.messages, sent)), parent
        spawn = best[2]
        if parent is None:
            parent = await self._journal.session(spawn.session)
            if parent is None or not may_send(parent.scope, session.scope):
                return None, None
            await self._journal.tie(session.id, parent.key)
        return spawn, parent

    async def _follow_parent(self, observed: ObservedExchange, work: _ResearchChanges) -> None:
        """The exchange as one of a session that sends sub-agents out and gets their reports back."""
        journaled, session = observed.journaled, observed.journaled.session
        learnt = await self._spawners(person_of(session))
        fresh = [journaled.messages[index] for index in journaled.fresh]
        replies = [journaled.reply] if journaled.reply is not None else []
        calls = [call for message in (*fresh, *replies) for call in message.calls]
        given = [Spawn(session.id, errand, journaled.at) for errand in errands(calls, learnt)]
        back = [message for message in fresh if message.results or message.role is Role.USER]
        if given:
            work.spawns.extend(given)
        sent = (*(await self._journal.spawns_of(session.id) if back else ()), *given)
        if not back or not sent:
            return
        sent_out = {each.id: each for each in await self._journal.research_of_parent(session.id)}
        sent_out |= {each.id: each for each in work.research.values() if each.parent == session.id}
        made = _calls_by_result(journaled.messages)
        renamed = {id: call for id, call in made.items() if id != call.id}
        spawns = {each.errand.call: each for each in sent} | _errands_by_result(renamed, sent, learnt)
        names = {id: call.name for id, call in made.items()}
        for message in back:
            came = ReturnedMessage(observed, message, spawns, names, learnt, work.research)
            await self._reports.read(came, list(sent_out.values()))

    async def _close_idle(self) -> None:
        """Sub-agents that went silent: what they had said by then is all there is."""
        for research in await self._journal.idle_research(self._now() - IDLE):
            trail = await self._journal.trail(research)
            last = next((m.text.strip() for m in reversed(trail) if m.role is Role.ASSISTANT and m.text.strip()), "")
            reports = research.reports or ((last,) if last else ())
            given_up = replace(research, outcome=ResearchOutcome.ABANDONED, reports=reports)
            given_up = await asyncio.to_thread(self._finished, given_up)
            await self._journal.write_research([given_up])
            await self._index(given_up, trail)

    async def _index(self, research: Research, trail: Sequence[Message]) -> None:
        """Write the pieces by which a research is found; those of before go first."""
        before = await self._journal.research_pieces(research.id)
        passages = {each.id: each for each in await asyncio.to_thread(passages_of, research, trail)}
        known = [passages[old.id] for old in before if old.id in passages]
        same = [(each.text, each.owner) for each in known] == [(each.text, each.owner) for each in before]
        if same and len(before) == len(passages):
            return
        if before:
            async with self._learner.resting():
                await self._journal.forget_pieces([each.id for each in before], self._now())
        await self._learner.remember([], list(passages.values()))

    async def _spawners(self, person: str) -> frozenset[str]:
        if person not in self._learnt:
            self._learnt[person] = await self._journal.spawners(person)
        return self._learnt[person]

    async def _is_forgotten(self, owners: Sequence[str], messages: Sequence[Message]) -> bool:
        texts = [message.spoken or message.text for message in messages if message.role is Role.USER]
        return any([await is_forgotten(self._journal, owners, text) for text in texts if text])


def _calls_by_result(messages: Sequence[Message]) -> dict[str, ToolCall]:
    """By the ids of results the calls that they answer: those of the same id, or those in the same place, where a
    client gives its calls other ids than they came with (Gemini's come with none)."""
    found: dict[str, ToolCall] = {}
    calls: Sequence[ToolCall] = ()
    place = 0
    for message in messages:
        if message.calls:
            calls, place = message.calls, 0
        for result in message.results:
            named = [call for call in calls if call.id == result.call_id]
            if len(named) == 1:
                found[result.call_id] = named[0]
            elif place < len(calls):
                found[result.call_id] = calls[place]
            place += 1
    return found


def _errands_by_result(
    renamed: Mapping[str, ToolCall], sent: Sequence[Spawn], learnt: frozenset[str]
) -> dict[str, Spawn]:
    """By the ids of results what was sent out by the calls of other ids that they answer."""
    asked = {each.errand.prompt: each for each in sent}
    answered = ((id, errand) for id, call in renamed.items() for errand in errands([call], learnt))
    return {id: asked[errand.prompt] for id, errand in answered if errand.prompt in asked}
