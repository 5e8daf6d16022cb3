"""Facts that contradict each other and both stand, until a person says which one holds."""

from __future__ import annotations

from collections.abc import Sequence

from memory.fact import Fact, State
from memory.parts import Memory

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
