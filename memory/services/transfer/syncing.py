"""Bring in what another machine of the same person remembers, and note where the two do not hold together.

A memory has one id on all machines. What is new comes in as an import does; what has changed takes the place of what
stood here. Nothing of this machine is ended because of what was only learned on the other: where the two contradict
each other, both stay, unsettled, until the person says which one holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from memory.fact import Fact, MemoryTier, Passage, State, said_again
from memory.learning.outcome import contradicting
from memory.learning.reconcile import AlreadySuperseded, Contradict, Supersede, reconcile
from memory.scope import Scope, owned_by
from memory.services.learn import Learner
from memory.services.lessons.indexing import lesson_of
from memory.services.transfer.importing import Importer, belonging
from memory.services.transfer.records import InvalidRecord, memory_of


class Held(Protocol):
    """What this needs of the journal."""

    async def facts(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Fact]:
        """Facts by id."""

    async def passages(self, ids: Sequence[str], owners: Sequence[str] | None = None) -> list[Passage]:
        """Passages by id."""

    async def followers(self, ids: Sequence[str], owners: Sequence[str]) -> list[Fact]:
        """The facts that took the place of some others."""


@dataclass(slots=True)
class Synced:
    """What became of another machine's memories. ``buried`` are the ids of those that were forgotten here;
    ``rivals`` are by the id of a new fact those of this machine that may not hold together with it."""

    new: int = 0
    changed: int = 0
    buried: list[str] = field(default_factory=list)
    rivals: dict[str, list[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


class Syncing:
    """Brings two machines together."""

    def __init__(self, journal: Held, learner: Learner, importing: Importer) -> None:
        self._journal = journal
        self._learner = learner
        self._importing = importing

    async def there(self, ids: Sequence[str], owners: Sequence[str]) -> list[str]:
        """Which of these memories are here and belong to these owners."""
        facts, passages = await self._journal.facts(ids, owners), await self._journal.passages(ids, owners)
        held: list[Fact | Passage] = [*facts, *passages]
        return sorted(each.id for each in held)

    async def forgotten(self, records: Sequence[Mapping[str, Any]], scope: Scope) -> list[str]:
        """Which of these memories, which are not here any more, the person has forgotten: one that a backup took away
        was not."""
        known: list[Fact | Passage] = []
        for record in records:
            with suppress(InvalidRecord):
                known.append(belonging(memory_of(record), scope))
        return sorted(await self._importing.forgotten(known))

    async def take(
        self, new: Sequence[object], changed: Sequence[Mapping[str, Any]], scope: Scope, compare: bool
    ) -> Synced:
        """Take in records of another machine. With ``compare`` it is looked for what they contradict here."""
        synced = Synced()
        await self._change(changed, scope, synced)
        taken = await self._importing.records(new, scope)
        synced.new = taken.facts + taken.passages
        synced.buried += taken.buried
        synced.faults += [why for _, why in taken.faults]
        if compare:
            ids = [str(record["id"]) for record in new if isinstance(record, Mapping) and record.get("sort") == "fact"]
            for fact in await self._journal.facts(ids):
                place = owned_by(fact.owner, scope)
                if place is None or place[0].owner(place[1]) != fact.owner:
                    continue  # an id that somebody else's memory has
                if fact.state is State.ACTIVE and (rivals := await self._conflicting_here(fact)):
                    synced.rivals[fact.id] = rivals
        return synced

    async def unsettle(self, rivals: Mapping[str, Sequence[str]], owners: Sequence[str]) -> int:
        """Note on both sides that facts may not hold together; how many pairs that are."""
        pairs = 0
        for id, others in rivals.items():
            async with self._learner.resting():
                found = {each.id: each for each in await self._journal.facts([id, *others], owners)}
            fact = found.pop(id, None)
            sides = [each for each in found.values() if id not in each.contradicts and each.state is State.ACTIVE]
            if fact is None or fact.state is not State.ACTIVE or not sides:
                continue
            told = contradicting(fact, sides)
            await self._learner.write(lesson_of(0, told, (), frozenset(each.id for each in told)))
            pairs += len(sides)
        return pairs

    async def _change(self, records: Sequence[Mapping[str, Any]], scope: Scope, synced: Synced) -> None:
        theirs: dict[str, Fact] = {}
        for record in records:
            try:
                memory = belonging(memory_of(record), scope)
            except InvalidRecord as error:
                synced.faults.append(str(error))
                continue
            if isinstance(memory, Fact):
                theirs[memory.id] = memory
        held = [each for each in await self._journal.facts(list(theirs)) if each.owner == theirs[each.id].owner]
        reworded = [theirs[each.id] for each in held if each.text != theirs[each.id].text]
        forgotten = await self._importing.forgotten(reworded)
        synced.buried += sorted(forgotten)
        told = [_as_on_other_machine(each, theirs[each.id]) for each in held if each.id not in forgotten]
        synced.changed = len(told)
        if told:
            await self._learner.write(lesson_of(0, told, (), frozenset(each.id for each in told)))

    async def _conflicting_here(self, fact: Fact) -> list[str]:
        """The facts of this machine that a new one may not hold together with: those that it would end or contradict
        had it been said here, and those that took the place of the same fact."""
        near = [each for each in await self._learner.similar(fact.owner, fact.text) if each[0].id != fact.id]
        match reconcile(said_again(fact), near, fact.recorded_at, fact.recorded_at):
            case Supersede(ids, _, others):
                found = {*ids, *others}
            case Contradict(ids):
                found = {*ids}
            case AlreadySuperseded(id):
                found = {id}
            case _:
                found = set()
        known = {each.id: each for each, _, _ in near}
        rivals = [known[id] for id in found if id in known]
        rivals += await self._journal.followers(fact.supersedes, [fact.owner]) if fact.supersedes else []
        apart = [
            each.id
            for each in rivals
            if each.id != fact.id
            and each.state is State.ACTIVE
            and each.text.casefold() != fact.text.casefold()
            and each.id not in fact.supersedes
        ]
        return sorted(set(apart))


def _as_on_other_machine(here: Fact, there: Fact) -> Fact:
    """A fact as it stands on the other machine; what each machine counts for itself is kept, and what was approved
    here stays so."""
    used: list[datetime] = [at for at in (here.used_at, there.used_at) if at is not None]
    return replace(
        there,
        access=max(here.access, there.access),
        sessions=max(here.sessions, there.sessions),
        used_at=max(used, default=None),
        device=here.device,
        preview=here.preview,
        tier=here.tier if here.tier is MemoryTier.SHARED else there.tier,
    )
