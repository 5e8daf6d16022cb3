"""Approvals, behind the hooks: what waits for a person, what they decide, and the files that an approval writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, NotRequired, Protocol, TypedDict

from memory.candidate import Candidate, CandidateKind, CandidateState, ImportOutcome
from memory.fact import Fact, Passage
from memory.features.approvals.candidates import CandidateLookup
from memory.features.approvals.convention_files import places
from memory.features.approvals.conventions import Conventions
from memory.features.approvals.decisions import Approval, CandidateApprovals, NotAllowed
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
    shallow,
)
from memory.hooks.route_request import memory as memory_json
from memory.member import Asker
from memory.ports import Forgotten
from memory.scope import Layer, Scope
from memory.stores.published_files import PublishedFolders

MAX_TEXT_CHARS = 200_000
"""Characters of what is approved: a skill is a whole file."""

_TAKEN = {ImportOutcome.TAKEN: "taken", ImportOutcome.KNOWN: "known", ImportOutcome.GONE: "forgotten"}


class WhyPutForward(TypedDict):
    """Why something was put forward, in words, and what the asker may do about it: it is borne out by their own
    sessions (``yours``), and they decide whether it holds for others (``yours_to_approve``). Of another person's the
    ``mark`` and the ids of the ``evidence`` are not told."""

    why: str
    yours: bool
    yours_to_approve: bool


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


class ApprovedHow(TypedDict):
    """Who submitted a rule, who approved it and when, as far as that is known; ``candidate`` is its id."""

    candidate: str
    submitted_by: str
    approved_by: str
    approved_at: datetime | None


RuleJson = Annotated[dict[str, Any], Fields("Rule", MemoryJson, ApprovedHow)]


class RulesList(TypedDict):
    """What was approved for all who work on a project or in an organisation, the oldest of each first."""

    rules: list[RuleJson]


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
        self.candidates = CandidateLookup(core.journal, store)
        self.decisions = CandidateApprovals(
            core.journal,
            store,
            self.candidates,
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
            FeatureRoute("GET", "candidates", cls.listed, 0, query=("state", "submitted")),
            FeatureRoute("GET", "rules", cls.rules, 0),
            FeatureRoute("GET", "candidates/{id}", cls.one, 0),
            FeatureRoute("POST", "candidates/{id}/approve", cls.approve, 0, approving),
            FeatureRoute("POST", "candidates/{id}/submit", cls.submit, 0, {"text": str, "to": str}),
            FeatureRoute("POST", "candidates/{id}/undo", cls.undo, 0, {"confirm": str}),
            FeatureRoute("POST", "candidates/{id}/reject", cls.reject, 0, {"why": str}),
            FeatureRoute("POST", "candidates/{id}/defer", cls.defer, 0, {}),
            FeatureRoute("POST", "candidates/{id}/reopen", cls.reopen, 0, {}),
            FeatureRoute("POST", "facts/{id}/promote", cls.promote, 0, {"to": str}),
        )

    async def listed(self, question: RouteRequest) -> CandidatesList:
        """``?state=waiting``: what a person's own sessions bear out, the most evidence first; ``all``: also what is
        decided. ``?submitted=yes``: in its place what was submitted to the maintainers of their organisation."""
        state = question.query.get("state")
        states = choices(state, "state", CandidateState) if state is not None else {CandidateState.WAITING}
        if question.query.get("submitted") in ("1", "true", "yes"):
            found = await self.candidates.submitted(question.scope, states)
        else:
            found = await self.candidates.candidates(question.owners, states)
        return {"candidates": [candidate_json(each, question.asker) for each in found]}

    async def rules(self, question: RouteRequest) -> RulesList:
        """What was approved for others as well, with who approved it and when."""
        told: list[RuleJson] = []
        for fact, was in await self.candidates.rules(question.owners):
            how: dict[str, Any] = {
                "candidate": was.id if was else "",
                "submitted_by": was.submitted_by if was else "",
                "approved_by": was.decided_by if was else "",
                "approved_at": was.decided_at if was else None,
            }
            told.append(memory_json(fact, question.now) | how)
        return {"rules": told}

    async def one(self, question: RouteRequest) -> CandidateEvidence:
        """One candidate with the facts behind it: of what others said, and of what was changed or taken back since,
        only how many, as ``withheld``."""
        held = await self.candidates.candidate(_id(question), question.owners, question.scope)
        facts, withheld = await self.candidates.evidence(held, question.scope)
        evidence = [memory_json(fact, question.now) for fact in facts]
        return candidate_json(held, question.asker) | {"evidence": evidence, "withheld": withheld}

    async def approve(self, question: RouteRequest) -> ApprovalJson:
        """``{"text": …, "to": "project", "confirm": …}``, all optional. Without ``confirm`` it answers what would be
        written, as diffs, and a mark; with that mark as ``confirm`` it writes exactly this."""
        return await self._approved(question, *_wording_and_layer(question))

    async def submit(self, question: RouteRequest) -> CandidateJson:
        """``{"text": …, "to": "project"}``, both optional: ask the maintainers of the organisation to approve it, in
        these words. Everybody in the organisation sees it then, but not what bears it out."""
        text, layer = _wording_and_layer(question)
        with _decided_by_others():
            held = await self.decisions.submit(
                _id(question), question.owners, asker=question.asker, text=text, layer=layer
            )
        return candidate_json(held, question.asker)

    async def undo(self, question: RouteRequest) -> ApprovalJson:
        """``{"confirm": …}``: take an approval back; without the mark it answers what would be written."""
        return await self._approved(question, undo=True)

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
        mine = [each for each in question.owners if question.asker.changes(each)]
        held = await self._lookup.memory(_id(question), mine)
        if not isinstance(held, Fact):
            raise RouteRefused("that is a passage of a talk; only facts can rise", 422)
        with _decided_by_others():
            risen = await self.decisions.promote(held, to, asker=question.asker)
        if isinstance(risen, Fact):
            return Answer({"fact": memory_json(risen, question.now, by_id=True)})
        return Answer({"candidate": candidate_json(risen, question.asker)}, 201)

    async def _approved(
        self, question: RouteRequest, text: str | None = None, layer: Layer | None = None, undo: bool = False
    ) -> ApprovalJson:
        with _decided_by_others():
            done = await self.decisions.approve(
                _id(question),
                question.owners,
                asker=question.asker,
                scope=question.scope,
                text=text,
                layer=layer,
                confirm=question.body.get("confirm"),
                undo=undo,
            )
        return _approval(done, question.asker)

    async def _decide(self, question: RouteRequest, state: CandidateState, why: str = "") -> CandidateJson:
        with _decided_by_others():
            held = await self.decisions.decide(
                _id(question), question.owners, state, why, asker=question.asker, scope=question.scope
            )
        return candidate_json(held, question.asker)


def candidate_json(held: Candidate, asker: Asker) -> CandidateJson:
    """A candidate as JSON tells it to who asks."""
    yours = asker.owns(held.owner)
    told = shallow(held)
    if held.submitted_to and not yours:
        told |= {"mark": "", "evidence": ()}
    return told | {"why": held.why, "yours": yours, "yours_to_approve": asker.approves(held.owner, held.layer)}


def _id(question: RouteRequest) -> str:
    return checked_id(question.names["id"])


@contextmanager
def _decided_by_others() -> Iterator[None]:
    try:
        yield
    except NotAllowed as error:
        raise RouteRefused(str(error), 403) from None


def _wording_and_layer(question: RouteRequest) -> tuple[str | None, Layer | None]:
    """In which words, and for whom, something is approved or submitted; None for those that it has."""
    body = question.body
    text = checked_text(body["text"], "text", required=True, longest=MAX_TEXT_CHARS) if "text" in body else None
    return text, _shared_layer(body["to"]) if "to" in body else None


def _approval(done: Approval, asker: Asker) -> ApprovalJson:
    approval: ApprovalJson = {
        "candidate": candidate_json(done.candidate, asker),
        "files": [{"file": str(each.file), "diff": each.diff} for each in done.files],
        "notes": list(done.notes),
        "done": done.done,
    }
    if not done.done:
        approval["confirm"] = done.confirm
    return approval


def _shared_layer(text: str) -> Layer:
    layer = choice(text, "to", Layer)
    if layer not in (Layer.PROJECT, Layer.ORG):
        raise RouteRefused(f"to is {text[:40]!r}; what is approved is for a project or an org", 422)
    return layer


FEATURE = Approvals
