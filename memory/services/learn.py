"""Learn from the journal: a worker reads the exchanges behind its cursor and writes what they teach.

One exchange is one transaction together with the cursor, so that none teaches twice and none is left out, whenever
the process is killed. What is extracted and how it is reconciled with what is known is decided in
:mod:`memory.learning`; nothing here runs while a request waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from memory.checkout import Checkout
from memory.conversation import Role
from memory.fact import Fact, FactDraft, FactKind, Passage
from memory.hooks.chain import Features
from memory.learning.branch_staging import apart, holding_on_branch, tells_of_code, touches
from memory.learning.lesson_result import Learned, PassageDraft, Withdrawal
from memory.learning.outcome import outcome, repetition_uses, settled, standing_for, withdrawn
from memory.learning.reconcile import Decision, reconcile
from memory.learning.tombstones import dismissal_of, tombstone_of
from memory.learning.unsure import BORNE_OUT, is_draft_put_away, weighed
from memory.policy import Policies
from memory.ports import Guard, Journal, Journaled, Lesson, MemoryUse
from memory.scope import Layer, Scope
from memory.services.lessons import rules
from memory.services.lessons.indexing import IndexWorker, lesson_of
from memory.services.lessons.permitted import permitted, permitted_facts
from memory.services.lessons.quotas import Quotas
from memory.services.lessons.reinforcement import Reinforcer, UseListener, ignore_use
from memory.services.manual_facts import met, the_same, vouched
from memory.services.page.files import PageFiles
from memory.services.recall import Recall
from memory.services.similar_facts import SimilarFactSearch
from memory.services.worker import KNOWN_SECONDS, JournalFollower, Pace
from memory.settings import LearningSettings

if TYPE_CHECKING:
    from memory.understanding.encoder import Relation

P = ParamSpec("P")
T = TypeVar("T")

BATCH = 32
"""Exchanges read at once."""

FEW = 12
"""Passages whose words are read at once without a thread: a millisecond at most."""

LITTLE = 1500
"""Characters that are read here and now: in a millisecond, or in ten where somebody tells something, which the encoder
reads. Requests beside it waited as long for it in a thread."""


class Learner(JournalFollower):
    """Learns. ``similar`` finds the known facts that something new is held against."""

    def __init__(
        self,
        settings: LearningSettings,
        journal: Journal,
        recall: Recall,
        pages: PageFiles,
        guard: Guard,
        features: Features,
        new_id: Callable[[], str],
        now: Callable[[], datetime],
        busy: Callable[[], bool] = lambda: False,
        heard: UseListener = ignore_use,
        device: str = "",
        quotas: Quotas | None = None,
        policies: Policies | None = None,
    ) -> None:
        self._quotas = quotas
        self.policies = policies or Policies({})
        super().__init__(guard, "learning", busy, KNOWN_SECONDS, recall.crowded)
        self._reinforcing = Reinforcer(journal, heard)
        self._device = device
        self._settings = settings
        self._journal = journal
        self._recall = recall
        self.similar = SimilarFactSearch(journal, recall)
        self._pages = pages
        self._new_id = new_id
        self._now = now
        self._unindexed: dict[str, Fact] = {}
        self._features = features
        self._rest_requests = 0

    async def catch_up(self) -> None:
        """Learn from everything that is in the journal by now, and bring the index and the pages up to it. What comes
        meanwhile is the worker's: where requests never cease, who waits for this would wait for ever. Nothing is done
        where another process does the work."""
        if not self._journal.works:
            return
        await self._learn_until(None)
        await self._pages.refresh()

    async def catch_up_for(self, seconds: float) -> int:
        """Learn for so long from what is in the journal by now, for who cannot wait for all of it; how many exchanges
        are left to the worker. The pages are left to it, too."""
        if not self._journal.works:
            return 0
        # Until then nobody learns from more than one exchange at a time: a batch would be waited for as a whole.
        self._rest_requests += 1
        try:
            return await self._learn_until(time.monotonic() + seconds)
        finally:
            self._rest_requests -= 1

    async def _learn_until(self, until: float | None) -> int:
        newest = await self._journal.newest_exchange()
        while await self._batch(Pace.AT_ONCE, until) and self._tries.reached < newest:
            if until is not None and time.monotonic() >= until:
                return newest - self._tries.reached
        return 0

    async def fill_index(self) -> None:
        """Bring the index up to what is known. To be called while this is :meth:`resting`."""
        if self._journal.works:
            await self._indexing().catch_up()

    async def drop_from_index(self, ids: Sequence[str]) -> None:
        """Have the index let go of memories that the journal has let go of: of these, before all that waits for it.
        To be called while this is :meth:`resting`.

        Raises:
            StoreError: when it cannot do so now; the worker tries again.
        """
        if self._journal.works:
            self._worker.wake()
            await self._recall.index.delete(ids)

    async def remember(self, facts: Sequence[Fact], passages: Sequence[Passage] = ()) -> None:
        """Write facts and passages that no exchange taught, and make them findable; not what their owner's policy
        does not let be kept."""
        facts = [each for each in facts if permitted_facts([each], self.policies.of_owner(each.owner))]
        passages = [each for each in passages if not self.policies.of_owner(each.owner).forbids(each.sensitivity)]
        await self.write(await _off_loop_if_large([*facts, *passages], lesson_of, 0, facts, passages))

    async def record_statement(self, stated: Fact, now: datetime, *, kind: FactKind | None = None) -> Fact:
        """Write down what a person says outside any session, and then what it means for what is known (see
        :func:`memory.services.manual_facts.met`); the fact as it stands, or the one that is known letter for letter,
        which is the person's own word from now on, of that ``kind`` where one is told. Nothing is learned, forgotten or
        pinned in between.

        Raises:
            NotKept: when its owner's policy does not let it be kept.
        """
        self.policies.of_owner(stated.owner).check(stated.sensitivity, stated.category)
        async with self.resting():
            same = await self._journal.find_facts([stated.owner], stated.text, 20)
            if (known := the_same(stated.text, same)) is not None:
                rivals = await self._journal.facts(known.contradicts, [known.owner])
                again = vouched(known, stated, kind)
                changes = settled(again, again.origin, {each.id: each for each in rivals}, now) or [again]
                await self._journal.learn(lesson_of(0, changes, (), frozenset(fact.id for fact in changes)))
            else:
                changes = await self._write_stated_fact(stated, now)
            self._pages.changed(frozenset(fact.owner for fact in changes))
            await self._indexing().catch_up()
        await self._pages.refresh()
        return changes[0]

    async def _write_stated_fact(self, stated: Fact, now: datetime) -> list[Fact]:
        """Write a new fact, and what it changes; all of them as they stand, the new one first."""
        # Written first: whatever fails behind it, what the person said is kept.
        await self._journal.learn(await _off_loop_if_large([stated], lesson_of, 0, [stated], ()))
        near = [each for each in await self.similar(stated.owner, stated.text) if each[0].id != stated.id]
        decision = met(stated, near, now)
        if len(decision) > 1:
            await self._journal.learn(lesson_of(0, decision, (), frozenset(fact.id for fact in decision)))
        return decision

    async def write(self, lesson: Lesson) -> None:
        """Write a lesson that no exchange taught, and make it findable."""

        async def same() -> Lesson:
            return lesson

        await self.revise(same)

    async def revise(self, drawn: Callable[[], Awaitable[Lesson]]) -> Lesson:
        """Write the lesson that is ``drawn`` from what is known at this moment, and make it findable; the lesson.
        Nothing is learned, forgotten or pinned between the reading and the writing."""
        async with self.resting():
            lesson = await drawn()
            await self._journal.learn(lesson)
            self._pages.changed(frozenset(fact.owner for fact in lesson.facts))
            await self._indexing().catch_up()
        await self._pages.refresh()
        return lesson

    @contextlib.asynccontextmanager
    async def resting(self) -> AsyncIterator[None]:
        """While this is held nothing is learned and the index is left alone. Who asks for it comes after the exchange
        that is being learned from, not after all that wait."""
        self._rest_requests += 1
        try:
            await self._one_at_a_time.acquire()
        finally:
            self._rest_requests -= 1
        try:
            yield
        finally:
            self._one_at_a_time.release()

    async def _settle(self, done: bool) -> None:
        await self._guard(self._pages.refresh(), default=None, timeout_seconds=60, operation="making pages")

    async def _batch(self, pace: Pace, until: float | None = None) -> bool:
        """Learn from the next exchanges, from only one where requests are spared, and until a moment at most; whether
        there were any."""
        patient = pace is Pace.SPARING
        async with self._one_at_a_time:
            limit = 1 if patient and self._busy() else BATCH
            waiting = await self._journal.unlearned(limit) if self._settings.enabled else []
            for journaled in waiting:
                await self._learn(journaled)
                self._sparing.paid(1)
                late = until is not None and time.monotonic() >= until
                if late or self._rest_requests or (patient and self._busy()):
                    break
            if not waiting:
                self._sparing.paid()
            indexed = await self._indexing().catch_up()
            self._unindexed.clear()
            return bool(waiting) or indexed > 0

    async def _learn(self, journaled: Journaled) -> None:
        async with self._tries.one(journaled.number) as again:
            if again and not (self._quotas and await self._quotas.full(journaled.session.scope)):
                await self._teach(journaled)
            else:
                await self._journal.learn(Lesson(journaled.number))

    async def _teach(self, journaled: Journaled) -> None:
        noticed = await self._features.after_exchange(journaled)
        journaled, known_sources = await self._without_known(journaled)
        policy = self.policies.of(journaled.session.scope)
        learned = await self._learned(journaled)
        if not policy.keeps_all:
            learned = await asyncio.to_thread(permitted, learned, policy)
            noticed = replace(noticed, facts=permitted_facts(noticed.facts, policy))
        # A conversation that is played again says when it took place; that is its "now".
        at = next((piece.at for piece in learned.pieces), journaled.at)
        here = noticed.checkout
        facts, known, uses = await self._facts_to_write(journaled, learned, at, here)
        passages = await self._passages_to_write(journaled, learned, known_sources)
        looked = await self._reinforcing.look(journaled)
        changed = known | noticed.known
        every = [
            fact if fact.id in changed else replace(fact, device=self._device) for fact in (*facts, *noticed.facts)
        ]
        lesson = await _off_loop_if_large(
            passages, lesson_of, journaled.number, every, passages, changed, (*looked.uses, *uses)
        )
        learnt = holding_on_branch(every, passages, changed, here) if here is not None else {}
        await self._journal.learn(replace(lesson, observed=noticed.observed, checkout=here, learnt=learnt))
        await noticed.then()
        self._reinforcing.notify(looked)
        self._unindexed.update((fact.id, fact) for fact in facts)
        if facts or uses:
            self._pages.changed(frozenset(owner for layer in Layer if (owner := journaled.session.scope.owner(layer))))

    async def _learned(self, journaled: Journaled) -> Learned:
        """What is read in an exchange: of a little talk here, else in a thread, as streams are relayed meanwhile."""
        new = [*[journaled.messages[index] for index in journaled.fresh], *filter(None, [journaled.reply])]
        size = sum([len(message.text) + sum([len(each.text) for each in message.results]) for message in new])
        if size <= LITTLE:
            await rules.at_hand()
            return rules.learned(journaled, assistant=self._settings.assistant)
        return await asyncio.to_thread(rules.learned, journaled, assistant=self._settings.assistant)

    async def _without_known(self, journaled: Journaled) -> tuple[Journaled, frozenset[bytes]]:
        """The exchange without the old messages that its owner was taught already, and which of the others were: the
        same history under another session's name teaches nothing, and neither does the reply to a retry. What was
        said last is always read for facts, since saying a thing again confirms it."""
        owner = _owner_of_layer(journaled.session.scope, Layer.USER_PROJECT)
        if owner is None:
            return journaled, frozenset()
        messages = journaled.messages
        sources = [messages[i].digest for i in journaled.fresh]
        sources += [journaled.reply.digest] if journaled.reply else []
        known = await self._journal.taught(owner, sources)
        last_reply = max((i for i, message in enumerate(messages) if message.role is Role.ASSISTANT), default=-1)
        fresh = tuple(i for i in journaled.fresh if i > last_reply or messages[i].digest not in known)
        return replace(journaled, fresh=fresh), known

    async def _facts_to_write(
        self, journaled: Journaled, learned: Learned, at: datetime, here: Checkout | None
    ) -> tuple[list[Fact], frozenset[str], list[MemoryUse]]:
        """The facts to write, new ones and known ones that have changed, and the ids of the latter; what was said
        again."""
        written: dict[str, Fact] = {}
        known_before: set[str] = set()
        again: list[MemoryUse] = []
        for each in learned.facts:
            owner = _owner_of_layer(journaled.session.scope, each.draft.layer)
            if owner is None or await self._is_forgotten(owner, each.draft.text):
                continue
            unindexed = {**await self._just_written(owner), **written}
            known = await self.similar(owner, each.draft.text, unindexed.values())
            facts = {fact.id: fact for fact, _, _ in known}
            known_before.update(facts.keys() - written.keys())
            related = await rules.related(each.draft, known)
            weighing = weighed(each, list(facts.values()), related, journaled, owner, self._new_id)
            again += weighing.uses
            if weighing.taught is None:
                if weighing.facts and not await self._is_dismissed(owner, each.draft):
                    written.update((fact.id, fact) for fact in weighing.facts)
                continue
            written.update((fact.id, fact) for fact in weighing.facts)
            draft = weighing.taught.draft
            decision = await self._reconcile_draft(draft, known, at, here, related)
            again += repetition_uses(decision, draft, facts, journaled)
            id = self._new_id()
            for fact in outcome(decision, weighing.taught, facts, journaled, owner, id):
                written[fact.id] = standing_for(fact, weighing.waited) if fact.id == id else fact
        for withdrawal in learned.withdrawals:
            for fact in await self._withdrawn_facts(journaled.session.scope, withdrawal, written, at, here):
                known_before.update({fact.id} - written.keys())
                written[fact.id] = fact
        return list(written.values()), frozenset(known_before), again

    async def _withdrawn_facts(
        self,
        scope: Scope,
        withdrawal: Withdrawal,
        written: Mapping[str, Fact],
        at: datetime,
        here: Checkout | None,
    ) -> list[Fact]:
        """What is not so any more since somebody took it back, and what was at odds with it; as they are then. What
        holds on another branch only is not taken back here."""
        known: dict[str, Fact] = {}
        for owner in {_owner_of_layer(scope, layer) or "" for layer in (Layer.USER_PROJECT, Layer.USER)} - {""}:
            unindexed = {**await self._just_written(owner), **written}
            known |= {
                fact.id: fact
                for fact, *_ in await self.similar(owner, withdrawal.topic or withdrawal.text, unindexed.values())
            }
        if here is not None:
            others = apart(known.values(), await self._journal.learnt([*known]), here, here.staged)
            known = {id: fact for id, fact in known.items() if id not in others}
        gone = rules.taken_back(withdrawal, known.values())
        return withdrawn(gone, known.values(), at) if gone is not None else []

    async def _just_written(self, owner: str) -> dict[str, Fact]:
        """What this batch has taught before, as it stands now: it was said again since, perhaps."""
        ids = [id for id, fact in self._unindexed.items() if fact.owner == owner]
        return {fact.id: fact for fact in await self._journal.facts(ids, [owner])} if ids else {}

    async def _reconcile_draft(
        self,
        draft: FactDraft,
        known: Sequence[tuple[Fact, float, float]],
        at: datetime,
        here: Checkout | None,
        related: Mapping[str, Relation],
    ) -> Decision:
        """What becomes of a draft; what holds on another branch only is not changed by it."""
        decision = reconcile(draft, known, at, self._now(), related=related)
        if here is None:
            return decision
        learnt = await self._journal.learnt([fact.id for fact, _, _ in known])
        others = apart((fact for fact, _, _ in known), learnt, here, here.staged and tells_of_code(draft))
        if not touches(decision, others):
            return decision
        rest = [each for each in known if each[0].id not in others]
        return reconcile(draft, rest, at, self._now(), related=related)

    async def _passages_to_write(
        self, journaled: Journaled, learned: Learned, known: frozenset[bytes]
    ) -> list[Passage]:
        """The passages to write: with a subject, not forgotten, and of messages that are not ``known``."""
        owner = _owner_of_layer(journaled.session.scope, Layer.USER_PROJECT)
        unknown = [piece for piece in learned.pieces if piece.source not in known]
        if owner is None or not unknown:
            return []
        key = self._journal.key()

        def hashed() -> list[tuple[PassageDraft, bytes]]:
            return [(piece, tombstone_of(key, owner, piece.text)) for piece in unknown if piece.has_subject]

        pieces = await _off_loop_if_large(unknown, hashed)
        forgotten = await self._journal.is_forgotten([hash for _, hash in pieces])
        return [
            piece.as_passage(self._new_id(), owner, journaled.session.id)
            for piece, hash in pieces
            if hash not in forgotten
        ]

    async def _is_forgotten(self, owner: str, text: str) -> bool:
        return bool(await self._journal.is_forgotten([tombstone_of(self._journal.key(), owner, text)]))

    async def _is_dismissed(self, owner: str, draft: FactDraft) -> bool:
        if await self._journal.is_forgotten([dismissal_of(self._journal.key(), owner, draft.text)]):
            return True
        put_away = await self._journal.put_away(owner, BORNE_OUT)
        return any(is_draft_put_away(fact, draft) for fact in put_away)

    def _indexing(self) -> IndexWorker:
        return IndexWorker(self._journal, self._recall.index, self._recall.embedder)


async def _off_loop_if_large(texts: Sequence[object], work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Do a work that grows with the texts: here for a few of them, in a thread for many, as streams are relayed
    meanwhile."""
    return await asyncio.to_thread(work, *given, **named) if len(texts) > FEW else work(*given, **named)


def _owner_of_layer(scope: Scope, layer: Layer) -> str | None:
    """The owner of a layer, or the nearest more private one that the scope reaches."""
    return scope.owner(layer) or scope.owner(Layer.USER_PROJECT)
