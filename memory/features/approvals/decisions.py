"""What a person decides about candidates: approve, reject, defer, take an approval back; and what rises to a layer.

An approval is shown first and written only where it is confirmed by the mark of exactly what was shown. Facts and the
decision are one transaction; the files come after it, and what is missing in one is written by the next approval.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from memory.candidate import Candidate, CandidateDecision, CandidateKind, CandidateState, Proposal
from memory.fact import Fact, Sensitivity, State
from memory.features.approvals.candidates import (
    NOWHERE,
    CandidateLookup,
    CandidatesJournal,
    organisation_of,
    project_of,
)
from memory.features.approvals.store import ApprovalStore
from memory.features.approvals.write_plan import ApprovalRefused, ApprovedFileChange, Crystallizer, WritePlan, mark_of
from memory.learning.candidate_matching import says_the_same
from memory.learning.redact import redact
from memory.member import Asker
from memory.ports import PublishedFiles, PublishFailed
from memory.scope import Layer, Scope, place_of
from memory.services.learn import Learner
from memory.services.page.files import PageFiles

_ANYBODY = Asker()

MAX_REASON_CHARS = 1000
"""Characters of why something was rejected that are kept."""


class DecidingJournal(CandidatesJournal, Protocol):
    """What decisions need of the journal."""

    async def propose(self, owner: str, proposals: Sequence[Proposal], at: datetime) -> list[str]:
        """Put something forward."""

    async def submit(self, candidate: Candidate, to: str, by: str, at: datetime) -> Candidate:
        """Ask the maintainers of an organisation to approve a candidate as it is told."""

    async def decide(
        self, candidate: Candidate, state: CandidateState, at: datetime, reason: str = "", by: str = ""
    ) -> Candidate:
        """A person has decided, and nothing else changes but to whom it is submitted."""


class SharedLines(Protocol):
    """Knows where the line of a shared fact stands."""

    async def without(self, gone: Fact) -> list[ApprovedFileChange]:
        """The file without it."""


class SkillFiles(Protocol):
    """Knows where an approved skill was written."""

    async def without(self, gone: Candidate) -> tuple[list[ApprovedFileChange], list[str]]:
        """The files without it, and sentences about those that are left as they are."""


@dataclass(frozen=True, slots=True)
class Approval:
    """What was written, or what would be: then ``confirm`` is the mark to confirm it by."""

    candidate: Candidate
    files: tuple[ApprovedFileChange, ...]
    notes: tuple[str, ...]
    confirm: str
    done: bool


class NotAllowed(ApprovalRefused):
    """Somebody else decides this."""


class StaleDecision(ApprovalRefused):
    """What was confirmed is not what would be written now."""


class CandidateApprovals:
    """Implements ``palimpsest candidates``, ``approve``, ``reject``, ``defer`` and ``promote``."""

    def __init__(
        self,
        journal: DecidingJournal,
        store: ApprovalStore,
        lookup: CandidateLookup,
        files: PublishedFiles,
        crystallizers: Mapping[CandidateKind, Crystallizer],
        lines: SharedLines,
        skills: SkillFiles,
        learner: Learner,
        pages: PageFiles,
        new_id: Callable[[], str],
        now: Callable[[], datetime],
    ) -> None:
        self._journal = journal
        self._store = store
        self._lookup = lookup
        self._files = files
        self._crystallizers = crystallizers
        self._lines = lines
        self._skills = skills
        self._learner = learner
        self._pages = pages
        self._new_id = new_id
        self._now = now
        self._one_at_a_time = asyncio.Lock()

    async def approve(
        self,
        id: str,
        owners: Sequence[str],
        *,
        asker: Asker = _ANYBODY,
        scope: Scope = NOWHERE,
        text: str | None = None,
        layer: Layer | None = None,
        confirm: str | None = None,
        undo: bool = False,
    ) -> Approval:
        """Show what approving a candidate would write, its text put in other words where ``text`` is given; with
        ``confirm`` write it. ``undo`` takes an approval back. One that is approved already is written again as far as
        its file lacks it.

        Raises:
            NotFound: when there is no such candidate.
            ApprovalRefused: when it cannot be approved so; :class:`NotAllowed` when the asker does not decide what
                holds there, :class:`StaleDecision` when what was confirmed is not what there is now.
            PublishFailed: when a file cannot be read or written. Where that is found out last, the facts have risen,
                and approving it again writes the file.
        """
        async with self._one_at_a_time:
            candidate = await self._lookup.candidate(id, owners, scope)
            _check_writes_own(asker, candidate.owner)
            if not all(asker.approves(candidate.owner, each) for each in (candidate.layer, layer) if each is not None):
                raise NotAllowed(_for_maintainers(candidate, layer))
            approved = candidate.state is CandidateState.APPROVED
            if undo and not approved:
                raise ApprovalRefused(f"it is not approved, it is {candidate.state}")
            if approved and (text is not None or layer not in (None, candidate.layer)):
                raise ApprovalRefused("it is approved already: take that back first (approve ID --undo)")
            worded = candidate if text is None else _in_own_words(candidate, text)
            worded = replace(worded, layer=layer or worded.layer)
            writing = await self._crystallizer(candidate).planned(worded, undo)
            mark = mark_of(worded, writing, undo)
            if confirm is None:
                return Approval(worded, writing.files, writing.notes, mark, done=False)
            if confirm != mark:
                raise StaleDecision("something has changed since that was shown: look at it again")
            state = CandidateState.WAITING if undo else CandidateState.APPROVED
            if not undo and not worded.submitted_to and (to := organisation_of(worded)) is not None:
                # What is approved in an organisation is seen by all in it, with who approved it.
                worded = replace(worded, submitted_to=to, submitted_by=asker.name, submitted_at=self._now())
            decision = CandidateDecision(worded, state, fact=writing.fact, by=asker.name)
            decided = await self._write(writing, decision)
            return Approval(decided, writing.files, writing.notes, mark, done=True)

    async def submit(
        self,
        id: str,
        owners: Sequence[str],
        *,
        asker: Asker = _ANYBODY,
        text: str | None = None,
        layer: Layer | None = None,
    ) -> Candidate:
        """Ask the maintainers of an organisation to approve a candidate, in other words where ``text`` is given. From
        then on everybody in the organisation sees it, without what bears it out.

        Raises:
            NotFound: when there is no such candidate.
            ApprovalRefused: when it is decided, or belongs to no organisation; :class:`NotAllowed` when it is another
                person's.
        """
        async with self._one_at_a_time:
            candidate = await self._lookup.candidate(id, owners)
            to = organisation_of(candidate)
            if to is None:
                raise ApprovalRefused("it belongs to no organisation whose maintainers could approve it")
            if not asker.owns(candidate.owner):
                raise NotAllowed("only the person whose sessions bear it out can submit it")
            _check_writes(asker, candidate.owner)
            if candidate.state not in (CandidateState.WAITING, CandidateState.DEFERRED):
                raise ApprovalRefused(f"it is {candidate.state}: only what waits can be submitted")
            worded = candidate if text is None else _in_own_words(candidate, text)
            return await self._journal.submit(replace(worded, layer=layer or worded.layer), to, asker.name, self._now())

    async def decide(
        self,
        id: str,
        owners: Sequence[str],
        state: CandidateState,
        reason: str = "",
        *,
        asker: Asker = _ANYBODY,
        scope: Scope = NOWHERE,
    ) -> Candidate:
        """Reject or defer a candidate, or let it wait again. Who owns one takes it back from the maintainers so; who
        maintains it decides for all.

        Raises:
            NotFound: when there is no such candidate.
            ApprovalRefused: when it is approved; :class:`NotAllowed` when others decide.
        """
        async with self._one_at_a_time:
            candidate = await self._lookup.candidate(id, owners, scope)
            if candidate.state is CandidateState.APPROVED:
                raise ApprovalRefused("it is approved: take that back first (approve ID --undo)")
            _check_writes_own(asker, candidate.owner)
            if not asker.approves(candidate.owner, candidate.layer):
                # Without members there is nobody else who could decide about what many share.
                if not asker.owns(candidate.owner) and (candidate.submitted_to or asker.membership.organised):
                    raise NotAllowed(_for_maintainers(candidate))
                _check_writes(asker, candidate.owner)
                candidate = replace(candidate, submitted_to="", submitted_by="", submitted_at=None)
            said = redact(reason).text[:MAX_REASON_CHARS]
            return await self._journal.decide(candidate, state, self._now(), said, asker.name)

    async def promote(self, fact: Fact, to: Layer, *, asker: Asker = _ANYBODY) -> Fact | Candidate:
        """Let a fact rise: to all projects of its user at once, for others by a candidate that is to be approved.

        Raises:
            ApprovalRefused: when it cannot rise there; :class:`NotAllowed` when the asker only reads there.
        """
        found = place_of(fact.owner)
        if found is None or fact.state is not State.ACTIVE:
            raise ApprovalRefused(f"only what holds can rise, and this is {fact.state}")
        order = list(Layer)
        if order.index(to) <= order.index(fact.layer):
            raise ApprovalRefused(f"it is known to the {fact.layer} already")
        place = found[0]
        owner = place.owner(to)
        if owner is None:
            raise ApprovalRefused(f"it has no {to} that it could rise to")
        async with self._one_at_a_time:
            if to is Layer.USER:
                _check_writes(asker, owner)
                return await self._to_user(fact, owner)
            return await self._put_forward(fact, to)

    async def written_skills(self, owners: Sequence[str]) -> list[Candidate]:
        """The skills of some owners that were approved, or retired, and so stand in files."""
        approved = await self._journal.candidates(owners, {CandidateState.APPROVED})
        return [each for each in approved if each.kind in (CandidateKind.SKILL, CandidateKind.RETIREMENT)]

    async def forget_written(
        self, gone: Sequence[Fact], skills: Sequence[Candidate], owners: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """Take the lines of shared facts that are forgotten out of their files, and of the ``skills`` that there were
        those that went with what bore them out: the files, and sentences about what could not be taken out. A skill
        stays for which another candidate is approved."""
        files: list[str] = []
        faults: list[str] = []
        async with self._one_at_a_time:
            left = {each.id for each in await self._journal.candidates(owners)} if skills else set()
            standing = {_written_as(each) for each in await self._store.approved_skills()} if skills else set()
            for fact in gone:
                try:
                    files += await self._replaced(await self._lines.without(fact))
                except (PublishFailed, ApprovalRefused) as error:
                    faults.append(str(error))
            for skill in (each for each in skills if each.id not in left and _written_as(each) not in standing):
                try:
                    changes, changed = await self._skills.without(skill)
                    faults += changed
                    files += await self._replaced(changes)
                except PublishFailed as error:
                    faults.append(str(error))
        return list(dict.fromkeys(files)), list(dict.fromkeys(faults))

    async def _replaced(self, changes: Sequence[ApprovedFileChange]) -> list[str]:
        for each in changes:
            await self._files.replace(each.folder, each.name, each.before, each.after)
        return [str(each.file) for each in changes]

    async def _to_user(self, fact: Fact, owner: str) -> Fact:
        async with self._learner.resting():
            risen = replace(
                fact,
                id=self._new_id(),
                owner=owner,
                layer=Layer.USER,
                recorded_at=self._now(),
                supersedes=(fact.id,),
                contradicts=(),
                derived_from=(fact.id,),
            )
            await self._store.rise([risen], [replace(fact, state=State.ARCHIVED)], (), self._now())
        await self._changed({owner, fact.owner})
        return risen

    async def _put_forward(self, fact: Fact, to: Layer) -> Candidate:
        if fact.sensitivity is not Sensitivity.NORMAL:
            raise ApprovalRefused(f"it is {fact.sensitivity} and stays with its user")
        proposal = Proposal(
            self._new_id(),
            CandidateKind.KNOWLEDGE,
            mark=fact.id,
            title=fact.text,
            text=fact.text,
            what=fact.kind.value,
            sources=len(fact.derived_from) or 1,
            sessions=fact.sessions,
            evidence=(fact.id, *fact.derived_from),
            layer=to,
        )
        await self._journal.propose(fact.owner, [proposal], self._now())
        for each in await self._journal.candidates([fact.owner]):
            if each.kind is CandidateKind.KNOWLEDGE and (each.mark == fact.id or says_the_same(each.text, fact.text)):
                return each
        raise ApprovalRefused(f"the {to} has a rule like it already")

    async def _write(self, writing: WritePlan, decided: CandidateDecision) -> Candidate:
        async with self._learner.resting():
            every = [replace(each, by=decided.by) for each in writing.decided]
            own = [each for each in every if each.candidate.id == decided.candidate.id] or [decided]
            others = [each for each in every if each not in own]
            *_, candidate = await self._store.rise(writing.made, writing.changed, [*others, *own], self._now())
            if writing.proposals:
                await self._journal.propose(decided.candidate.owner, writing.proposals, self._now())
        for each in writing.files:
            await self._files.replace(each.folder, each.name, each.before, each.after)
        if writing.owner:
            await self._store.set_crystallized(writing.owner, writing.standing)
        await self._changed({fact.owner for fact in (*writing.made, *writing.changed)})
        return candidate

    async def _changed(self, owners: set[str]) -> None:
        if owners:
            self._pages.changed(frozenset(owners))
            self._learner.wake()
            await self._pages.refresh()

    def _crystallizer(self, candidate: Candidate) -> Crystallizer:
        found = self._crystallizers.get(candidate.kind)
        if found is None:
            raise ApprovalRefused(f"a {candidate.kind} cannot be written yet")
        return found


def _check_writes(asker: Asker, owner: str) -> None:
    if not asker.changes(owner):
        raise NotAllowed(f"you may only read in {project_of(owner) or 'the organisation'}")


def _check_writes_own(asker: Asker, owner: str) -> None:
    """What a person said in a project in which they only read is not theirs to decide, whatever they maintain."""
    if asker.owns(owner):
        _check_writes(asker, owner)


def _written_as(skill: Candidate) -> tuple[str | None, str]:
    """In which project's folder a skill is written, and what."""
    place = place_of(skill.owner)
    return (place[0].owner(Layer.PROJECT) if place is not None else None), skill.text


def _for_maintainers(candidate: Candidate, layer: Layer | None = None) -> str:
    place, whole = project_of(candidate.owner), Layer.ORG in (layer, candidate.layer)
    where = "the organisation" if whole or place is None else f"the project {place}"
    return f"what holds for others is decided by the maintainers of {where}: submit it to them"


def _in_own_words(candidate: Candidate, text: str) -> Candidate:
    """A candidate in a person's own words; those of knowledge are its title too."""
    clean = redact(text).text.strip()
    titled = candidate.kind not in (CandidateKind.SKILL, CandidateKind.RETIREMENT)
    return replace(candidate, text=clean, title=clean if titled else candidate.title)
