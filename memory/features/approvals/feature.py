"""Approvals, behind the hooks: what waits for a person, what they decide, and the files that an approval writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, NotRequired, Protocol, TypedDict

from memory.candidate import Candidate, CandidateKind, CandidateState, ImportOutcome
from memory.fact import Fact, Passage
from memory.features.approvals.convention_files import places
from memory.features.approvals.conventions import Conventions
from memory.features.approvals.decisions import Approval, CandidateApprovals
from memory.features.approvals.skills import Retirements, Skills
from memory.features.approvals.store import CANDIDATE, ApprovalStore, CandidateRecords
from memory.hooks.feature import Core, Feature, FeatureErasure, FeatureRoute
from memory.hooks.route_request import (
    Answer,
    Fields,
    MemoryJson,
    RouteRefused,
    RouteRequest,
    checked_id,
    checked_text,
    choice,
    choices,
)
from memory.hooks.route_request import memory as memory_json
from memory.ports import Forgotten
from memory.scope import Layer, Scope
from memory.stores.published_files import PublishedFolders

MAX_TEXT_CHARS = 200_000
"""Characters of what is approved: a skill is a whole file."""

_TAKEN = {ImportOutcome.TAKEN: "taken", ImportOutcome.KNOWN: "known", ImportOutcome.GONE: "forgotten"}


class WhyPutForward(TypedDict):
    """Why something was put forward, in words."""

    why: str


CandidateJson = Annotated[dict[str, Any], Fields("Candidate", Candidate, WhyPutForward)]


class CandidatesList(TypedDict):
    """What a person may approve, the most evidence first."""

    candidates: list[CandidateJson]


class Evidence(TypedDict):
    """The facts behind a candidate that the asker may see, and of how many others only the number is told."""

    evidence: list[MemoryJson]
    withheld: int


CandidateEvidence = Annotated[dict[str, Any], Fields("CandidateEvidence", CandidateJson, Evidence)]


class FileDiff(TypedDict):
    """A file that is written, and what of it changes."""

    file: str
    diff: str


class ApprovalJson(TypedDict):
    """What an approval writes, or the taking back of one, with what is to be known of it (``notes``); while it is not
    ``done``, the mark that confirms it."""

    candidate: CandidateJson
    files: list[FileDiff]
    notes: list[str]
    done: bool
    confirm: NotRequired[str]


class Promoted(TypedDict):
    """The fact that holds in all projects now, or the candidate that was put forward."""

    fact: NotRequired[MemoryJson]
    candidate: NotRequired[CandidateJson]


class MemoryLookup(Protocol):
    """What finds a memory by its id."""

    async def memory(self, id: str, owners: Sequence[str]) -> Fact | Passage:
        """The fact or the passage of an id, or of the beginning of one."""


class Approvals(Feature):
    """The feature."""

    name = "approvals"
    exported = CANDIDATE
    counted = "candidates"

    def __init__(self, core: Core) -> None:
        store = core.journal.part(ApprovalStore)
        files = PublishedFolders()
        place = places(core.projects, core.home / "pages")
        conventions = Conventions(core.journal, store, files, place, core.new_id, core.now)
        skills = Skills(files, core.projects)
        self._lookup: MemoryLookup = core.commands
        self._records = CandidateRecords(store)
        self.decisions = CandidateApprovals(
            core.journal,
            store,
            files,
            {
                CandidateKind.KNOWLEDGE: conventions,
                CandidateKind.LINE: conventions,
                CandidateKind.PROPOSED: conventions,
                CandidateKind.SKILL: skills,
                CandidateKind.RETIREMENT: Retirements(core.journal, skills),
            },
            conventions,
            skills,
            core.learner,
            core.pages,
            core.new_id,
            core.now,
        )

    async def forget(self, owners: Sequence[str]) -> FeatureErasure:
        skills = await self.decisions.written_skills(owners)

        async def files(gone: Forgotten) -> tuple[list[str], list[str]]:
            return await self.decisions.forget_written(gone.facts, skills, owners)

        return FeatureErasure(files=files)

    async def export(self, owner: str, after: str, limit: int) -> list[dict[str, Any]]:
        return await self._records.records(owner, after, limit)

    async def take(self, record: Mapping[str, Any], scope: Scope, dry: bool) -> str:
        return _TAKEN[await self._records.take(record, scope, dry)]

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        approving = {"text": str, "to": str, "confirm": str}
        return (
            FeatureRoute("GET", "candidates", cls.listed, 0, query=("state",)),
            FeatureRoute("GET", "candidates/{id}", cls.one, 0),
            FeatureRoute("POST", "candidates/{id}/approve", cls.approve, 0, approving),
            FeatureRoute("POST", "candidates/{id}/undo", cls.undo, 0, {"confirm": str}),
            FeatureRoute("POST", "candidates/{id}/reject", cls.reject, 0, {"why": str}),
            FeatureRoute("POST", "candidates/{id}/defer", cls.defer, 0, {}),
            FeatureRoute("POST", "candidates/{id}/reopen", cls.reopen, 0, {}),
            FeatureRoute("POST", "facts/{id}/promote", cls.promote, 0, {"to": str}),
        )

    async def listed(self, question: RouteRequest) -> CandidatesList:
        """``?state=waiting``: what a person may approve, the most evidence first; ``all``: also what is decided."""
        state = question.query.get("state")
        states = choices(state, "state", CandidateState) if state is not None else {CandidateState.WAITING}
        found = await self.decisions.candidates(question.owners, states)
        return {"candidates": [candidate_json(each) for each in found]}

    async def one(self, question: RouteRequest) -> CandidateEvidence:
        """One candidate with the facts behind it: of what others said, and of what was changed or taken back since,
        only how many, as ``withheld``."""
        held = await self.decisions.candidate(_id(question), question.owners)
        facts, withheld = await self.decisions.evidence(held, question.scope)
        evidence = [memory_json(fact, question.now) for fact in facts]
        return candidate_json(held) | {"evidence": evidence, "withheld": withheld}

    async def approve(self, question: RouteRequest) -> ApprovalJson:
        """``{"text": …, "to": "project", "confirm": …}``, all optional. Without ``confirm`` it answers what would be
        written, as diffs, and a mark; with that mark as ``confirm`` it writes exactly this."""
        body = question.body
        text = checked_text(body["text"], "text", required=True, longest=MAX_TEXT_CHARS) if "text" in body else None
        layer = _approved_for(body["to"]) if "to" in body else None
        done = await self.decisions.approve(
            _id(question), question.owners, text=text, layer=layer, confirm=body.get("confirm")
        )
        return _approval(done)

    async def undo(self, question: RouteRequest) -> ApprovalJson:
        """``{"confirm": …}``: take an approval back; without the mark it answers what would be written."""
        confirm = question.body.get("confirm")
        return _approval(await self.decisions.approve(_id(question), question.owners, confirm=confirm, undo=True))

    async def reject(self, question: RouteRequest) -> CandidateJson:
        """``{"why": …}``: it comes back only when there is much more for it."""
        return await self._decide(question, CandidateState.REJECTED, checked_text(question.body.get("why", ""), "why"))

    async def defer(self, question: RouteRequest) -> CandidateJson:
        """Decide later: it waits again when another session supports it."""
        return await self._decide(question, CandidateState.DEFERRED)

    async def reopen(self, question: RouteRequest) -> CandidateJson:
        """What was rejected or deferred waits again."""
        return await self._decide(question, CandidateState.WAITING)

    async def promote(self, question: RouteRequest) -> Answer[Promoted]:
        """``{"to": "user"}``: let a fact of one project hold in all of its user's; ``project`` and ``org`` put it
        forward as a candidate."""
        to = choice(question.body.get("to"), "to", Layer)
        held = await self._lookup.memory(_id(question), question.owners)
        if not isinstance(held, Fact):
            raise RouteRefused("that is a passage of a talk; only facts can rise", 422)
        risen = await self.decisions.promote(held, to)
        if isinstance(risen, Fact):
            return Answer({"fact": memory_json(risen, question.now, by_id=True)})
        return Answer({"candidate": candidate_json(risen)}, 201)

    async def _decide(self, question: RouteRequest, state: CandidateState, why: str = "") -> CandidateJson:
        return candidate_json(await self.decisions.decide(_id(question), question.owners, state, why))


def candidate_json(held: Candidate) -> CandidateJson:
    """A candidate as JSON tells it."""
    return asdict(held) | {"why": held.why}


def _id(question: RouteRequest) -> str:
    return checked_id(question.names["id"])


def _approval(done: Approval) -> ApprovalJson:
    approval: ApprovalJson = {
        "candidate": candidate_json(done.candidate),
        "files": [{"file": str(each.file), "diff": each.diff} for each in done.files],
        "notes": list(done.notes),
        "done": done.done,
    }
    if not done.done:
        approval["confirm"] = done.confirm
    return approval


def _approved_for(text: str) -> Layer:
    layer = choice(text, "to", Layer)
    if layer not in (Layer.PROJECT, Layer.ORG):
        raise RouteRefused(f"to is {text[:40]!r}; what is approved is for a project or an org", 422)
    return layer


FEATURE = Approvals
