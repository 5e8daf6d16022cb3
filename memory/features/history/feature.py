"""A fact's life, behind the hooks: two endpoints, and nothing that is kept."""

from __future__ import annotations

from typing import Any

from memory.day.person.naming import Naming, named
from memory.features.history.lives import Lives
from memory.hooks.feature import Core, Feature, Route
from memory.hooks.question import Question
from memory.hooks.telling import memory


class History(Feature):
    """The feature."""

    name = "history"

    def __init__(self, core: Core) -> None:
        self._names: Naming = core.journal
        self.lives = Lives(core.journal)

    @classmethod
    def routes(cls) -> tuple[Route, ...]:
        return (
            Route("GET", "facts/{id}/history", cls.history),
            Route("GET", "facts/{id}/curve", cls.curve, limit=100),
        )

    async def history(self, question: Question) -> dict[str, Any]:
        """All that a fact followed and all that followed it, in the order in which they began to hold."""
        [name] = await named(self._names, [question.names["id"]], question.owners)
        chain = await self.lives.history(name, question.owners)
        links = [
            memory(each.fact, question.now, by_id=each.fact.id == name) | {"superseded_by": each.by} for each in chain
        ]
        return {"id": name, "history": links}

    async def curve(self, question: Question) -> dict[str, Any]:
        """``?limit=100``: so many strengths, from the fact's making to a year from now."""
        [name] = await named(self._names, [question.names["id"]], question.owners)
        line = await self.lives.strength(name, question.owners, question.now, max(question.limit, 2))
        strengths = [round(each, 4) for each in line.strengths]
        return {"id": name, "now": question.now, "times": line.times, "strengths": strengths, "uses": line.uses}


FEATURE = History
