"""What is unsettled, behind the hooks: one endpoint, and nothing that is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypedDict

from memory.fact import Fact, Sensitivity
from memory.hooks.feature import Core, Feature, FeatureRoute
from memory.hooks.route_request import MemoryJson, RouteRequest, memory
from memory.language.contradiction import scoped


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two facts that contradict each other. ``exception`` says that one of them is about a part of what the other is
    about, so that both may hold."""

    older: Fact
    newer: Fact
    exception: bool


def conflicts(facts: Iterable[Fact], now: datetime) -> list[Conflict]:
    """The conflicts among some facts that hold at a moment: what is at odds as a whole first, then the newest."""
    known = {fact.id: fact for fact in facts if not _is_over(fact, now)}
    pairs = {
        tuple(sorted((fact.id, other)))
        for fact in known.values()
        for other in fact.contradicts
        if other in known and other != fact.id
    }
    found = []
    for ids in pairs:
        older, newer = sorted((known[id] for id in ids), key=lambda fact: (fact.valid_from, fact.recorded_at, fact.id))
        found.append(Conflict(older, newer, scoped(older.text, newer.text)))
    newest = sorted(found, key=lambda each: (each.newer.valid_from, each.newer.id, each.older.id), reverse=True)
    return sorted(newest, key=lambda each: each.exception)


def _is_over(fact: Fact, now: datetime) -> bool:
    return any(end is not None and end <= now for end in (fact.expires_at, fact.valid_until))


class ConflictJson(TypedDict):
    """Two facts that contradict each other, and whether both may hold, because one is about a part of the other."""

    newer: MemoryJson
    older: MemoryJson
    exception: bool


class ConflictsList(TypedDict):
    """The pairs that cannot both hold, and how many there are."""

    conflicts: list[ConflictJson]
    count: int


class ConflictsJournal(Protocol):
    """What this needs of the journal."""

    async def unsettled(self, owners: Sequence[str], limit: int) -> list[Fact]:
        """The active facts of some owners that contradict others, the newest first."""


class Conflicts(Feature):
    """The feature."""

    name = "conflicts"

    def __init__(self, core: Core) -> None:
        self._journal: ConflictsJournal = core.journal

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        return (FeatureRoute("GET", "conflicts", cls.conflicts, limit=20),)

    async def conflicts(self, question: RouteRequest) -> ConflictsList:
        """The pairs that cannot both hold, what was said last first; ``confirm`` of one of them settles a pair."""
        facts = await self._journal.unsettled(question.owners, MOST)
        found = conflicts([fact for fact in facts if fact.sensitivity is not Sensitivity.RESTRICTED], question.now)
        pairs: list[ConflictJson] = [
            {
                "newer": memory(each.newer, question.now),
                "older": memory(each.older, question.now),
                "exception": each.exception,
            }
            for each in found[: question.limit]
        ]
        return {"conflicts": pairs, "count": len(found)}


MOST = 1000
"""Facts that are looked at for one answer."""

FEATURE = Conflicts
