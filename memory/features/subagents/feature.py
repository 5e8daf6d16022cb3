"""What sub-agents find out, behind the hooks: written down, given to the next one, searched, exported, forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NotRequired, TypedDict

from memory.context.prior_findings import Alike
from memory.conversation import Part, ToolCall
from memory.fact import Passage, Sensitivity
from memory.features.subagents.findings import Findings
from memory.features.subagents.folders import AllowedFolders
from memory.features.subagents.library import ResearchEraser, ResearchLibrary, ResearchSavings
from memory.features.subagents.records import RESEARCH, ResearchRecords
from memory.features.subagents.research_index import ResearchIndex
from memory.features.subagents.research_worker import ResearchWorker
from memory.hooks.feature import Core, Feature, FeatureRoute, Follower
from memory.hooks.route_request import HIDDEN, Fields, RouteRefused, RouteRequest
from memory.research import Delivery, Research, ResearchOutcome, ResearchSource, ResearchUse, owners_of
from memory.scope import Scope, place_of
from memory.services.context_sources import PriorFindings
from memory.services.tiers import in_short
from memory.services.tiers.content import whole

EXCERPT = 400
"""Characters of a report or a passage in a list."""


class ResearchLine(TypedDict):
    """A research in short: which agent asked what (``title``) in which session, what it came to (``line``), when it
    began and ended, what it took, and how many messages and sources there are. ``claimed_parent`` is the session that
    its client says it belongs to."""

    id: str
    handle: str
    title: str
    line: str
    owner: str
    session: str
    parent: str
    claimed_parent: str
    runtime: str
    model: str
    tool: str
    agent: str
    commit: str
    began: datetime
    ended: datetime
    seconds: float
    requests: int
    tokens: int
    written: int
    outcome: ResearchOutcome
    delivery: Delivery
    messages: int
    sources: int


class ResearchMatch(TypedDict):
    """How well a research has to do with a text, and the passage that does best; missing where none was asked for."""

    score: NotRequired[float]
    passage: NotRequired[str]


class SisterResearch(TypedDict):
    """What another project of the organisation shares: its report, and when that ended."""

    handle: str
    project: str
    title: str
    report: str
    ended: datetime
    likeness: float


class ResearchList(TypedDict):
    """Research, and what using it again has saved; what ``sisters`` share where that was asked for, and where that is
    nothing whatever is asked, ``why_no_sisters``."""

    research: list[Annotated[dict[str, Any], Fields("FoundResearch", ResearchLine, ResearchMatch)]]
    saved: ResearchSavings
    sisters: NotRequired[list[SisterResearch]]
    why_no_sisters: NotRequired[str]


class ResearchChanges(TypedDict):
    """The files that have changed since."""

    changed: list[str]


class StaleList(TypedDict):
    """What is stale among so many that were ``looked`` at; ``missed`` files were too many to be looked into."""

    research: list[Annotated[dict[str, Any], Fields("StaleResearch", ResearchLine, ResearchChanges)]]
    looked: int
    missed: int


class TrailMessage(TypedDict):
    """A message of a trail, part by part."""

    role: str
    parts: list[str]


class WholeResearch(TypedDict):
    """The question, the reports, what was read (``sources``), which of it has changed, and where it was used again; the
    trail where it was asked for."""

    question: str
    reports: list[str]
    overview: str
    sources: list[ResearchSource]
    changed: list[str]
    uses: list[ResearchUse]
    trail: NotRequired[list[TrailMessage]]


ResearchJson = Annotated[dict[str, Any], Fields("Research", ResearchLine, WholeResearch)]


class ForgottenResearch(TypedDict):
    """The research that was deleted, and how many messages went with it."""

    forgotten: str
    handle: str
    messages: int


def line(found: Research) -> ResearchLine:
    """A research in short."""
    return {
        "id": found.id,
        "handle": found.handle,
        "title": found.title,
        "line": found.line,
        "owner": found.owner,
        "session": found.session,
        "parent": found.parent,
        "claimed_parent": found.claimed,
        "runtime": found.runtime,
        "model": found.model,
        "tool": found.tool,
        "agent": found.agent,
        "commit": found.commit,
        "began": found.began,
        "ended": found.ended,
        "seconds": round(found.seconds, 3),
        "requests": found.requests,
        "tokens": found.tokens,
        "written": found.written,
        "outcome": found.outcome,
        "delivery": found.delivery,
        "messages": len(found.trail),
        "sources": len(found.sources),
    }


def sister(found: Alike) -> SisterResearch:
    """What of a sister project's research is shared."""
    return {
        "handle": found.research.handle,
        "project": found.sister,
        "title": found.research.title,
        "report": found.research.report,
        "ended": found.research.ended,
        "likeness": round(found.likeness, 3),
    }


def part_text(part: Part) -> str:
    """A part of a trail: of a call also which tool it was."""
    return f"{part.name} {part.arguments}" if isinstance(part, ToolCall) else whole(part)


def shown(passage: Passage) -> str:
    """What of a passage is shown in a list."""
    return HIDDEN if passage.sensitivity is Sensitivity.RESTRICTED else passage.text[:EXCERPT]


YES = ("1", "true", "yes")
SAVINGS = 1000
"""Research of which it is looked at what using it again has saved."""
MAX_NAME_CHARS = 100


class Subagents(Feature):
    """The feature."""

    name = "subagents"
    exported = RESEARCH
    counted = "research"

    def __init__(self, core: Core) -> None:
        settings, journal = core.settings.research, core.journal
        folders = AllowedFolders(settings.folders)
        index = ResearchIndex(journal, core.recall)
        self._enabled = settings.enabled
        self._sessions = core.sessions
        self.findings = Findings(settings, journal, index, folders, core.learner.policies)
        self.library = ResearchLibrary(settings, journal, index, folders, core.now)
        self.worker = ResearchWorker(
            journal,
            core.learner,
            core.errands,
            in_short.tiers,
            folders,
            core.guard,
            core.now,
            core.recall.busy,
        )
        self.eraser = ResearchEraser(journal, self.worker, core.learner, core.features, core.now)
        self._records = ResearchRecords(journal, self.worker)

    def start(self) -> None:
        if self._enabled:
            self.worker.start()

    async def stop(self) -> None:
        await self.worker.stop()

    def followers(self) -> Sequence[Follower]:
        return (self.worker,)

    def port(self, kind: type[Any]) -> Any:
        return self.findings if kind is PriorFindings else None

    async def export(self, owner: str, after: str, limit: int) -> list[dict[str, Any]]:
        return await self._records.records(owner, after, limit)

    async def take(self, record: Mapping[str, Any], scope: Scope, dry: bool) -> str:
        return await self._records.take(record, scope, dry)

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        return (
            FeatureRoute("GET", "research", cls.listed, 10, query=("text", "sisters")),
            FeatureRoute("GET", "research/stale", cls.stale, 0),
            FeatureRoute("GET", "research/{id}", cls.one, 0, query=("trail",)),
            FeatureRoute("DELETE", "research/{id}", cls.delete, 0),
        )

    async def listed(self, question: RouteRequest) -> ResearchList:
        """``?text=…&limit=10``: the research that has to do with a text, best first; without a text the newest. Beside
        it how often it was used again, and what that saved. With ``sisters=yes``, in a ``project``, also what its
        organisation's other projects have found for the text as a question, where the policy there shares it."""
        owners, text = await self._owners(question), question.query.get("text", "")
        if text:
            hits = await self.library.search(text, owners, question.limit)
            found: list[dict[str, Any]] = [
                {**line(hit.research), "score": hit.score, "passage": shown(hit.passage) if hit.passage else ""}
                for hit in hits
            ]
        else:
            found = [{**line(each)} for each in await self.library.newest(owners, question.limit)]
        saved = await self.library.saved(await self.library.newest(owners, SAVINGS))
        told: ResearchList = {"research": found, "saved": saved}
        if question.query.get("sisters") in YES:
            shared = await self.findings.of_sisters(text, question.scope, question.reach, question.now)
            told["sisters"] = [sister(each) for each in shared[: question.limit]]
            if not shared and (why := await self.findings.why_no_sisters(question.scope, question.reach)):
                told["why_no_sisters"] = why
        return told

    async def stale(self, question: RouteRequest) -> StaleList:
        """The research of which files have changed since, or that is too old to be given by itself; ``missed`` counts
        the files that were too many to be looked into at once."""
        stale = await self.library.stale(await self._owners(question))
        found = [{**line(each), "changed": list(changed.files)} for each, changed in stale.found]
        return {"research": found, "looked": stale.looked, "missed": stale.missed}

    async def one(self, question: RouteRequest) -> ResearchJson:
        """``?trail=1``: one research whole, by its handle, its id or the beginning of one; with the messages of its
        trail, every result at full length."""
        found = await self.library.named(question.names["id"][:MAX_NAME_CHARS], await self._owners(question))
        fields: dict[str, Any] = {
            **line(found),
            "question": found.question,
            "reports": list(found.reports),
            "overview": found.overview,
            "sources": found.sources,
            "changed": list((await self.library.changed(found)).files),
            "uses": await self.library.uses(found, question.scope),
        }
        if question.query.get("trail") in YES:
            fields["trail"] = [
                {"role": message.role.value, "parts": [part_text(part) for part in message.parts]}
                for message in await self.library.trail(found)
            ]
        return fields

    async def delete(self, question: RouteRequest) -> ForgottenResearch:
        """Delete a research everywhere: its question, its report, its trail, and where it was given. Of what others are
        given as well only its own person's, or what who asks maintains."""
        found = await self.library.named(question.names["id"][:MAX_NAME_CHARS], await self._owners(question))
        asker, place = question.asker, place_of(found.owner)
        theirs = asker.owns(found.person) and asker.writes(place[0].project if place else None)
        if not (theirs or asker.changes(found.owner)):
            raise RouteRefused(
                "it is shared with others, or you only read there: its person deletes it, or their maintainers", 403
            )
        messages = await self.eraser.forget(found)
        self._sessions.live_sessions.forget()
        return {"forgotten": found.id, "handle": found.handle, "messages": messages}

    async def _owners(self, question: RouteRequest) -> Sequence[str]:
        """The owners of research that are meant: of one project, or of all that is the person's."""
        scope = question.scope
        if scope.project:
            return owners_of(scope)
        mine = {*question.owners, *owners_of(scope)}
        return [owner for owner in await self.library.owners() if owner in mine]


FEATURE = Subagents
