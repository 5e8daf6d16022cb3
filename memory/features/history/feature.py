"""A fact's life, behind the hooks: two endpoints, and nothing that is kept."""

from __future__ import annotations

from typing import Any

from memory.features.history.lives import FactHistories
from memory.hooks.feature import Core, Feature, FeatureRoute
from memory.hooks.route_request import RouteRequest
from memory.hooks.serializers import memory
from memory.services.person.id_lookup import LookupJournal, named


class HistoryFeature(Feature):
    """The feature."""

    name = "history"

    def __init__(self, core: Core) -> None:
        self._names: LookupJournal = core.journal
        self.lives = FactHistories(core.journal)

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        return (
            FeatureRoute("GET", "facts/{id}/history", cls.history),
            FeatureRoute("GET", "facts/{id}/curve", cls.curve, limit=100),
        )

    async def history(self, question: RouteRequest) -> dict[str, Any]:
        """All that a fact followed and all that followed it, in the order in which they began to hold."""
        [name] = await named(self._names, [question.names["id"]], question.owners)
        chain = await self.lives.history(name, question.owners)
        links = [
            memory(each.fact, question.now, by_id=each.fact.id == name) | {"superseded_by": each.by} for each in chain
        ]
        return {"id": name, "history": links}

    async def curve(self, question: RouteRequest) -> dict[str, Any]:
        """``?limit=100``: so many strengths, from the fact's making to a year from now."""
        [name] = await named(self._names, [question.names["id"]], question.owners)
        line = await self.lives.strength(name, question.owners, question.now, max(question.limit, 2))
        strengths = [round(each, 4) for each in line.strengths]
        return {"id": name, "now": question.now, "times": line.times, "strengths": strengths, "uses": line.uses}


FEATURE = HistoryFeature
