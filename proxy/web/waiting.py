"""What waits for the decision of who looks, counted: the number in the menu, and what Today says of it. Facts that
contradict each other both stand until a person says which one holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memory.candidate import CandidateState
from memory.fact import Fact, State
from memory.hooks.command import count
from memory.parts import Memory
from memory.scope import Layer, Scope
from proxy.fail_open import fail_open
from proxy.web.visit import PageVisit

MOST = 50
"""Facts that are looked at, the newest ones."""


async def contradictions(memory: Memory, owners: Sequence[str]) -> list[list[Fact]]:
    """The active facts of some owners that contradict each other, those of one contradiction together."""
    journal = memory.journal
    facts = {fact.id: fact for fact in await journal.unsettled(owners, MOST)}
    missing = [id for fact in facts.values() for id in fact.contradicts if id not in facts]
    facts |= {fact.id: fact for fact in await journal.facts(missing, owners) if fact.state is State.ACTIVE}
    together: list[list[Fact]] = []
    seen: set[str] = set()
    for fact in facts.values():
        group = [each for each in (fact.id, *fact.contradicts) if each in facts and each not in seen]
        if len(group) > 1:
            together.append([facts[id] for id in group])
            seen.update(group)
    return together


def shared_owner(scope: Scope) -> str:
    """To whom is submitted what is for all in a scope's organisation: the owner of what they share; empty in none."""
    return Scope(scope.org).owner(Layer.ORG) or ""


SECONDS = 2.0
"""How long counting may take before a page goes without."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """How many candidates, drafts (without those that were put off) and contradictions wait."""

    candidates: int = 0
    drafts: int = 0
    contradictions: int = 0

    @property
    def total(self) -> int:
        """Of all of them."""
        return self.candidates + self.drafts + self.contradictions

    @property
    def told(self) -> str:
        """How many of each there are, in words; empty where there are none."""
        kinds = (("candidate", self.candidates), ("draft", self.drafts), ("contradiction", self.contradictions))
        *most, last = [count(number, kind) for kind, number in kinds if number] or [""]
        return f"{', '.join(most)} and {last}" if most else last


async def waiting(visit: PageVisit) -> Waiting:
    """What waits for who looks, in all of their projects; nothing where that cannot be told."""
    found, _ = await fail_open(
        _counted(visit),
        default=Waiting(),
        timeout_seconds=SECONDS,
        operation="counting what waits for a decision",
        degradations=visit.edge.degradations,
    )
    return found


async def _counted(visit: PageVisit) -> Waiting:
    access, settings, memory = visit.access, visit.edge.settings, visit.edge.memory
    if memory is None:
        return Waiting()
    # Not those of whom the address names: this stands on the page, too, that refuses them.
    mine = Scope(access.org, access.user) if access.user is not None else Scope(settings.org, settings.user)
    owners, journal = await memory.commands.everything_of(mine), memory.journal
    to = shared_owner(mine)
    submitted = await journal.submitted(to, {CandidateState.WAITING})
    theirs = sum(access.asker.approves(each.owner, each.layer) for each in submitted)
    return Waiting(
        await journal.candidates_waiting(owners, to) + theirs,
        await journal.drafts_waiting(owners, sorted(await memory.fact_reviser.deferred())),
        len(await contradictions(memory, owners)),
    )
