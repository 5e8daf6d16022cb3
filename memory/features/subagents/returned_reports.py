"""Reports of sub-agents as they come back to the session that sent them out."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memory.conversation import Message, Role
from memory.features.subagents.journal_port import ResearchJournal
from memory.features.subagents.research_index import SPACE
from memory.learning.reports import acknowledges, delivery, fails, promised, report_of, unframed
from memory.learning.research import ObservedExchange, handed_back, unseen
from memory.learning.spawning import is_spawner
from memory.learning.tombstones import tombstone_of
from memory.lru import LruDict
from memory.research import Delivery, Research, ResearchOutcome, Spawn, owner_of, owners_of
from memory.scope import Layer
from memory.session import Session

PROMISED = 4096
"""Sessions of which it is remembered which sub-agents they began in the background."""

LEAST_REPORT = 40
"""Characters below which what a call gave back is no report."""


@dataclass(slots=True)
class ReturnedMessage:
    """A message that may bring reports: ``spawns`` and ``names`` are the errands and the tools of the calls that it
    answers, ``spawners`` the tools known to send sub-agents out; what changes by it is put into ``research``."""

    observed: ObservedExchange
    message: Message
    spawns: Mapping[str, Spawn]
    names: Mapping[str, str]
    spawners: frozenset[str]
    research: dict[str, Research]
    texts: dict[str, str] = field(init=False)
    matched: set[str] = field(default_factory=set, init=False)
    """The calls whose sub-agents were heard saying what stands here."""

    def __post_init__(self) -> None:
        self.texts = {result.call_id: result.text for result in self.message.results}

    def match(self, sent_out: Sequence[Research]) -> None:
        """Find the reports that were heard from the sub-agents themselves."""
        whole = "\n".join([self.message.text, *self.texts.values()])
        for research in sent_out:
            if research.delivery is Delivery.WHOLE:
                continue
            research = self.research.get(research.id, research)
            found = delivery(research.report, whole) if research.reports else Delivery.NOT
            if found is not Delivery.NOT:
                self.matched.add(research.call)
                at = self.observed.journaled.at
                self.research[research.id] = handed_back(research, "", self.message.digest, found, at)

    def known(self, sent_out: Sequence[Research]) -> dict[str, Research]:
        """By its call what is known of each errand, whatever id the client gave that call."""
        every = (*sent_out, *self.research.values())
        known = {each.call: each for each in every if each.call}
        asked = {each.question: each for each in every if each.question}
        other_ids = [(call, spawn) for call, spawn in self.spawns.items() if spawn.errand.call != call]
        return known | {call: asked[spawn.errand.prompt] for call, spawn in other_ids if spawn.errand.prompt in asked}


class ReturnedReports:
    """Takes reports in, also those of sub-agents that were not heard themselves."""

    def __init__(self, journal: ResearchJournal) -> None:
        self._journal = journal
        self._begun: LruDict[str, dict[str, str]] = LruDict(PROMISED)

    async def read(self, came: ReturnedMessage, sent_out: Sequence[Research]) -> None:
        """Take in what a message brings of the sub-agents that were sent out. Texts of any length are read beside the
        loop."""
        await asyncio.to_thread(came.match, sent_out)
        known = came.known(sent_out)
        await self._read_results(came, known)
        if came.message.role is Role.USER and not came.matched:
            await self._read_named(came, known)
        await self._read_promised(came, known)

    async def _read_results(self, came: ReturnedMessage, known: Mapping[str, Research]) -> None:
        failed = {result.call_id for result in came.message.results if result.failed}
        for call, text in came.texts.items():
            spawn = came.spawns.get(call)
            if spawn is None or call in came.matched:
                continue
            if not is_spawner(came.names.get(call, spawn.errand.tool), came.spawners):
                continue
            told = await asyncio.to_thread(_SpawnResult.by, text, [*known.values()])
            if call in failed or told.failed:
                await self._end_failed_research(came, spawn, known.get(call))
                continue
            if told.promised:
                self._begun.use(came.observed.journaled.session.id, {}).update(dict.fromkeys(told.promised, call))
            if told.report:
                await self._take(came, spawn, text, known.get(call))

    async def _end_failed_research(self, came: ReturnedMessage, spawn: Spawn, known: Research | None) -> None:
        """A call failed. Where even its first request came to nothing, that it was asked is all there is."""
        begun = known or await self._unheard_research(came.observed, spawn)
        if begun is not None and not begun.reports:
            ended = max(begun.ended, came.observed.journaled.at)
            came.research[begun.id] = replace(begun, outcome=ResearchOutcome.CUT, ended=ended)

    async def _read_named(self, came: ReturnedMessage, known: Mapping[str, Research]) -> None:
        """A message in the user's role that names the call which it answers."""
        for spawn in came.spawns.values():
            if spawn.errand.call in came.message.text and "<" in came.message.text:
                text = await asyncio.to_thread(unframed, came.message.text)
                if len(text) >= LEAST_REPORT:
                    await self._take(came, spawn, text, known.get(spawn.errand.call))

    async def _read_promised(self, came: ReturnedMessage, known: Mapping[str, Research]) -> None:
        """Reports by the names under which they were promised."""
        for agent, call in self._begun.get(came.observed.journaled.session.id, {}).items():
            report = await asyncio.to_thread(_promised_report, agent, came)
            if call in came.spawns and call not in came.matched and len(report) >= LEAST_REPORT:
                known = {**known, **{each.call: each for each in came.research.values() if each.call}}
                await self._take(came, came.spawns[call], report, known.get(call))

    async def _take(self, came: ReturnedMessage, spawn: Spawn, text: str, known: Research | None) -> None:
        """A report that came back though its sub-agent did not say it where it could be heard."""
        if known is not None and known.reports:
            return
        known = known or await self._unheard_research(came.observed, spawn)
        if known is not None:
            at, digest = came.observed.journaled.at, came.message.digest
            report = await asyncio.to_thread(unframed, text)
            came.research[known.id] = handed_back(known, report, digest, Delivery.WHOLE, at)

    async def _unheard_research(self, observed: ObservedExchange, spawn: Spawn) -> Research | None:
        """The research of a sub-agent of which nothing was heard but what its parent asked it; None where that is not
        to be kept."""
        session = observed.journaled.session
        owner = owner_of(session.scope)
        if owner is None or await is_forgotten(self._journal, owners_of(session.scope), spawn.errand.prompt):
            return None
        id = str(uuid.uuid5(SPACE, f"{session.id}\0{spawn.errand.call}"))
        known = unseen(id, owner, person_of(session), spawn.errand, session.id, spawn.at, observed.journaled.at)
        return replace(known, runtime=session.runtime)


@dataclass(frozen=True, slots=True)
class _SpawnResult:
    """What a spawn call gave back: that it failed, the names under which reports will come, or a report that is none
    of those that are known."""

    failed: bool
    promised: frozenset[str] = frozenset()
    report: bool = False

    @classmethod
    def by(cls, text: str, known: Sequence[Research]) -> _SpawnResult:
        """What a text tells. One that was sent once more is the newest report of the same research."""
        if fails(text):
            return cls(failed=True)
        if acknowledges(text) or len(unframed(text)) < LEAST_REPORT:
            return cls(failed=False, promised=promised(text))
        return cls(failed=False, report=not any(_is_known_report(each, text) for each in known))


def _promised_report(agent: str, came: ReturnedMessage) -> str:
    """The longest that a message says of what was promised under this name; empty where it says nothing of it."""
    reports = [report_of(agent, text) for text in came.texts.values()]
    reports += [report_of(agent, came.message.text, message=True)] if came.message.role is Role.USER else []
    return max(reports, key=len, default="")


async def is_forgotten(journal: ResearchJournal, owners: Sequence[str], text: str) -> bool:
    key = journal.key()
    return bool(await journal.is_forgotten([tombstone_of(key, owner, text) for owner in owners]))


def person_of(session: Session) -> str:
    return session.scope.owner(Layer.USER) or ""


def _is_known_report(research: Research, text: str) -> bool:
    """Whether a text is a report that is known already. Of those that never passed only the whole counts: reports of
    one kind have many lines in common."""
    known = (Delivery.WHOLE, Delivery.SHORTENED) if research.session else (Delivery.WHOLE,)
    return any(delivery(report, text) in known for report in research.reports)
