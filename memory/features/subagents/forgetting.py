"""A person has a research forgotten: with it goes all that was sent out for it or asked the very same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from memory.features.subagents.journal_port import ResearchJournal
from memory.features.subagents.research_worker import ResearchWorker
from memory.hooks.feature import OtherFeatures
from memory.learning.tombstones import tombstone_of
from memory.research import Research
from memory.services.learn import Learner


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
            every = await self._with(research)
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

    async def _with(self, research: Research) -> list[Research]:
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
