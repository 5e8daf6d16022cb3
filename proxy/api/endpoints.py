"""All of our own endpoints, as the application that is mounted at ``/palimpsest/``."""

from __future__ import annotations

from aiohttp import web

from proxy.api import (
    auth,
    config,
    embedder,
    export,
    facts,
    features,
    findings,
    forget,
    health,
    holders,
    hook,
    imports,
    keys,
    log,
    members,
    openapi,
    page,
    person,
    provenance,
    savings,
    search,
    sessions,
    status,
)
from proxy.api.auth import authenticate
from proxy.api.elsewhere import after_opening
from proxy.api.responses import answers
from proxy.edge import EDGE, Edge

_PARTS = (
    health,
    findings,
    status,
    savings,
    search,
    facts,
    export,
    imports,
    hook,
    sessions,
    forget,
    page,
    provenance,
    log,
    openapi,
    embedder,
    config,
    auth,
    keys,
    members,
    person,
    holders,
)


def endpoints() -> list[web.RouteDef]:
    """Every endpoint, those of the features last."""
    own = [route for part in _PARTS for route in part.routes if isinstance(route, web.RouteDef)]
    return [*own, *features.routes()]


def api(edge: Edge) -> web.Application:
    """The application to be mounted at ``/palimpsest/``."""
    app = web.Application(middlewares=[answers, authenticate, after_opening])
    app[EDGE] = edge
    app[hook.TALKS] = hook.Talks()
    app[findings.FINDINGS] = findings.LatestFindings(edge)
    app.add_routes(endpoints())
    return app
