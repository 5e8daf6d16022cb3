"""The endpoints of features: each feature says what it answers, and nothing of HTTP."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, Final

from aiohttp import web

from memory.features import features
from memory.hooks.feature import Feature, FeatureRoute
from memory.hooks.route_request import Answer, RouteRequest
from proxy.api.access import access
from proxy.api.params import body_of, changeable, memory_of, query_limit, query_text, scope_of, seen_owners
from proxy.api.responses import answer
from proxy.caller import reach_of
from proxy.edge import EDGE

_OF_FACTS: Final = "facts/"
"""What is about a memory that its path names begins so."""


def routes() -> list[web.RouteDef]:
    """The routes of all features."""
    return [
        web.route(route.method, f"/api/{route.path}", _handler(feature, route))
        for feature in features()
        for route in feature.routes()
    ]


async def ask(
    request: web.Request,
    method: str,
    path: str,
    *,
    names: Mapping[str, str] | None = None,
    body: Mapping[str, Any] | None = None,
    query: Mapping[str, str] | None = None,
    limit: int = 0,
    owners: tuple[str, ...] | None = None,
) -> Any:
    """What a feature's endpoint answers, for a page that shows it: of those whom the request means, or of ``owners``.

    Raises:
        RouteRefused: when it refuses.
        LookupError: when no feature has it.
    """
    for feature in features():
        for route in feature.routes():
            if (route.method, route.path) == (method, path):
                mine = await seen_owners(request) if owners is None else owners
                await _check_changeable(request, path, mine)
                question = RouteRequest(
                    scope_of(request),
                    mine,
                    limit or route.limit,
                    datetime.now().astimezone(),
                    names or {},
                    body or {},
                    query or {},
                    _names_person(request),
                    access().asker,
                    reach_of(request.app[EDGE].settings),
                )
                told = await route.answer(memory_of(request).features.of(feature), question)
                return _begin_work(request, told).data
    raise LookupError(f"no feature answers {method} {path}")


def _handler(feature: type[Feature], route: FeatureRoute) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    @functools.wraps(route.answer)
    async def handle(request: web.Request) -> web.StreamResponse:
        memory, limit = memory_of(request), query_limit(request, route.limit) if route.limit else 0
        body = await body_of(request, route.fields) if route.fields is not None else {}
        query = {key: query_text(request, key) for key in route.query if key in request.query}
        owners = await seen_owners(request)
        await _check_changeable(request, route.path, owners)
        now = datetime.now().astimezone()
        question = RouteRequest(
            scope_of(request),
            owners,
            limit,
            now,
            dict(request.match_info),
            body,
            query,
            _names_person(request),
            access().asker,
            reach_of(request.app[EDGE].settings),
        )
        told = await route.answer(memory.features.of(feature), question)
        begun = _begin_work(request, told)
        return answer(begun.data, begun.status)

    return handle


async def _check_changeable(request: web.Request, path: str, owners: tuple[str, ...]) -> None:
    """Whether the memory in the path may be changed, where it is changed; see :func:`changeable`."""
    if path.startswith(_OF_FACTS):
        await changeable(request, owners)


def _begin_work(request: web.Request, told: Any) -> Answer[Any]:
    given = told if isinstance(told, Answer) else Answer(told)
    if given.work is not None:
        request.app[EDGE].run_in_background(given.work)
    return given


def _names_person(request: web.Request) -> bool:
    """Whether a request says whose memories it means."""
    return bool(request.query.keys() & {"user", "org", "project"})
