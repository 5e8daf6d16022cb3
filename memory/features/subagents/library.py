"""Look research up for a person or a model: search, name, list, what is stale, and what using it again has saved.

Everything takes the owners that the server built: the research of a project serves all who work there, nobody else.

A person has a research forgotten: with it goes all that was sent out for it or asked the very same.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from memory.context.prior_findings import ChangedFiles, fit
from memory.conversation import Message
from memory.fact import Passage
from memory.features.subagents.folders import AllowedFolders, Look
from memory.features.subagents.journal_port import ResearchJournal
from memory.features.subagents.research_index import ResearchIndex
from memory.features.subagents.research_worker import ResearchWorker
from memory.hooks.feature import OtherFeatures
from memory.language.words import stems
from memory.learning.tombstones import tombstone_of
from memory.research import PREFIX, Research, ResearchOutcome, ResearchUse, named
from memory.scope import Scope, place_of
from memory.services.learn import Learner
from memory.services.person.commands import Ambiguous, NotFound
from memory.session import Session
from memory.settings import ResearchSettings


@dataclass(frozen=True, slots=True)
class Hit:
    """A research that was found, how well it fits, and the passage that fits best, where one does."""

    research: Research
    score: float
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class ResearchSavings:
    """How often research was used again (by how), how many tokens were given, and what that saved: the tokens and
    seconds that an answer without a model call did not take, and those by which a sub-agent that was given findings
    took less than the one before it."""

    hits: Mapping[str, int] = field(default_factory=dict)
    given: int = 0
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class StaleResearch:
    """What is ``found`` to be stale among so many that were ``looked`` at, and how many of their files there was no
    room for (``missed``)."""

    found: tuple[tuple[Research, ChangedFiles], ...]
    looked: int
    missed: int


class ResearchLibrary:
    """Looks research up."""

    def __init__(
        self,
        settings: ResearchSettings,
        journal: ResearchJournal,
        shelves: ResearchIndex,
        folders: AllowedFolders,
        now: Callable[[], datetime],
    ) -> None:
        self._settings = settings
        self._journal = journal
        self._index = shelves
        self._folders = folders
        self._now = now

    async def search(self, text: str, owners: Sequence[str], limit: int = 10) -> list[Hit]:
        """Research that has to do with a text, best first: by its question, its report and what its tools gave back."""
        if not stems(text) or not owners:
            return []
        scores = {id: fit(parts) for id, parts in (await self._index.fits(text, owners)).items()}
        best = await self._index.passages(text, owners)
        for id, (score, _) in best.items():
            scores[id] = max(scores.get(id, 0.0), score)
        order = sorted(scores, key=lambda each: (-scores[each], each))[:limit]
        passages = await self._journal.passages([best[id][1] for id in order if id in best])
        by_session = {passage.session: passage for passage in passages}
        found = await self._journal.research(order, owners)
        return [Hit(each, round(scores[each.id], 4), by_session.get(each.id)) for each in found]

    async def newest(self, owners: Sequence[str], limit: int) -> list[Research]:
        return await self._journal.newest_research(owners, limit)

    async def named(self, handle: str, owners: Sequence[str]) -> Research:
        """The research that a handle, an id or the beginning of one names.

        Raises:
            NotFound: when these owners have none of that name.
            Ambiguous: when they have several.
        """
        handle_parts = named(handle) or named(PREFIX + handle.strip())
        ids = await self._journal.research_named(handle_parts.beginning, owners) if handle_parts else []
        if not ids:
            raise NotFound(f"there is no research {handle[:60]!r}")
        if len(ids) > 1:
            raise Ambiguous(handle[:60], ids[:5])
        return (await self._journal.research(ids, owners))[0]

    async def owners(self) -> list[str]:
        """Every owner that has research."""
        return await self._journal.research_owners()

    async def trail(self, research: Research) -> list[Message]:
        """All that a sub-agent read and said, in order, every result at full length."""
        return await self._journal.trail(research)

    async def changed(self, research: Research) -> ChangedFiles:
        """Which of its files hold something else now, as far as may be looked."""
        return await asyncio.to_thread(self._folders.changed, research)

    async def stale(self, owners: Sequence[str], limit: int = 1000) -> StaleResearch:
        """The research of which files have changed since, or that is older than the settings' days, among the newest.
        No more files are looked into than one call has room for, the newest research's first."""
        oldest = self._now() - timedelta(days=self._settings.days)
        newest, look = await self._journal.newest_research(owners, limit), Look()

        def changes() -> list[ChangedFiles]:
            return [self._folders.changed(each, look) for each in newest]

        looked = list(zip(newest, await asyncio.to_thread(changes), strict=True))
        found = [(each, changed) for each, changed in looked if changed.files or each.ended < oldest]
        return StaleResearch(tuple(found), len(newest), look.missed)

    async def uses(self, research: Research, scope: Scope) -> list[ResearchUse]:
        """How a research was used again, as whoever asks from a scope may know it: the sessions of other people's in
        other projects are not named."""
        uses = await self._journal.uses_of_research([research.id])
        sessions = await self._journal.sessions_by_id(sorted({use.session for use in uses}))
        place = place_of(research.owner)
        project = place[0].project if place is not None else None

        def is_named(session: Session | None) -> bool:
            if session is None or session.scope.org != scope.org:
                return False
            ours = project is not None and session.scope.project == project
            return session.scope.user == scope.user or (ours and scope.org is not None)

        return [use if is_named(sessions.get(use.session)) else replace(use, session="") for use in uses]

    async def saved(self, research: Sequence[Research]) -> ResearchSavings:
        """What using research again has saved."""
        by_id = {each.id: each for each in research}
        uses = await self._journal.uses_of_research([each.id for each in research])
        hits = Counter(use.how for use in uses)
        tokens, seconds = 0, 0.0
        for use in uses:
            if use.how == "recalled":
                # What a talk was reminded of is no work that somebody else did not do.
                continue
            cost = (0, 0.0)
            if use.how == "given":
                after = await self._journal.research_of_session(use.session)
                if after is None or after.outcome is not ResearchOutcome.FINISHED:
                    continue
                cost = _cost(after)
            was = _cost(by_id[use.research])
            tokens += max(was[0] - cost[0], 0)
            seconds += max(was[1] - cost[1], 0.0)
        return ResearchSavings(dict(hits), sum(use.tokens for use in uses), tokens, seconds)


def _cost(research: Research) -> tuple[int, float]:
    return research.tokens + research.written, research.seconds


class ResearchEraser:
    """Forgets."""

    def __init__(
        self,
        journal: ResearchJournal,
        worker: ResearchWorker,
        learner: Learner,
        features: OtherFeatures | None,
        now: Callable[[], datetime],
    ) -> None:
        self._journal = journal
        self._worker = worker
        self._learner = learner
        self._features = features
        self._now = now

    async def forget(self, research: Research) -> int:
        """Delete a research everywhere, with those that it sent out itself and those that were asked the very same, and
        bury their texts; how many messages went with it."""
        async with self._worker.at_rest(), self._learner.resting():
            every = await self._research_with_reply(research)
            key, buried = self._journal.key(), set[bytes]()
            for each in every:
                texts = [each.question, *each.reports]
                texts += [piece.text for piece in await self._journal.research_pieces(each.id)]
                buried |= {tombstone_of(key, each.owner, text) for text in texts if text}
            gone = await self._journal.forget_research(every, self._now(), sorted(buried))
        if self._features is not None:
            going = await self._features.forget(sorted({each.owner for each in every}))
            await going.then(gone)
        await self._journal.forget_aside()
        async with self._learner.resting():
            await self._learner.drop_from_index(gone.ids)
        return gone.messages

    async def _research_with_reply(self, research: Research) -> list[Research]:
        """A research and what goes with it: where it stood for a reply, that reply is a report of its own."""
        found = {research.id: research}
        answered = [use.session for use in await self._journal.uses_of_research([research.id]) if use.how == "answered"]
        again = [await self._journal.research_of_session(session) for session in answered]
        alike = [*await self._journal.same_question(research), *filter(None, again)]
        fresh = [research, *(each for each in alike if each.person == research.person)]
        while fresh:
            found |= {each.id: each for each in fresh}
            nested = [each for of in fresh if of.session for each in await self._journal.research_of_parent(of.session)]
            fresh = [each for each in nested if each.id not in found and each.person == research.person]
        return list(found.values())
