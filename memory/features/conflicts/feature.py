"""What is unsettled, behind the hooks: one endpoint, and nothing that is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from memory.fact import Fact, Sensitivity
from memory.features.conflicts.pairs import conflicts
from memory.hooks.feature import Core, Feature, FeatureRoute
from memory.hooks.route_request import RouteRequest
from memory.hooks.serializers import memory


class ConflictsJournal(Protocol):
    """What this needs of the journal."""

    async def contested(self, owners: Sequence[str], limit: int) -> list[Fact]:
        """The active facts of some owners that contradict others, the newest first."""


class Conflicts(Feature):
    """The feature."""

    name = "conflicts"

    def __init__(self, core: Core) -> None:
        self._journal: ConflictsJournal = core.journal

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        return (FeatureRoute("GET", "conflicts", cls.conflicts, limit=20),)

    async def conflicts(self, question: RouteRequest) -> dict[str, Any]:
        """The pairs that cannot both hold, what was said last first; ``confirm`` of one of them settles a pair."""
        facts = await self._journal.contested(question.owners, MOST)
        found = conflicts([fact for fact in facts if fact.sensitivity is not Sensitivity.RESTRICTED], question.now)
        pairs = [
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
