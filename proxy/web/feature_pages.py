"""What features tell at their routes, asked from a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory.features import features
from memory.hooks.route_request import RouteRequest
from proxy.web.visit import PageVisit


async def featured(visit: PageVisit, path: str, owners: Sequence[str], names: Mapping[str, str], limit: int) -> Any:
    """The answer of the feature that has this route.

    Raises:
        LookupError: when none has it.
    """
    for feature in features():
        for route in feature.routes():
            if (route.method, route.path) == ("GET", path):
                question = RouteRequest(visit.scope, tuple(owners), limit, visit.now, dict(names), {})
                return await route.answer(visit.memory.features.of(feature), question)
    raise LookupError(path)
