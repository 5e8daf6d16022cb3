"""Give a new sub-agent what others found before for a question like its own.

Looked for once, at its session's first message. Everything takes the scope that the server built: the research of a
project serves all who work there, and, where the organisation's policy says so, is offered in its other projects.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from memory.context.pack import Packed, tokens_of
from memory.context.prior_findings import (
    MOST,
    Alike,
    ChangedFiles,
    SimilarResearch,
    alike,
    compared_text,
    fit,
    hint,
    reuse,
)
from memory.conversation import Conversation
from memory.features.subagents.folders import AllowedFolders
from memory.features.subagents.journal_port import ResearchJournal
from memory.features.subagents.research_index import MENTIONED, ResearchIndex
from memory.learning.crossing import may_cross
from memory.learning.research import opening_question
from memory.policy import Policies, Policy
from memory.ports import BoundedSeconds, bounded_by
from memory.research import QUESTIONS, ResearchOutcome, index_owners, owners_of, worked_in
from memory.scope import OWN_PROJECT, ProjectReach, Scope, place_of
from memory.services.context_sources import Recalled
from memory.session import Arrival, ResearchAnswer, Session
from memory.settings import ResearchSettings
from memory.visibility import also

READ = 32
"""Research that is read for a question."""

WEIGHED = 8
"""Research whose questions are compared in full."""

LEAST_REPORT = 80
"""Characters below which a report tells nothing to others ("Done.")."""

SISTERS_WITHIN = 0.8
"""The part of the deadline within which sister projects are looked into."""

MAX_QUESTION_CHARS = 6000
"""Characters of a question that are compared."""

log = logging.getLogger(__name__)


class Findings:
    """Gives earlier research."""

    def __init__(
        self,
        settings: ResearchSettings,
        journal: ResearchJournal,
        shelves: ResearchIndex,
        folders: AllowedFolders,
        policies: Policies,
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._index = shelves
        self._folders = folders
        self._policies = policies

    @property
    def enabled(self) -> bool:
        """Whether findings are given at all."""
        return self._settings.enabled

    @property
    def deadline(self) -> BoundedSeconds:
        """Seconds that looking for findings may take."""
        return bounded_by("memory.research.deadline_ms", self._settings.deadline_ms / 1000)

    async def earlier(
        self, conversation: Conversation, session: Session, arrival: Arrival
    ) -> tuple[Recalled, ResearchAnswer | None]:
        """What others found before for the question that opens a sub-agent's session, and, where the settings allow
        it and the question is the same, a report of its own project that may stand for a reply. What sister projects
        found comes behind what its own did."""
        began, at = time.perf_counter(), arrival.at
        text, place = opening_question(conversation.messages), await self._place_of_subagent(session)
        own = await self._alike(text, owners_of(place), at, session.id)
        of_sisters: tuple[Alike, ...] = ()
        # Where there is no time for it, or it fails, what is the project's own stands alone.
        try:
            async with asyncio.timeout(self.deadline * SISTERS_WITHIN - (time.perf_counter() - began)):
                of_sisters = await self.of_sisters(text, place, arrival.reach, at)
        except TimeoutError:
            pass
        except Exception:
            if not own:
                raise
            log.warning("what sister projects found is not offered", exc_info=True)
        if not own and not of_sisters:
            return Recalled(note="nothing was asked before"), None
        unsure = "whole" if not own or own[0].sure else self._settings.unsure
        if unsure == "nothing" and not of_sisters:
            return Recalled(note="nothing of which it can be told was asked before"), None
        changed = await self._changed(own) if unsure == "whole" else {}
        hinted = hint(own[0], at) if unsure == "line" else Packed()
        given = (*(own if unsure == "whole" else ()), *of_sisters)
        packed = reuse(given, self._settings.tokens - tokens_of(hinted.text), at, changed)
        steps = {"research": round((time.perf_counter() - began) * 1000, 3)}
        found = Recalled(hinted.text + packed.text, (*hinted.shown, *packed.shown), steps=steps)
        return found if found.text else replace(found, note="has no room"), self._answer(own, changed)

    async def of_sisters(self, text: str, scope: Scope, reach: ProjectReach, at: datetime) -> tuple[Alike, ...]:
        """The research of other projects of a scope's organisation that was surely asked a text, as far as the policy
        there shares it with this one, the person may look into those, and nothing in it is guarded or about people."""
        if self._policies_withhold(scope, reach) or not (sisters := await self._sisters(scope, reach)):
            return ()
        with also(*index_owners(sisters, QUESTIONS)):
            found = [each for each in await self._alike(text, tuple(sisters), at) if each.sure]
        crossing = await asyncio.to_thread(lambda: [each for each in found if may_cross(each.research)])
        return tuple(replace(each, sister=sisters[each.research.owner]) for each in crossing)

    async def why_no_sisters(self, scope: Scope, reach: ProjectReach) -> str:
        """Why nothing of other projects is offered in a place, whatever is asked; empty where something can be."""
        if why := self._policies_withhold(scope, reach):
            return why
        if not (await self._journal.membership(scope.org or "", scope.user or "")).belongs:
            return f"{scope.user} is no member of {scope.org}, whose projects share their research with members alone"
        if not await self._sisters(scope, reach):
            return f"no other project of {scope.org} that shares its research has any"
        return ""

    def _policies_withhold(self, scope: Scope, reach: ProjectReach) -> str:
        """Why settings alone keep the research of other projects from a place; empty where they do not."""
        policy, asking = self._policies.of(scope), scope.project
        if scope.org is None:
            return (
                f"{scope.user or 'nobody'} belongs to no organisation, whose projects could share their research: "
                "`org` in the settings names one, or `org` of an entry of credentials"
            )
        if asking is None:
            return "say in which project: ?project=…, at the command line --project NAME or --here"
        if not reach.includes(asking):
            return f"memory is switched off in {asking}, or the key is not for it"
        if _is_shared(policy, asking):
            return ""
        if not policy.share_research:
            return f"{scope.org} shares no research among its projects (memory.policies.{scope.org}.share_research)"
        return f"{asking} takes no part in sharing research (memory.policies.{scope.org}.private_projects)"

    async def _sisters(self, scope: Scope, reach: ProjectReach) -> dict[str, str]:
        """The other projects whose research is offered to a member in a place, by their owners, with their names."""
        policy, org = self._policies.of(scope), scope.org or ""
        if not (await self._journal.membership(org, scope.user or "")).belongs:
            return {}
        places = {owner: place_of(owner) for owner in await self._journal.projects_with_research(org)}
        named = {owner: place[0].project or "" for owner, place in places.items() if place is not None}
        return {
            owner: project
            for owner, project in named.items()
            if project != scope.project and _is_shared(policy, project) and reach.includes(project)
        }

    async def _alike(self, text: str, owners: Sequence[str], at: datetime, session: str = "") -> tuple[Alike, ...]:
        """The research of some owners whose question is like a text; none of the session that asks."""
        text = text[:MAX_QUESTION_CHARS]
        if not text.strip() or not owners:
            return ()
        fits = await self._index.fits(text, owners)
        oldest = at - timedelta(days=self._settings.days)
        order = sorted(fits, key=lambda each: (-fit(fits[each]), each))[:READ]
        known = [
            each
            for each in await self._journal.research(order, owners)
            if len(each.report) >= LEAST_REPORT and each.outcome is not ResearchOutcome.RUNNING
            if oldest <= each.ended <= at and each.session != session
        ]
        nearest = sorted(known, key=lambda each: (-_question_similarity(fits[each.id]), each.id))[:WEIGHED]
        best = [*nearest, *(each for each in known[:MOST] if each not in nearest)]
        if not best:
            return ()
        questions, titles = [each.question[:MAX_QUESTION_CHARS] for each in best], [each.description for each in best]
        texts = [text, *questions, *titles]
        vectors = await self._index.vectors(texts)
        weight = await self._index.weights(texts, owners)
        asked_now, *compared = (compared_text(each, vectors[place]) for place, each in enumerate(texts))
        candidates = [
            SimilarResearch(
                each, compared[place], compared[len(best) + place] if each.description else None, fit(fits[each.id])
            )
            for place, each in enumerate(best)
        ]
        return alike(asked_now, candidates, weight, self._settings.likeness)

    async def used(self, session: str, at: datetime, given: Recalled, answer: ResearchAnswer | None) -> None:
        """Count that research was used again in a session: given, or answered in the model's place."""
        if answer is not None:
            await self._journal.use_research([answer.research], session, "answered", at, tokens_of(answer.text))
            return
        ids = [shown.memory for shown in given.shown]
        await self._journal.use_research(ids, session, "given", at, tokens_of(given.text))

    async def mentioned(self, session: str, at: datetime, lines: Mapping[str, int]) -> None:
        """Count that a talk was reminded of research, by what may be its lines."""
        for passage in await self._journal.passages(list(lines)):
            if passage.speaker == MENTIONED:
                await self._journal.use_research([passage.session], session, "recalled", at, lines[passage.id])

    async def _place_of_subagent(self, session: Session) -> Scope:
        """Where a sub-agent works: where its parent does, if it does not say itself."""
        if not session.parent or worked_in(session.scope, Scope()) is session.scope:
            return session.scope
        parent = await self._journal.session_by_key(session.parent)
        return worked_in(session.scope, parent.scope if parent is not None else None)

    async def _changed(self, found: Sequence[Alike]) -> dict[str, ChangedFiles]:
        if not self._folders.any:
            return {}
        looked = [await asyncio.to_thread(self._folders.changed, each.research) for each in found]
        return {each.research.id: changed for each, changed in zip(found, looked, strict=True)}

    def _answer(self, found: Sequence[Alike], changed: Mapping[str, ChangedFiles]) -> ResearchAnswer | None:
        least, best = self._settings.answer, next(iter(found), None)
        if least is None or best is None or not best.sure or best.likeness < least:
            return None
        if best.research.outcome not in (ResearchOutcome.FINISHED, ResearchOutcome.UNSEEN):
            return None
        stale = changed.get(best.research.id, ChangedFiles()).files
        if stale:
            return None
        research = best.research
        text = (
            f"[Answered from earlier research {research.handle} of {research.ended:%Y-%m-%d}, without asking the model]"
        )
        return ResearchAnswer(f"{text}\n\n{research.report}", research.id, research.handle, best.likeness)


def _is_shared(policy: Policy, project: str) -> bool:
    """Whether a project takes part in sharing research: one of which nobody has said the name does not."""
    return not project.startswith(OWN_PROJECT) and policy.shares_research(project)


def _question_similarity(parts: Mapping[str, tuple[float, float]]) -> float:
    """How near a question stands to one that was asked: by what both mean, and by their words."""
    coverage, cosine = parts.get("question", (0.0, 0.0))
    return coverage + max(cosine, parts.get("opening", (0.0, 0.0))[1])
