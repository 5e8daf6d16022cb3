"""Our own endpoints, below ``/palimpsest/`` and nowhere else.

``health`` asks for nothing, ``metrics`` and ``api/…`` ask for the token. What one endpoint does stands in a file of
its own; ``door`` decides who comes in, ``asked`` reads what they want, ``answers`` tells it in JSON.
"""

from __future__ import annotations

from aiohttp import web

from proxy.api import (
    candidates,
    config,
    content,
    embedder,
    export,
    facts,
    features,
    forget,
    health,
    hook,
    imports,
    log,
    nights,
    page,
    project,
    research,
    search,
    sessions,
    status,
    switch,
    tools,
    why,
)
from proxy.api.answers import answers
from proxy.api.door import door
from proxy.edge import EDGE, Edge


def api(edge: Edge) -> web.Application:
    """The application to be mounted at ``/palimpsest/``."""
    app = web.Application(middlewares=[answers, door])
    app[EDGE] = edge
    app[hook.TALKS] = hook.Talks()
    for part in (
        health,
        status,
        search,
        research,
        facts,
        export,
        imports,
        hook,
        content,
        sessions,
        forget,
        page,
        project,
        log,
        why,
        nights,
        candidates,
        switch,
        embedder,
        config,
        tools,
    ):
        app.add_routes(part.routes)
    app.add_routes(features.routes())
    return app
