"""How often each project was worked in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from memory.hooks.feature import Core, Feature, FeatureErasure, FeatureLesson, FeatureRequest, FeatureRoute
from memory.hooks.route_request import RouteRequest
from memory.ports import Forgotten, Journaled
from memory.scope import Layer, Scope


class Visits(Feature):
    """The feature."""

    name = "visits"
    exported = "visit"
    counted = "visits"

    def __init__(self, core: Core) -> None:
        self.visits = Counter[str]()
        self.nights: list[datetime] = []

    async def before_request(self, request: FeatureRequest, tokens: int) -> str:
        owner = request.session.scope.owner(Layer.USER_PROJECT) or ""
        return f"This project was visited {self.visits[owner]} times before." if self.visits[owner] else ""

    async def after_exchange(self, exchange: Journaled) -> FeatureLesson:
        self.visits[exchange.session.scope.owner(Layer.USER_PROJECT) or ""] += 1
        return FeatureLesson()

    async def night(self, at: datetime) -> None:
        self.nights.append(at)

    async def forget(self, owners: Sequence[str]) -> FeatureErasure:
        async def then(gone: Forgotten) -> None:
            for owner in {fact.owner for fact in gone.facts}:
                del self.visits[owner]

        return FeatureErasure(then=then)

    async def export(self, owner: str, after: str, limit: int) -> list[dict[str, Any]]:
        there = owner in self.visits and after < owner
        return [{"sort": "visit", "id": owner, "owner": owner, "count": self.visits[owner]}] if there else []

    async def take(self, record: Mapping[str, Any], scope: Scope, dry: bool) -> str:
        if record["owner"] in self.visits:
            return "known"
        if not dry:
            self.visits[record["owner"]] = record["count"]
        return "taken"

    @classmethod
    def routes(cls) -> tuple[FeatureRoute, ...]:
        return FeatureRoute("GET", "visits", cls.told), FeatureRoute(
            "POST", "visits/{name}", cls.set, fields={"count": int}
        )

    async def told(self, question: RouteRequest) -> dict[str, Any]:
        """``?limit=10``."""
        seen = [(owner, self.visits[owner]) for owner in question.owners if self.visits[owner]]
        return {"visits": dict(seen[: question.limit])}

    async def set(self, question: RouteRequest) -> dict[str, Any]:
        """``{"count": 3}``."""
        self.visits[question.names["name"]] = question.body["count"]
        return {"count": question.body["count"]}

    def metrics(self) -> Mapping[str, float]:
        return {"total": self.visits.total()}

    async def health(self) -> Sequence[str]:
        return ["somebody comes too often"] if self.visits.total() > 100 else []


FEATURE = Visits
