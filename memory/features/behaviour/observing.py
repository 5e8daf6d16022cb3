"""Watch how work is done: what an exchange shows of it, as facts and steps for the lesson that it teaches.

Steps are counted as they come. Habits need many sessions, so they are looked for when a session begins, and then only
where enough has been done since the last look.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Protocol

import orjson

from memory.behaviour import BehaviourRecord, CommandFailure, KnownObservation, WorkStep
from memory.candidate import Candidate, CandidateKind, CandidateState, Proposal, retirement
from memory.fact import Fact, State
from memory.hooks.feature import FeatureLesson
from memory.learning.behaviour.corrected_actions import corrected
from memory.learning.behaviour.fixes import fixes
from memory.learning.behaviour.habits import Convention, Habits, StepSequence, Trigger, mine
from memory.learning.behaviour.observation_facts import (
    LEAST,
    ObservationDraft,
    confidence,
    fixed,
    habitual,
    left_open,
    mark,
    put_right,
    sequence,
    subject_of,
    words_of,
)
from memory.learning.behaviour.skills import Skill, SkillThresholds, lives_on, omissions, skills, steps_of
from memory.learning.behaviour.steps import Marked, Window, marked, read, window
from memory.learning.outcome import drafted
from memory.learning.tombstones import tombstone_of
from memory.lru import LruDict
from memory.ports import Journal, Journaled
from memory.scope import Layer
from memory.settings import LearningSettings

MINED = 10_000
"""Steps of an owner that habits are looked for in, the newest."""
SHARE = 20
"""Habits are looked for again when a twentieth as much has been done since, so that each step costs the same."""
MAX_OWNERS = 4096
"""Owners of whom it is known when habits were looked for; of others they are looked for when a session begins."""
FEW = 4
"""New messages that are looked at on the loop: a millisecond at most, as long as the way to a thread and back."""
FEW_OF_TALK = 100
"""The same where no tool was called."""
MANY = 200
"""Steps of one session after which habits are looked for before the next one begins."""
HABITUAL = ("sequence", "trigger", "convention")


@dataclass(frozen=True, slots=True)
class Forward:
    """What is put before a person of an ``owner`` behind the exchange: ``proposals``, and those wait no longer that
    rest on a fact in ``turned``. ``looked`` says that habits were looked for: what is not proposed to be retired then
    is a habit, or may be."""

    owner: str
    proposals: tuple[Proposal, ...] = ()
    turned: frozenset[str] = frozenset()
    looked: bool = False


@dataclass(slots=True)
class _StepCounts:
    """What was done by an owner since habits were looked for: ``total`` steps then, ``since`` then."""

    session: str = ""
    total: int = 0
    since: int = 0
    looked: bool = False


@dataclass(slots=True)
class _Seen:
    steps: list[WorkStep] = field(default_factory=list)
    findings: list[ObservationDraft] = field(default_factory=list)
    failures: dict[bytes, CommandFailure] = field(default_factory=dict)


class WatchedJournal(Journal, Protocol):
    """What this needs of the journal."""

    async def propose(self, owner: str, proposals: Sequence[Proposal], at: datetime) -> list[str]:
        """Put something forward to an owner."""

    async def candidates(
        self, owners: Sequence[str], states: Collection[CandidateState] = frozenset(CandidateState)
    ) -> list[Candidate]:
        """The candidates of some owners."""

    async def decide(self, candidate: Candidate, state: CandidateState, at: datetime, reason: str = "") -> Candidate:
        """What becomes of a candidate."""


class BehaviourObserver:
    """Watches."""

    def __init__(self, journal: WatchedJournal, new_id: Callable[[], str], settings: LearningSettings) -> None:
        self._journal = journal
        self._new_id = new_id
        self._settings = settings
        self._counted: LruDict[str, _StepCounts] = LruDict(MAX_OWNERS)

    async def observe(self, journaled: Journaled) -> FeatureLesson:
        """What an exchange shows of how work is done.

        Raises:
            StoreError: when what is known cannot be read.
        """
        owner = journaled.session.scope.owner(Layer.USER_PROJECT)
        if not self._settings.behaviour or owner is None or not journaled.fresh:
            return FeatureLesson()
        # In mere talk there is little to look at: that somebody asked for something, which is where work begins.
        aside = len(journaled.fresh) > (FEW if _called_any_tool(journaled) else FEW_OF_TALK)
        looked, done = await asyncio.to_thread(_looked, journaled) if aside else _looked(journaled)
        if looked is None or not done:
            return FeatureLesson()
        # A history that comes again under another session's name shows nothing new, and is read no further.
        before = await self._journal.known_steps(owner, [step.mark for step in done])
        new = [step for step in done if step.mark not in before]
        if not new:
            return FeatureLesson()
        seen = (
            await asyncio.to_thread(_new_steps, journaled, looked, new) if aside else _new_steps(journaled, looked, new)
        )
        mined: list[ObservationDraft] | None = None
        worth: list[Skill] = []
        over: list[Proposal] = []
        if self._due(owner, journaled.session.id, len(seen.steps)):
            habits = await self.habits(owner)
            self._counted[owner] = _StepCounts(journaled.session.id, habits.steps, len(seen.steps), looked=True)
            ended = [found for each in habits.ended if each.session != journaled.session.id
                     and (found := left_open(each))]  # fmt: skip
            mined = list(habitual(habits))
            worth = list(skills(habits, SkillThresholds(self._settings.skills.sessions, self._settings.skills.times)))
            over = await self._proposed_retirements(owner, habits)
            seen.findings.extend([*mined, *ended[-1:]])
        facts, known, held = await self._facts(journaled, owner, seen.findings)
        retired = await self._facts_of_ended_habits(owner, mined) if mined is not None else []
        failures = {held[subject]: failure for subject, failure in seen.failures.items() if subject in held}
        changed = frozenset(fact.id for fact, new in facts if not new) | {fact.id for fact in retired}
        observed = BehaviourRecord(owner, tuple(seen.steps), tuple(known), failures, tuple(fact.id for fact in retired))
        forward = Forward(
            owner,
            (*self._proposed(worth, held), *over),
            frozenset(fact.id for fact in retired),
            mined is not None,
        )
        return FeatureLesson(
            (*(fact for fact, _ in facts), *retired),
            changed,
            observed,
            lambda: self.put_forward(forward, journaled.at),
        )

    async def put_forward(self, forward: Forward, at: datetime) -> None:
        """Put before a person what is worth a skill by now, and which approved one is followed no longer; what its
        habit no longer bears out waits no longer, until it does again, nor does the end of what is followed again."""
        owner = forward.owner
        if forward.proposals:
            await self._journal.propose(owner, forward.proposals, at)
        for each in await self._journal.candidates([owner], {CandidateState.WAITING}) if forward.turned else ():
            if each.kind is CandidateKind.SKILL and forward.turned.issuperset(each.evidence):
                await self._journal.decide(each, CandidateState.DEFERRED, at, "it is no habit any more")
        over = {each.mark for each in forward.proposals if each.kind is CandidateKind.RETIREMENT}
        for each in await self._journal.candidates([owner], {CandidateState.WAITING}) if forward.looked else ():
            if each.kind is CandidateKind.RETIREMENT and each.mark not in over:
                await self._journal.decide(each, CandidateState.DEFERRED, at, "its steps are not left out any more")

    async def habits(self, owner: str) -> Habits:
        """The habits of an owner's sessions, as they are now, but for those that are forgotten."""
        done = await self._journal.steps(owner, MINED)
        mined = await asyncio.to_thread(mine, done)
        every: list[StepSequence | Trigger | Convention] = [*mined.sequences, *mined.triggers, *mined.conventions]
        gone = await self._forgotten_subjects(owner, {subject_of(each): words_of(each) for each in every})
        if not gone:
            return mined
        return replace(
            mined,
            sequences=tuple(each for each in mined.sequences if subject_of(each) not in gone),
            triggers=tuple(each for each in mined.triggers if subject_of(each) not in gone),
            conventions=tuple(each for each in mined.conventions if subject_of(each) not in gone),
        )

    async def _forgotten_subjects(self, owner: str, texts: Mapping[bytes, str]) -> frozenset[bytes]:
        """Which of these subjects of an owner's are forgotten, by themselves or in the words that they are told in."""
        key = self._journal.key()
        buried = {
            subject: {tombstone_of(key, owner, mark(subject)), tombstone_of(key, owner, text)}
            for subject, text in texts.items()
        }
        forgotten = await self._journal.is_forgotten(list(chain.from_iterable(buried.values()))) if buried else ()
        return frozenset(subject for subject, hashes in buried.items() if not hashes.isdisjoint(forgotten))

    def _due(self, owner: str, session: str, steps: int) -> bool:
        """Whether habits are to be looked for now."""
        counted = self._counted.use(owner, _StepCounts())
        begins, counted.session = counted.session != session, session
        counted.since += steps
        if not counted.looked:
            return begins
        return counted.since * SHARE > counted.total and (begins or counted.since >= MANY)

    async def _facts(
        self, journaled: Journaled, owner: str, findings: Sequence[ObservationDraft]
    ) -> tuple[list[tuple[Fact, bool]], list[KnownObservation], dict[bytes, str]]:
        """The facts to write, each with whether it is new; what is to be noted of them; which fact holds which
        finding."""
        found = {each.subject: each for each in findings}
        if not found:
            return [], [], {}
        before = {each.subject: each for each in await self._journal.observations(owner, list(found))}
        facts = {fact.id: fact for fact in await self._journal.facts([each.memory for each in before.values()])}
        forgotten = await self._forgotten_subjects(owner, {subject: each.draft.text for subject, each in found.items()})
        written: list[tuple[Fact, bool]] = []
        known: list[KnownObservation] = []
        ids: dict[bytes, str] = {}
        for subject, each in found.items():
            if subject in forgotten:
                continue
            held = before.get(subject)
            fact = facts.get(held.memory) if held is not None else None
            if fact is None:
                fact = self._fact(each, owner, journaled)
                written.append((fact, True))
            else:
                ids[subject] = fact.id
                stronger = _reinforced(fact, each, journaled.session.id, journaled.at)
                if stronger == fact:
                    continue
                written.append((stronger, False))
            ids[subject] = fact.id
            known.append(KnownObservation(owner, subject, each.sort, fact.id, orjson.dumps(each.detail).decode()))
        return written, known, ids

    def _proposed(self, worth: Iterable[Skill], held: Mapping[bytes, str]) -> Iterator[Proposal]:
        for skill in worth:
            fact = held.get(sequence(skill.sequel.families))
            if fact is not None:
                sequel = skill.sequel
                yield Proposal(
                    self._new_id(),
                    CandidateKind.SKILL,
                    skill.mark,
                    skill.name,
                    skill.text,
                    "instance",
                    sequel.times,
                    sequel.sessions,
                    (fact,),
                )

    async def _proposed_retirements(self, owner: str, habits: Habits) -> list[Proposal]:
        """That the approved skills be retired whose steps are a habit no longer, and were left out since in as many
        sessions as a skill must have."""
        approved = await self._journal.candidates([owner], {CandidateState.APPROVED})
        written = {each.title: each for each in sorted(approved, key=_decided) if each.kind is CandidateKind.SKILL}
        over = {id: each for id, each in ((skill.id, steps_of(skill.mark)) for skill in written.values()) if each}
        over = {id: each for id, each in over.items() if not lives_on(each, habits)}
        if not over:
            return []
        done = await self._journal.steps(owner, MINED)
        found = []
        for skill in written.values():
            if skill.id in over:
                left = await asyncio.to_thread(omissions, done, over[skill.id], _decided(skill))
                if left.sessions >= self._settings.skills.sessions:
                    found.append(retirement(self._new_id(), skill, left.times, left.sessions))
        return found

    async def _facts_of_ended_habits(self, owner: str, mined: Iterable[ObservationDraft]) -> list[Fact]:
        subjects = {each.subject for each in mined}
        every = await self._journal.observations(owner)
        gone = [each.memory for each in every if each.sort in HABITUAL and each.subject not in subjects]
        facts = await self._journal.facts(gone)
        return [replace(fact, state=State.ARCHIVED) for fact in facts if fact.state is State.ACTIVE and not fact.pinned]

    def _fact(self, finding: ObservationDraft, owner: str, journaled: Journaled) -> Fact:
        fact = drafted(finding.draft, self._new_id(), owner, finding.source, journaled)
        return replace(fact, access=finding.sessions, sessions=finding.sessions)


def _decided(candidate: Candidate) -> datetime:
    return candidate.decided_at or candidate.made_at


def _called_any_tool(journaled: Journaled) -> bool:
    replied = [journaled.reply] if journaled.reply is not None else []
    return any(message.calls for message in (*journaled.messages, *replied))


def _looked(journaled: Journaled) -> tuple[Window | None, list[Marked]]:
    looked = window(journaled)
    return looked, marked(journaled, looked) if looked is not None else []


def _new_steps(journaled: Journaled, looked: Window, new: Sequence[Marked]) -> _Seen:
    """The steps that are new, read, and what they show."""
    seen = _Seen([*map(read, new)])
    sources = frozenset(step.source for step in seen.steps)
    for fix in fixes(journaled, looked, sources):
        finding = fixed(fix)
        seen.findings.append(finding)
        seen.failures[finding.subject] = fix.failure
    seen.findings.extend(map(put_right, corrected(journaled, looked, sources)))
    return seen


def _reinforced(fact: Fact, finding: ObservationDraft, session: str, at: datetime) -> Fact:
    """A known fact that was observed again: in another session it is surer, and a fix that had faded takes part again.
    What was replaced, and a habit that a night took together with another, stay as they are."""
    if fact.state is State.SUPERSEDED or (fact.state is State.ARCHIVED and finding.sort in HABITUAL):
        return fact
    elsewhere = fact.session != session and (fact.used_at is None or fact.used_at < at)
    counted = max(finding.sessions, fact.sessions + (elsewhere and finding.sort not in HABITUAL))
    if counted == fact.sessions and fact.state is State.ACTIVE:
        return fact
    sure = confidence(counted, LEAST if finding.sort in HABITUAL else finding.draft.confidence)
    return replace(
        fact,
        text=finding.draft.text if finding.sort in HABITUAL else fact.text,
        core="" if finding.sort in HABITUAL else fact.core,
        state=State.ACTIVE,
        sessions=counted,
        access=fact.access + 1,
        confidence=max(fact.confidence, sure),
        used_at=at if fact.used_at is None else max(fact.used_at, at),
    )
