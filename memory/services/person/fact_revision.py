"""A person sets a fact right: it still holds, this is what holds now, it does not hold, or it was learnt by mistake.

What was decided last of a fact can be taken back for as long as nothing else has changed it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Protocol

import msgspec

from memory.fact import Fact, MemoryTier, Origin, State, outlasts
from memory.language.contradiction import settles
from memory.learning.outcome import ended, withdrawn, without
from memory.learning.redact import redact
from memory.learning.tombstones import dismissal_of
from memory.ports import Journal, Lesson, MemoryUse
from memory.services.learn import Learner
from memory.services.lessons import rules
from memory.services.lessons.indexing import lesson_of
from memory.services.manual_facts import SESSION, followed, in_own_words, met
from memory.services.person.commands import Commands, NotFound
from memory.services.person.fact_decisions import FactDecision, FactDecisionKind, FactDecisions, as_before, involved

CERTAIN = 0.95
"""The least confidence of what a person has confirmed."""

DEFERRED_FOR: Final = timedelta(days=1)
"""How long a draft that was put off is not asked about."""

DEFERRED: Final = "deferred_drafts"
"""Under this name the journal keeps until when drafts are put off."""


class Superseded(ValueError):
    """The fact was followed by others, whose ids are ``by``; none where those are somebody else's."""

    def __init__(self, id: str, by: Sequence[str]) -> None:
        super().__init__(f"{id} was followed by {', '.join(by) or 'another fact'}; set that one right")
        self.by = by


class NoDraft(ValueError):
    """Only a draft can be dismissed."""


class NotActive(ValueError):
    """Only what holds, and is no rule that others were given, can be taken back or called wrong."""


class ChangedSince(ValueError):
    """What is to be taken back was changed meanwhile, or nothing was decided of it."""


class RevisedJournal(Journal, Protocol):
    """What setting facts right needs of the journal."""

    async def withdraw_evidence(self, ids: Sequence[str]) -> None:
        """These facts bear no knowledge out that was put forward, from now on."""


class FactReviser:
    """Implements ``palimpsest confirm`` and ``palimpsest update``."""

    def __init__(
        self,
        journal: RevisedJournal,
        commands: Commands,
        learner: Learner,
        new_id: Callable[[], str],
        now: Callable[[], datetime],
        followers: Callable[[Sequence[str], Sequence[str]], Awaitable[list[Fact]]],
        confirmed: Callable[[Fact], Awaitable[None]],
    ) -> None:
        self._journal = journal
        self._commands = commands
        self._learner = learner
        self._new_id = new_id
        self._now = now
        self._followers = followers
        self._told_confirmed = confirmed
        self._decisions = FactDecisions(journal)
        self._deferring = asyncio.Lock()

    async def confirm(self, id: str, owners: Sequence[str]) -> Fact:
        """A fact still holds: it is the person's own word from now on, takes part in recall again where it was
        archived, and wins over what contradicts it. What is about a part only of what it is about, or of which it is a
        part itself, is no rival: that stays, and both are shown.

        Raises:
            NotFound: when no fact of these owners has this id or beginning of an id.
            Ambiguous: when several have.
            Superseded: when another one has taken its place.
        """

        async def drawn() -> Lesson:
            return await self._confirmed(await self._fact(id, owners), owners)

        held = await self._decide(FactDecisionKind.CONFIRMED, drawn, owners)
        await self._told_confirmed(held)
        return held

    async def would_confirm(self, id: str, owners: Sequence[str]) -> list[tuple[Fact, Fact]]:
        """What :meth:`confirm` would change: each fact as it is and as it would be, the one of the id first.

        Raises:
            NotFound, Ambiguous, Superseded: as :meth:`confirm`.
        """
        lesson = await self._confirmed(await self._fact(id, owners), owners)
        before = {each.id: each for each in await self._journal.facts([each.id for each in lesson.facts], owners)}
        return [(before[each.id], each) for each in lesson.facts if each.id in before]

    async def dismiss(self, id: str, owners: Sequence[str]) -> Fact:
        """A draft was of the moment: it does not wait any more, bears no rule out, and does not come back in the same
        words.

        Raises:
            NotFound, Ambiguous, Superseded: as :meth:`confirm`.
            NoDraft: when it is none.
        """

        async def drawn() -> Lesson:
            return await self._put_away(await self._draft(id, owners))

        return await self._decide(FactDecisionKind.DISMISSED, drawn, owners)

    async def refute(self, id: str, owners: Sequence[str]) -> Fact:
        """A fact is wrong, and nothing takes its place: it ends now, as if its author had taken it back, and stays in
        its history.

        Raises:
            NotFound, Ambiguous, Superseded: as :meth:`confirm`.
            NotActive: when it does not hold anyway, or is a rule that others were given.
        """

        async def drawn() -> Lesson:
            fact = await self._active(id, owners)
            facts = withdrawn(fact, await self._journal.facts(fact.contradicts, owners), self._now())
            return lesson_of(0, facts, (), frozenset(each.id for each in facts))

        return await self._decide(FactDecisionKind.REFUTED, drawn, owners)

    async def unlearn(self, id: str, owners: Sequence[str]) -> Fact:
        """A fact was learnt by mistake: it is put away, what it had ended holds again, and it does not come back in
        the same words unless it is said for sure. What of that was to end on a day of its own ends on none now.

        Raises:
            NotFound, Ambiguous, Superseded: as :meth:`confirm`.
            NotActive: when it does not hold anyway, or is a rule that others were given.
        """

        async def drawn() -> Lesson:
            fact = await self._active(id, owners)
            return await self._put_away(fact, await self._as_before_learning(fact, owners))

        return await self._decide(FactDecisionKind.UNLEARNED, drawn, owners)

    async def decided(self, id: str, owners: Sequence[str]) -> bool:
        """Whether :meth:`take_back` may have something to take back of the fact of an id: it was decided or put off,
        and is there still."""
        held = await self._journal.facts([id], owners)
        if not held:
            return False
        return id in await self.deferred() or await self._decisions.of(id, held[0].owner) is not None

    async def decisions(self, owners: Sequence[str], limit: int) -> list[tuple[Fact, FactDecision]]:
        """What was decided of the facts of some owners and :meth:`take_back` can undo, ``limit`` at most, the newest
        first; each with the fact as it stands."""
        every = await self._decisions.all(owners)
        held = {fact.id: fact for fact in await self._journal.facts(involved(every), owners)}
        found = [each for each in reversed(every) if self._decisions.stands(each, held)]
        return [(held[each.fact], each) for each in found[:limit]]

    async def take_back(self, id: str, owners: Sequence[str]) -> Fact:
        """What was decided last of a fact is undone: a draft waits again, and what the decision had ended or freed of a
        contradiction is as it was; a pin and uses that came since stay. Knowledge that it bore out counts it again only
        when it is said again.

        Raises:
            NotFound, Ambiguous: as :meth:`confirm`.
            ChangedSince: when nothing was decided of it, or any of it is gone or was changed meanwhile.
        """
        found = await self._commands.memory(id, owners)
        if isinstance(found, Fact) and await self._defer(found.id, None):
            return found
        decision = await self._decisions.of(found.id, found.owner)
        if decision is None:
            raise ChangedSince("there is nothing to take back: it was done or forgotten already, or long ago")

        async def drawn() -> Lesson:
            ids = involved([decision])
            now = {fact.id: fact for fact in await self._journal.facts(ids, owners)}
            if not self._decisions.stands(decision, now):
                raise ChangedSince("it was changed meanwhile: set it right where it stands")
            if decision.dismissal:
                await self._journal.lift_tombstone(decision.dismissal)
            back = [as_before(now[change.fact], change) for change in decision.changes]
            return lesson_of(0, back, (), frozenset(ids))

        held = await self._revised(drawn, owners)
        async with self._learner.resting():
            await self._decisions.drop(found.id, found.owner)
        return held

    async def defer(self, id: str, owners: Sequence[str]) -> Fact:
        """A draft is not asked about for a day.

        Raises:
            NotFound, Ambiguous, Superseded, NoDraft: as :meth:`dismiss`.
        """
        draft = await self._draft(id, owners)
        await self._defer(draft.id, self._now() + DEFERRED_FOR)
        return draft

    async def deferred(self) -> frozenset[str]:
        """The ids of everybody's drafts that are put off at the moment."""
        now = self._now().timestamp()
        return frozenset(id for id, until in (await self._put_off()).items() if until > now)

    async def _put_off(self) -> dict[str, float]:
        kept = await self._journal.meta(DEFERRED)
        return msgspec.json.decode(kept, type=dict[str, float]) if kept else {}

    async def _defer(self, id: str, until: datetime | None) -> bool:
        """Put a draft off, or (None) not any more; whether that changes something."""
        async with self._deferring:
            now = self._now().timestamp()
            kept = {each: till for each, till in (await self._put_off()).items() if till > now}
            if until is None and id not in kept:
                return False
            kept.pop(id, None)
            if until is not None:
                kept[id] = until.timestamp()
            await self._journal.set_meta(DEFERRED, msgspec.json.encode(kept))
            return True

    async def update(self, id: str, text: str, owners: Sequence[str]) -> Fact:
        """Something else holds now, in the person's own words; the fact ends and is linked with the new one.

        Raises:
            NotFound, Ambiguous, Superseded: as :meth:`confirm`.
            ValueError: when the text is empty, or is something that its owner's policy does not let be kept.
        """
        clean = " ".join(redact(text).text.split())
        if not clean:
            raise ValueError("there is nothing to remember in an empty text")

        async def drawn() -> Lesson:
            fact = await self._fact(id, owners)
            if clean.casefold() == fact.text.casefold():
                return await self._confirmed(fact, owners)
            await rules.at_hand()
            now = self._now()
            new = followed(fact, in_own_words(clean, fact.owner, fact.layer, self._new_id(), now, kind=fact.kind))
            self._learner.policies.of_owner(new.owner).check(new.sensitivity, new.category)
            if fact.state is State.DRAFT:
                # What it says was misread: another wording of it is not the same said again.
                await self._journal.withdraw_evidence([fact.id])
            return lesson_of(0, (new, ended(fact, now)), (), frozenset({fact.id}))

        return await self._revised(drawn, owners)

    async def _decide(
        self, kind: FactDecisionKind, drawn: Callable[[], Awaitable[Lesson]], owners: Sequence[str]
    ) -> Fact:
        """The first fact of a lesson as it stands when that is written, which :meth:`take_back` can undo."""
        before: dict[str, Fact] = {}

        async def noted() -> Lesson:
            lesson = await drawn()
            before.update(
                {each.id: each for each in await self._journal.facts([one.id for one in lesson.facts], owners)}
            )
            return lesson

        lesson = await self._learner.revise(noted)
        first, *others = [fact.id for fact in lesson.facts if fact.id in before]
        dismisses = kind in (FactDecisionKind.DISMISSED, FactDecisionKind.UNLEARNED)
        was = before[first]
        dismissal = dismissal_of(self._journal.key(), was.owner, was.text) if dismisses else b""
        async with self._learner.resting():
            # As it is stored, the use that a confirmation counts for included.
            after = {each.id: each for each in await self._journal.facts([first, *others], owners)}
            if first not in after:
                raise NotFound(f"{first} was forgotten meanwhile")
            changes = [self._decisions.change(before[id], after[id]) for id in (first, *others) if id in after]
            await self._defer(first, None)
            await self._decisions.keep(FactDecision(kind, self._now(), tuple(changes), dismissal), was.owner)
        return after[first]

    async def _revised(self, drawn: Callable[[], Awaitable[Lesson]], owners: Sequence[str]) -> Fact:
        """The first fact of a lesson, as it stands when that is written."""
        lesson = await self._learner.revise(drawn)
        return await self._fact(lesson.facts[0].id, owners)

    async def _confirmed(self, fact: Fact, owners: Sequence[str]) -> Lesson:
        now = self._now()
        if fact.state is State.DRAFT:
            return await self._approved(fact, now)
        rivals = [each for each in await self._journal.facts(fact.contradicts, owners) if each.state is State.ACTIVE]
        lost = [each for each in rivals if settles(fact.text, each.text) and not outlasts(each, fact)]
        confirmed = replace(
            fact,
            state=State.ACTIVE,
            origin=Origin.PERSON,
            confidence=max(fact.confidence, CERTAIN),
            contradicts=tuple(each.id for each in rivals if each not in lost),
            supersedes=tuple(dict.fromkeys((*fact.supersedes, *(each.id for each in lost)))),
        )
        facts = (confirmed, *(ended(each, now) for each in lost))
        return Lesson(0, facts, uses=(MemoryUse(fact.id, SESSION, now, said=True),))

    async def _approved(self, draft: Fact, now: datetime) -> Lesson:
        """A draft counts from now on, as if the person had said it to memory itself."""
        near = [each for each in await self._learner.similar(draft.owner, draft.text) if each[0].id != draft.id]
        held = replace(draft, state=State.ACTIVE, origin=Origin.PERSON, confidence=max(draft.confidence, CERTAIN))
        facts = met(held, near, now)
        return lesson_of(
            0, facts, (), frozenset(fact.id for fact in facts), (MemoryUse(draft.id, SESSION, now, said=True),)
        )

    async def _draft(self, id: str, owners: Sequence[str]) -> Fact:
        fact = await self._fact(id, owners)
        if fact.state is not State.DRAFT:
            raise NoDraft(f"{fact.id} is no draft, it is {fact.state}: palimpsest forget deletes it")
        return fact

    async def _active(self, id: str, owners: Sequence[str]) -> Fact:
        fact = await self._fact(id, owners)
        if fact.state is not State.ACTIVE:
            raise NotActive(f"{fact.id} does not hold, it is {fact.state}")
        if fact.tier is MemoryTier.SHARED:
            raise NotActive(f"{fact.id} is a rule that others were given: take its approval back on the page Review")
        return fact

    async def _put_away(self, fact: Fact, beside: Sequence[Fact] = ()) -> Lesson:
        dismissed = dismissal_of(self._journal.key(), fact.owner, fact.text)
        await self._journal.tombstone([dismissed], self._now())
        await self._journal.withdraw_evidence([fact.id])
        facts = (replace(fact, state=State.ARCHIVED), *beside)
        return lesson_of(0, facts, (), frozenset(each.id for each in facts))

    async def _as_before_learning(self, fact: Fact, owners: Sequence[str]) -> list[Fact]:
        """What a fact had ended, as it holds again where nothing else stands in its place, and what is at odds with
        either. What it only said again waits as the draft that it was; of what a gist was drawn from all holds."""
        back: dict[str, Fact] = {}
        for each in await self._journal.facts(fact.supersedes, owners):
            by = [one for one in await self._followers([each.id], owners) if one.id != fact.id]
            if each.state in (State.SUPERSEDED, State.ARCHIVED) and not any(one.state is State.ACTIVE for one in by):
                until = None if each.valid_until in (fact.valid_from, each.superseded_at) else each.valid_until
                waited = each.state is State.ARCHIVED and not fact.derived_from
                state = State.DRAFT if waited else State.ACTIVE
                back[each.id] = replace(each, state=state, valid_until=until, superseded_at=None)
        rivals = {id for each in (fact, *back.values()) for id in each.contradicts} - {fact.id}
        changed = {each.id: each for each in await self._journal.facts(sorted(rivals), owners)} | back
        for id, each in changed.items():
            if each.state is State.ACTIVE:
                held_again = [
                    one.id for one in back.values() if id in one.contradicts and one.id not in each.contradicts
                ]
                freed = without(each, [fact.id])
                changed[id] = replace(freed, contradicts=(*freed.contradicts, *held_again))
        return [each for each in changed.values() if each.state is State.ACTIVE or each.id in back]

    async def _fact(self, id: str, owners: Sequence[str]) -> Fact:
        memory = await self._commands.memory(id, owners)
        if not isinstance(memory, Fact):
            raise NotFound(f"{memory.id} is a passage of a talk, which is as it was said; only facts can be set right")
        if memory.state is State.SUPERSEDED:
            raise Superseded(memory.id, [each.id for each in await self._last_in_chain(memory.id, owners)])
        return memory

    async def _last_in_chain(self, id: str, owners: Sequence[str]) -> list[Fact]:
        """What came behind a fact, and was followed by nothing itself."""
        seen, found = {id}, await self._followers([id], owners)
        while later := [each for each in found if each.state is State.SUPERSEDED and each.id not in seen]:
            seen.update(each.id for each in later)
            kept = [each for each in found if each.state is not State.SUPERSEDED]
            found = [*kept, *await self._followers([each.id for each in later], owners)]
        return found
