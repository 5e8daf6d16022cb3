"""How work is done, behind the hooks: it is watched with each exchange, told on demand, and forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from memory.fact import Fact, Origin, Passage
from memory.features.behaviour.observing import BehaviourObserver, WatchedJournal
from memory.features.behaviour.report import ProjectHabits, report
from memory.hooks.feature import Core, Feature, FeatureErasure, FeatureLesson, FeatureRoute
from memory.hooks.route_request import RouteRequest
from memory.learning.behaviour.observation_facts import marks, within
from memory.ports import Journaled


class HabitsList(TypedDict):
    """How work is done in each project."""

    projects: list[ProjectHabits]


class BehaviourFeature(Feature):
    """The feature."""

    name = "behaviour"

    def __init__(self, core: Core) -> None:
        self._journal: WatchedJournal = core.journal
        self.observing = BehaviourObserver(core.journal, core.new_id, core.settings.learning)

    async def after_exchange(self, exchange: Journaled) -> FeatureLesson:
        return await self.observing.observe(exchange)

    async def forget(self, owners: Sequence[str]) -> FeatureErasure:
        """The store deletes observations with their facts. That none is made again, whatever words it would be told
        in, nor the half of a habit, is for what is buried here."""
        seen = {each.memory: each for owner in owners for each in await self._journal.observations(owner)}

        def texts(memory: Fact | Passage) -> Iterable[str]:
            known = seen.get(memory.id)
            halves = within(memory.text) if memory.origin is Origin.BEHAVIOUR else []
            return (*halves, *(marks(known) if known is not None else ()))

        return FeatureErasure(texts)

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        return (FeatureRoute("GET", "habits", cls.habits, limit=5),)

    async def habits(self, question: RouteRequest) -> HabitsList:
        """``?project=NAME&limit=5``."""
        return {"projects": await report(self.observing, self._journal, question.owners, question.limit)}


FEATURE = BehaviourFeature
