"""Approved knowledge: a shared fact of a project or an organisation, and a line of the file that its people read.

The file is a project's CONVENTIONS.md, in a folder that the settings name, or an organisation's page. Whoever can write
there (a colleague, a pull request, an agent) may have changed our lines since. Nobody can tell who it was, so that none
of it becomes a rule, or ends one, along with something else: each line that was written, changed or deleted is put
forward as a candidate of its own, and what it is about stays as it is, in the file and in memory, until it is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from memory.candidate import (
    Candidate,
    CandidateDecision,
    CandidateKind,
    CandidateState,
    Proposal,
    deletes,
    is_line,
    line_deleted,
    line_written,
    stable_of,
)
from memory.fact import Fact, MemoryTier, Origin, Passage, Sensitivity, Stability, State, Stream
from memory.features.approvals.convention_files import (
    ConventionFile,
    Malformed,
    SectionEdits,
    bullets,
    checked,
    has_section,
    no_folder,
    shared_owner,
    taken,
    written,
)
from memory.features.approvals.store import ApprovalStore
from memory.features.approvals.write_plan import ApprovalRefused, ApprovedFileChange, WritePlan
from memory.language.contradiction import clashing
from memory.language.polarity import without_aside
from memory.learning.candidate_matching import says_the_same
from memory.learning.redact import redact
from memory.learning.shared_line import line
from memory.policy import is_persons
from memory.ports import PublishedFiles
from memory.scope import Layer
from memory.services.lessons import rules
from memory.services.manual_facts import SESSION, in_own_words

MOST = 20
"""Edits of a file that are put forward at a time."""


class PromotionJournal(Protocol):
    """What shared facts need of the journal."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]:
        """Facts by id."""

    async def passages(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Passage]:
        """Passages by id."""

    async def shared(self, owner: str) -> list[Fact]:
        """What persons have approved for all who share an owner."""

    async def candidates(
        self, owners: Sequence[str], states: Collection[CandidateState] = frozenset(CandidateState)
    ) -> list[Candidate]:
        """The candidates of some owners."""


@dataclass(slots=True)
class _Sheet:
    """The shared facts of an owner as they become."""

    owner: str
    layer: Layer
    held: dict[str, Fact]
    made: dict[str, Fact] = field(default_factory=dict)
    changed: dict[str, Fact] = field(default_factory=dict)
    decided: list[CandidateDecision] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    stand: set[str] = field(default_factory=set)
    """Facts whose lines stand in the file, in whatever words."""
    ended: set[str] = field(default_factory=set)
    """Lines in the file that are taken out: of facts that hold no longer, something else was said since."""
    proposals: list[Proposal] = field(default_factory=list)


class Conventions:
    """Plans how knowledge is shared, see :class:`memory.features.approvals.write_plan.Crystallizer`."""

    def __init__(
        self,
        journal: PromotionJournal,
        store: ApprovalStore,
        files: PublishedFiles,
        place: Callable[[str], ConventionFile | None],
        new_id: Callable[[], str],
        now: Callable[[], datetime],
    ) -> None:
        self._journal = journal
        self._store = store
        self._files = files
        self._place = place
        self._new_id = new_id
        self._now = now

    async def planned(self, candidate: Candidate, retire: bool = False) -> WritePlan:
        owner = shared_owner(candidate)
        place = self._place(owner)
        try:
            return await self._planned(candidate, retire, owner, place)
        except Malformed as error:
            raise ApprovalRefused(f"{place.folder / place.name if place else ''}: {error}") from None

    async def _planned(self, candidate: Candidate, retire: bool, owner: str, place: ConventionFile | None) -> WritePlan:
        sheet = _Sheet(owner, candidate.layer, {fact.id: fact for fact in await self._journal.shared(owner)})
        text = await self._files.read(place.folder, place.name) if place else None
        bullets_now = bullets(text or "")
        done = SectionEdits()
        if place is not None:
            done = await self._person_edits(sheet, place, text, bullets_now)
        lines = {id: line(fact) for id, fact in sheet.held.items()}
        fact = await self._settled(sheet, candidate, retire, done, bullets_now)
        if place is not None:
            await self._put_forward(sheet, candidate, done, place)
        dropped = [lines[id] for id in lines if id not in sheet.held and lines[id] in bullets_now]
        dropped += sheet.ended
        added = [
            line(each) for id, each in sheet.held.items() if id not in sheet.stand and line(each) not in bullets_now
        ]
        files: tuple[ApprovedFileChange, ...] = ()
        if place is not None:
            after = written(text, added, dropped)
            files = (ApprovedFileChange(place.folder, place.name, text, after),) if after != (text or "") else ()
        elif candidate.layer is Layer.PROJECT:
            sheet.notes.append(no_folder(candidate))
        return WritePlan(
            files,
            tuple(sheet.notes),
            tuple(sheet.made.values()),
            tuple(sheet.changed.values()),
            tuple(sheet.decided),
            fact,
            owner if place is not None else "",
            tuple(sheet.held),
            tuple(sheet.proposals),
        )

    async def without(self, gone: Fact) -> list[ApprovedFileChange]:
        """The file without the line of a fact that is forgotten; a line that a person has changed stays.

        Raises:
            Refused: when the marks in the file do not enclose our section.
            NotWritten: when the file cannot be read as it should be.
        """
        place = self._place(gone.owner) if gone.tier is MemoryTier.SHARED else None
        text = await self._files.read(place.folder, place.name) if place else None
        if place is None or text is None:
            return []
        try:
            after = written(text, [], [line(gone)])
        except Malformed as error:
            raise ApprovalRefused(f"{place.folder / place.name}: {error}") from None
        return [ApprovedFileChange(place.folder, place.name, text, after)] if after != text else []

    async def _settled(
        self, sheet: _Sheet, candidate: Candidate, retire: bool, done: SectionEdits, found: Sequence[str]
    ) -> str:
        """The shared fact that a candidate is then, empty where it is none."""
        fact = candidate.fact
        if retire:
            if deletes(candidate):
                raise ApprovalRefused("approve the rule itself again: what was decided about it says so")
            await self._retire(sheet, [fact] if fact in sheet.held else [])
            return ""
        if candidate.state is CandidateState.APPROVED and (fact in sheet.held or deletes(candidate)):
            return fact
        if candidate.kind is CandidateKind.LINE:
            await rules.at_hand()
            return await self._line_settled(sheet, candidate, done, found)
        if candidate.kind is CandidateKind.PROPOSED:
            await rules.at_hand()
            return await self._proposed_settled(sheet, candidate)
        return await self._raise(sheet, candidate)

    async def _line_settled(self, sheet: _Sheet, candidate: Candidate, done: SectionEdits, found: Sequence[str]) -> str:
        """What becomes of a line that somebody wrote, changed or deleted, as a person has decided."""
        if gone := deletes(candidate):
            if gone not in done.deleted:
                raise ApprovalRefused("its line is not deleted from the file any more")
            await self._retire(sheet, [gone], "its line was deleted from the file")
            return ""
        standing = next((each for each in found if is_line(candidate, each)), None)
        if standing is None:
            raise ApprovalRefused("it does not stand in the file any more")
        old = next((id for id, new in done.edited if new == standing), "")
        text = self._new(sheet, candidate.text, old)
        new = self._fact_of_approved_line(sheet, text)
        if line(new) == standing:
            sheet.stand.add(new.id)
        else:
            sheet.ended.add(standing)
        if old:
            await self._replace_rule(sheet, new, old, candidate)
        return new.id

    async def _proposed_settled(self, sheet: _Sheet, candidate: Candidate) -> str:
        """What becomes of a line that others committed: a rule of the same id, or other words of the one that it was
        proposed to change."""
        old = next((id for id in candidate.evidence if id in sheet.held), "")
        if candidate.evidence and not old:
            raise ApprovalRefused("what it would change holds no longer: import the file again")
        text = self._new(sheet, candidate.text, old)
        stable = stable_of(candidate)
        taken = [*await self._journal.facts([stable]), *await self._journal.passages([stable])]
        new = self._fact_of_approved_line(sheet, text, "" if old or taken else stable)
        sheet.notes.append(f"{candidate.what}; that is git's word alone")
        if old:
            await self._replace_rule(sheet, new, old, candidate)
        return new.id

    async def _replace_rule(self, sheet: _Sheet, new: Fact, old: str, candidate: Candidate) -> None:
        before = sheet.held.pop(old)
        sheet.held[new.id] = sheet.made[new.id] = replace(
            new, supersedes=(old, *before.supersedes), derived_from=before.derived_from, category=before.category
        )
        sheet.changed[old] = replace(
            before, state=State.SUPERSEDED, valid_until=new.valid_from, superseded_at=new.recorded_at
        )
        sheet.decided += [
            CandidateDecision(
                replace(each, title=new.text, text=new.text), CandidateState.APPROVED, each.reason, new.id
            )
            for each in await self._store.became([old])
            if each.id != candidate.id
        ]

    async def _person_edits(
        self, sheet: _Sheet, place: ConventionFile, text: str | None, found: Sequence[str]
    ) -> SectionEdits:
        before = await self._store.crystallized(sheet.owner)
        if not text or not has_section(text):
            if before & sheet.held.keys():
                sheet.notes.append(f"our section is gone from {place.folder / place.name}: it is written again")
            return SectionEdits()
        lines = {id: line(fact) for id, fact in sheet.held.items() if id in before or line(fact) in found}
        ended = {line(fact) for fact in await self._journal.facts(sorted(before - sheet.held.keys()))}
        sheet.ended = {rule for rule in ended if rule in found and rule not in lines.values()}
        done = taken([rule for rule in found if rule not in sheet.ended], lines)
        sheet.stand.update(done.kept)
        return done

    async def _put_forward(
        self, sheet: _Sheet, candidate: Candidate, done: SectionEdits, place: ConventionFile
    ) -> None:
        """Put forward what somebody has done to the lines, but for what is decided by now. What was rejected is as if
        it had not been done: a rule that was changed or deleted is written again, and the other line is left alone."""
        every = [each for each in await self._journal.candidates([candidate.owner]) if each.id != candidate.id]
        rejected = [each for each in every if each.state is CandidateState.REJECTED]
        standing = {line(fact) for fact in sheet.held.values()} | sheet.ended
        edits: list[tuple[Proposal, str]] = []
        for old, rule in [*done.edited, *(("", rule) for rule in done.added)]:
            if rule in standing or any(is_line(each, rule) for each in rejected):
                continue
            if not old or old in sheet.held:
                was = line(sheet.held[old]) if old else ""
                proposal = line_written(self._new_id(), rule, redact(rule).text, sheet.layer, old, was)
                edits.append((proposal, f"changed: {was} → {proposal.text}" if old else f"written: {proposal.text}"))
                sheet.stand.update([old] if old else [])
        for old in done.deleted:
            # One that is approved again is written again.
            if old not in sheet.held or old == candidate.fact or any(deletes(each) == old for each in rejected):
                continue
            was = line(sheet.held[old])
            edits.append((line_deleted(self._new_id(), old, was, sheet.layer), f"deleted: {was}"))
            sheet.stand.add(old)
        for proposal, edit in edits[:MOST]:
            sheet.proposals.append(proposal)
            sheet.notes.append(f"by hand in {place.name}, and a candidate of its own (palimpsest candidates): {edit}")
        if len(edits) > MOST:
            sheet.notes.append(f"{len(edits) - MOST} more edits of {place.name} are asked for once these are decided")

    def _fact_of_approved_line(self, sheet: _Sheet, line: str, id: str = "") -> Fact:
        fact = in_own_words(line, sheet.owner, sheet.layer, id or self._new_id(), self._now())
        fact = replace(fact, source=b"", tier=MemoryTier.SHARED, stability=Stability.STABLE, stream=Stream.PROJECTS)
        sheet.held[fact.id] = sheet.made[fact.id] = fact
        return fact

    def _new(self, sheet: _Sheet, text: str, instead: str = "") -> str:
        """The text of a rule that is none yet; those that it seems to contradict, but for the one that it stands
        ``instead`` of, are noted."""
        text = checked(text)
        for each in sheet.held.values():
            if each.id == instead:
                continue
            if says_the_same(each.text, text):
                raise ApprovalRefused(f"that is a rule there already: {each.text}")
            if clashing(each.text, text):
                sheet.notes.append(f"it seems to contradict a rule that was approved before: {each.text}")
        return text

    async def _retire(self, sheet: _Sheet, ids: Iterable[str], reason: str = "") -> None:
        """Shared facts that hold no longer, with what they stood for taking part again. With a ``reason`` the
        candidates that they were are rejected for it."""
        for id in ids:
            gone = sheet.held.pop(id)
            sheet.changed[id] = replace(gone, state=State.ARCHIVED)
            for each in await self._journal.facts(gone.supersedes):
                if each.state is State.ARCHIVED and each.tier is not MemoryTier.SHARED:
                    sheet.changed[each.id] = replace(each, state=State.ACTIVE)
            if reason:
                sheet.decided += [
                    CandidateDecision(each, CandidateState.REJECTED, reason) for each in await self._store.became([id])
                ]

    async def _raise(self, sheet: _Sheet, candidate: Candidate) -> str:
        """The shared fact that a candidate becomes; what it was drawn from takes its place no more."""
        text = self._new(sheet, candidate.text)
        found = {fact.id: fact for fact in await self._journal.facts([candidate.mark, *candidate.evidence])}
        if not found:
            raise ApprovalRefused("nothing that bears it out is left")
        drawn = found.get(candidate.mark) or next(iter(found.values()))
        # Whoever approves what somebody submitted is told nothing of what that person said but what they submitted.
        private = bool(candidate.submitted_to) and is_persons(drawn.owner)
        if drawn.state is State.SUPERSEDED:
            told = "" if private else f" ({drawn.text})"
            sheet.notes.append(f"it may not hold any more: what bears it out was changed since{told}")
        if not drawn.origin.trusted:
            sheet.notes.append(f"it came from {drawn.origin.value}, not from a person")
        fact = replace(
            drawn,
            id=self._new_id(),
            text=text,
            owner=sheet.owner,
            layer=sheet.layer,
            # What a person has approved is that person's word, whatever it was drawn from.
            origin=Origin.PERSON,
            stream=Stream.PROJECTS,
            session=SESSION,
            source=b"",
            recorded_at=self._now(),
            confidence=1.0,
            sensitivity=Sensitivity.NORMAL,
            tier=MemoryTier.SHARED,
            stability=Stability.STABLE,
            state=State.ACTIVE,
            valid_until=None,
            superseded_at=None,
            supersedes=(drawn.id,),
            contradicts=(),
            derived_from=tuple(sorted(found)),
            expires_at=None,
            pinned=False,
            core="",
            wrong=drawn.wrong if says_the_same(text, without_aside(drawn.text)) else "",
        )
        if private:
            said = text.casefold()
            fact = replace(
                fact,
                wrong=fact.wrong if fact.wrong.casefold() in said else "",
                entities=tuple(name for name in fact.entities if name.casefold() in said),
            )
        sheet.held[fact.id] = sheet.made[fact.id] = fact
        if drawn.state is State.ACTIVE and drawn.owner == candidate.owner:
            sheet.changed[drawn.id] = replace(drawn, state=State.ARCHIVED)
        return fact.id
