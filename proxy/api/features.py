"""The endpoints of features: each feature says what it answers, and nothing of HTTP."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from aiohttp import web

from memory.features import features
from memory.hooks.feature import Feature, FeatureRoute
from memory.hooks.route_request import RouteRequest
from proxy.api.params import body_of, memory_of, owners_of, query_limit, scope_of
from proxy.api.responses import answer


def routes() -> list[web.RouteDef]:
    """The routes of all features."""
    return [
        web.route(route.method, f"/api/{route.path}", _handler(feature, route))
        for feature in features()
        for route in feature.routes()
    ]


def _handler(feature: type[Feature], route: FeatureRoute) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handle(request: web.Request) -> web.StreamResponse:
        memory, limit = memory_of(request), query_limit(request, route.limit)
        body = await body_of(request, route.fields) if route.fields else {}
        owners = await owners_of(request)
        now = datetime.now().astimezone()
        question = RouteRequest(scope_of(request), owners, limit, now, dict(request.match_info), body)
        return answer(await route.answer(memory.features.of(feature), question))

    handle.__doc__ = route.answer.__doc__
    return handle
