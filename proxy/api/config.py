"""The settings in force and where each came from; secrets are masked."""

from __future__ import annotations

from aiohttp import web

from proxy.api.responses import answer
from proxy.edge import EDGE
from proxy.settings import Loaded

routes = web.RouteTableDef()


@routes.get("/api/config")
async def config(request: web.Request) -> web.Response:
    """Each dotted key with its value and its source."""
    edge = request.app[EDGE]
    rows = Loaded(edge.settings, edge.sources).rows()
    return answer({"settings": [{"key": key, "value": value, "source": source} for key, value, source in rows]})
