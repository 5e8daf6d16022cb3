"""What is learnt in a checkout knows its code, behind the hooks: where it was learnt is noted, and what it cites looked
up before it is shown."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, TypedDict

from memory.checkout import BranchStage, Checkout, LearnedAt
from memory.fact import Fact, Origin, Passage
from memory.features.checkouts import marking
from memory.features.checkouts.awaited import is_awaited
from memory.features.checkouts.checking import CitationVerdict
from memory.features.checkouts.declared import against
from memory.features.checkouts.gone import GoneCode, of_a_project
from memory.features.checkouts.looking import CheckoutView
from memory.features.checkouts.own_files import Changes, OwnFiles
from memory.features.checkouts.rows import LEARNT, CheckoutJournal, CheckoutRecord, Rows, learnt_of, record_of
from memory.features.checkouts.sharing import Sharing
from memory.features.checkouts.sight import SHORTEST_WAIT_SECONDS, CheckoutWatcher, Clock, SeenCheckout
from memory.features.checkouts.tracked import NAME
from memory.features.checkouts.upkeep import MOST_LOOKED, CheckoutUpkeep
from memory.hooks.feature import Core, Feature, FeatureErasure, FeatureLesson, FeatureQuestion, FeatureRoute, MemoryMark
from memory.hooks.route_request import Fields, MemoryJson, RouteRequest, memory
from memory.lru import LruDict
from memory.ports import Forgotten, Journaled
from memory.scope import Scope, owned_by
from memory.session import Arrival, Session

MOST_SESSIONS = 4096
MOST_REMEMBERED = 64
"""Requests of a session of which it is known in what state of the checkout they came."""
MOST_COMPARED = 1000
"""Characters of a memory that are held against the manifests."""
STAGE_SECONDS = 0.05
"""A request waits at least so long to know which memories hold on a branch only, and then which one is checked out:
well below what a feature has beyond its time before it is given up."""


class Branch(TypedDict):
    """A branch on which facts were learnt, how many, and what has become of it; ``staged`` says that they hold on it
    only."""

    repository: str
    branch: str
    facts: int
    staged: bool
    stage: BranchStage
    since: datetime | None


class BranchesList(TypedDict):
    """The branches on which something was learnt."""

    branches: list[Branch]


class LearntThere(TypedDict):
    """Where in a repository a fact was learnt, and what has become of the branch."""

    checkout: CheckoutRecord
    stage: BranchStage


class LearntList(TypedDict):
    """The facts that were learnt on a branch, the newest first."""

    facts: list[Annotated[dict[str, Any], Fields("LearntMemory", MemoryJson, LearntThere)]]


class GoneMark(TypedDict):
    """What of the code that a memory cites is gone, in words."""

    mark: str


class GoneList(TypedDict):
    """What cites code that is gone; how much there is, of facts and of turns."""

    gone: list[Annotated[dict[str, Any], Fields("GoneMemory", MemoryJson, GoneMark)]]
    count: int
    facts: int
    turns: int


class TrackedText(TypedDict):
    """A file for the repository, the number of its rules, and how many of its lines are others': ``left`` with ids that
    are not known here, ``differing`` with other words than were approved here."""

    name: str
    text: str
    rules: int
    left: int
    differing: int


class ProposedLine(TypedDict):
    """A line, and the name of who committed it."""

    text: str
    by: str


class TrackedProposals(TypedDict):
    """What became of a file's lines: those that are proposed now, and how many are rules already (``known``), were
    proposed ``before``, were forgotten, and are still to be proposed (``more``)."""

    proposed: list[ProposedLine]
    known: int
    before: int
    forgotten: int
    more: int


@dataclass(slots=True)
class _Worked:
    """Where a session works, and in what state of it its requests came."""

    root: str
    came: deque[tuple[datetime, Checkout]] = field(default_factory=lambda: deque(maxlen=MOST_REMEMBERED))

    def at(self, moment: datetime) -> Checkout | None:
        return next((checkout for came, checkout in reversed(self.came) if came <= moment), None)


class CheckoutsFeature(Feature):
    """The feature."""

    name = "checkouts"
    exported = LEARNT
    counted = "checkouts"

    def __init__(self, core: Core, clock: Clock = time.perf_counter) -> None:
        self._clock = clock
        self._journal: CheckoutJournal = core.journal
        self._settings = core.settings.checkouts
        self._now = core.now
        self.rows = Rows(core.journal)
        self.sight = CheckoutWatcher(self._settings.folders, clock)
        self.own_files = OwnFiles(core.journal, self.sight)
        self.sharing = Sharing(core.journal, self.sight, core.new_id)
        self.gone_code = GoneCode(self._journal, self.sight, clock, core.now)
        self.upkeep = CheckoutUpkeep(self._journal, self.sight, self.rows, core.now, core.changed)
        self._sessions: LruDict[str, _Worked] = LruDict(MOST_SESSIONS)
        self._unknown: dict[str, tuple[Fact, str]] = {}
        self._counts = {"marked": 0, "late": 0, "not_at_hand": 0, "held": 0}

    async def stop(self) -> None:
        await self.rows.stop()
        await self.gone_code.stop()

    async def arrived(self, session: Session, arrival: Arrival) -> None:
        root = arrival.checkout
        if root is None or not self._settings.enabled:
            return
        worked = self._sessions.get(session.id)
        if worked is None or worked.root != root:
            worked = _Worked(root)
        self._sessions.put(session.id, worked)
        view = await self.sight.look(root, arrival.at)
        if view is not None:
            worked.came.append((arrival.at, view.checkout))
            await self.upkeep.prime(view, arrival.scope)
            await self.upkeep.follow(view)
            await self._look_into_unknown(view)

    async def marks(
        self, session: Session, arrival: Arrival, memories: Sequence[Fact | Passage], seconds: float
    ) -> Mapping[str, MemoryMark]:
        if not self._settings.enabled:
            return {}
        hidden = dict.fromkeys(marking.crowding(memories), MemoryMark(weight=0.0))
        memories = [each for each in memories if each.id not in hidden]
        # Where a memory must not be shown is waited for; what is said of its code has the time that was given.
        begun = self._clock()
        learnt = await self.rows.of([each.id for each in memories], max(STAGE_SECONDS, seconds))
        until = min(self._clock(), begun + STAGE_SECONDS) + seconds
        held = [each.id for each in memories if each.id not in learnt and _may_be_staged(each)]
        hidden |= dict.fromkeys(held, MemoryMark(weight=0.0))
        self._counts["held"] += len(held)
        looked = [each for each in memories if each.id in learnt]
        self._counts["late"] += len(memories) - len(looked) - len(held)
        memories = looked
        rows = [row for row in learnt.values() if row is not None]
        root = arrival.checkout
        if root is None:
            anywhere = {row.memory: marking.staged(row, None, frozenset(), arrival.at) for row in rows}
            return {id: mark for id, mark in anywhere.items() if mark.words} | hidden
        cited = [row for row in rows if row.cites]
        on_a_branch = any(row.checkout.staged and row.stage is not BranchStage.MERGED for row in rows)
        place_until = begun + max(STAGE_SECONDS, seconds) if on_a_branch else until
        seen = await self.sight.read(root, cited, until, arrival.at, place_until)
        until = max(until, self._clock() + seconds) if on_a_branch else until
        verdicts = seen.verdicts or {}
        unmarked = "late" if seconds > SHORTEST_WAIT_SECONDS else "not_at_hand"
        self._counts[unmarked] += sum(row.memory not in verdicts for row in cited)
        marked = dict(hidden)
        own = frozenset(session.scope.owners())
        for each in memories:
            row, is_own = learnt[each.id], each.owner in own
            if self._clock() < until:
                mark = self._mark(each, row, seen, verdicts.get(each.id, ()), arrival.at, is_own)
            else:  # where it holds is at hand; all else it goes without
                mark = _branch_mark(row, seen, arrival.at)
                self._counts["late"] += each.id in verdicts
            if mark.words or mark.weight != 1.0:
                marked[each.id] = mark
        self._counts["marked"] += len(marked) - len(hidden)
        return marked

    def _mark(
        self,
        held: Fact | Passage,
        row: LearnedAt | None,
        seen: SeenCheckout,
        verdicts: Sequence[CitationVerdict],
        at: datetime,
        is_own: bool,
    ) -> MemoryMark:
        """How one memory is shown. What is not the session's own, but shared with it, is of another repository."""
        stage = _branch_mark(row, seen, at)
        view = seen.last
        if stage.weight <= 0.0 or view is None or not is_own or not of_a_project(held):
            return stage
        if row is None and isinstance(held, Fact) and len(self._unknown) < MOST_LOOKED:
            self._unknown[held.id] = held, view.root
        learnt_at, more = (row.checkout.commit, is_awaited(row.cites)) if row is not None else ("", False)
        of_code = marking.checked(verdicts, learnt_at, view.checkout.commit, more=more)
        other = against(held.text[:MOST_COMPARED], view.built)
        return marking.joined(stage, of_code, MemoryMark(f"the checkout says otherwise: {other}" if other else ""))

    async def after_exchange(self, exchange: Journaled) -> FeatureLesson:
        worked = self._sessions.get(exchange.session.id)
        if worked is None or not self._settings.enabled:
            return FeatureLesson()
        view = await self.sight.look(worked.root, self._now())
        if view is None:
            return FeatureLesson()

        own = Changes()
        if self._settings.conventions:
            own = await self.own_files.look(view, exchange.session.scope, self._now())

        async def then() -> None:
            await self.own_files.written(own)
            self.rows.written()
            if own.seen:
                self.sight.prime(own.seen, view)
            if await self.upkeep.look_into_new(view):
                await self.upkeep.follow(view, anew=True)
            await self.upkeep.look_for_awaited(view)

        return FeatureLesson(own.facts, own.known, then=then, checkout=worked.at(exchange.at) or view.checkout)

    async def confirmed(self, fact: Fact) -> None:
        if self._settings.enabled:
            await self.gone_code.confirmed(fact, self.rows.written)

    async def forget(self, owners: Sequence[str]) -> FeatureErasure:
        async def then(gone: Forgotten) -> None:
            self.rows.written()
            self.own_files.forget()
            self.upkeep.forget()
            self.gone_code.forget()
            for id in gone.ids:
                self._unknown.pop(id, None)

        return FeatureErasure(then=then)

    async def export(self, owner: str, after: str, limit: int) -> list[dict[str, Any]]:
        return [record_of(each) for each in await self._journal.learnt_after(owner, after, limit)]

    async def take(self, record: Mapping[str, Any], scope: Scope, dry: bool) -> str:
        learnt = learnt_of(record)
        mine = owned_by(learnt.owner, scope)
        owner = mine[0].owner(mine[1]) if mine is not None else None
        if owner is None or not await self._journal.memories([learnt.memory], [owner]):
            return "forgotten"
        if (await self._journal.learnt([learnt.memory])).get(learnt.memory) is not None:
            return "known"
        return "taken" if dry or await self._journal.learn_where(replace(learnt, owner=owner)) else "known"

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        return (
            FeatureRoute("GET", "branches", cls.branches, limit=50),
            FeatureRoute("GET", "learnt-on/{branch:.+}", cls.on_branch, limit=100),
            FeatureRoute("GET", "gone", cls.gone, limit=20),
            FeatureRoute("POST", "tracked/text", cls.tracked_text, fields={"text": str}),
            FeatureRoute("POST", "tracked/proposals", cls.tracked_proposals, fields={"folder": str, "dry": bool}),
        )

    async def branches(self, question: RouteRequest) -> BranchesList:
        """``?limit=50``: the branches on which something was learnt."""
        found = await self._journal.counted(question.owners, question.limit)
        return {
            "branches": [
                {
                    "repository": each.repository,
                    "branch": each.branch,
                    "facts": each.facts,
                    "staged": each.staged,
                    "stage": each.stage,
                    "since": each.since,
                }
                for each in found
            ]
        }

    async def on_branch(self, question: RouteRequest) -> LearntList:
        """``?limit=100``: the facts that were learnt on a branch, the newest first, with what they cite."""
        ids = await self._journal.learnt_on(question.names["branch"], question.owners, question.limit)
        facts = await self._journal.facts(ids, question.owners)
        learnt = await self._journal.learnt([fact.id for fact in facts])
        return {
            "facts": [
                memory(fact, question.now)
                | {"checkout": record_of(learnt[fact.id]), "stage": learnt[fact.id].stage.value}
                for fact in facts
                if fact.id in learnt
            ]
        }

    async def gone(self, question: RouteRequest) -> GoneList:
        """``?limit=20``: facts, and behind them turns, that cite what is not in the checkout any more, for a person to
        keep, correct or forget; the newest first. ``count`` says how many there are of both."""
        found = await self.gone_code.of(question.owners, question.now)
        every: list[Fact | Passage] = [*found.facts, *found.passages]
        told = [memory(each, question.now) | {"mark": found.words[each.id]} for each in every[: question.limit]]
        return {"gone": told, "count": len(every), "facts": len(found.facts), "turns": len(found.passages)}

    async def asks(self, owners: Sequence[str]) -> Sequence[FeatureQuestion]:
        return await self.gone_code.asks(owners) if self._settings.enabled else ()

    async def tracked_text(self, question: RouteRequest) -> TrackedText:
        """What is approved for the project, as Markdown for its repository; ``text`` is what the file says now, of
        which others' lines stay."""
        told, rules = await self.sharing.given_out(question.scope, question.body.get("text", ""))
        return {"name": NAME, "text": told.text, "rules": rules, "left": told.left, "differing": told.differing}

    async def tracked_proposals(self, question: RouteRequest) -> TrackedProposals:
        """Propose what the file in a ``folder`` of a checkout on this machine says, by the names of who committed its
        lines: as candidates, and no more. With ``dry`` only say so."""
        body = question.body
        taken = await self.sharing.take(question.scope, body.get("folder", ""), question.now, body.get("dry", False))
        told: list[ProposedLine] = [{"text": text, "by": by} for text, by in taken.proposed]
        return {
            "proposed": told,
            "known": taken.known,
            "before": taken.before,
            "forgotten": taken.forgotten,
            "more": taken.more,
        }

    def metrics(self) -> Mapping[str, float]:
        return {f"{name}_total": float(count) for name, count in self._counts.items()}

    async def _look_into_unknown(self, view: CheckoutView) -> None:
        """Look into what was shown of this checkout and learnt nowhere."""
        mine = [fact for fact, root in self._unknown.values() if root == view.root]
        if not mine or not self._journal.works:
            return
        for fact in mine:
            self._unknown.pop(fact.id, None)
        await self.upkeep.look_into(mine, view)


def _branch_mark(row: LearnedAt | None, seen: SeenCheckout, at: datetime) -> MemoryMark:
    here, own = (seen.fresh.checkout, seen.fresh.own) if seen.fresh is not None else (None, frozenset[str]())
    return marking.staged(row, here, own, at) if row is not None else MemoryMark()


def _may_be_staged(held: Fact | Passage) -> bool:
    """Whether a memory may hold on a branch only: a passage, or what is a project's and was not read from its main
    branch. Its kind does not tell, which may have changed since it was learnt."""
    return isinstance(held, Passage) or (of_a_project(held) and held.origin is not Origin.FILE)


FEATURE = CheckoutsFeature
