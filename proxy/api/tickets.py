"""A ticket that opens the web page, once and soon: ``palimpsest open`` trades the token for it."""

from __future__ import annotations

from aiohttp import web

from proxy.api.answers import answer
from proxy.api.asked import body_of
from proxy.door.visitors import TICKET_SECONDS
from proxy.edge import EDGE

routes = web.RouteTableDef()


@routes.post("/api/tickets")
async def ticket(request: web.Request) -> web.Response:
    """A new one, and the path at which it opens the page."""
    await body_of(request, {})
    made = request.app[EDGE].visitors.ticket()
    return answer({"path": f"/palimpsest/open?ticket={made}", "seconds": TICKET_SECONDS}, 201)
