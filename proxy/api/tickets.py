"""A ticket that opens the web page, once and soon: ``palimpsest open`` trades the token for it."""

from __future__ import annotations

from typing import TypedDict

from aiohttp import web

from proxy.api.params import body_of
from proxy.api.responses import Json, answer
from proxy.auth.web_sessions import TICKET_SECONDS
from proxy.edge import EDGE

routes = web.RouteTableDef()


class Ticket(TypedDict):
    """The path that opens the page, once, and for how many seconds it does."""

    path: str
    seconds: float


@routes.post("/api/tickets")
async def ticket(request: web.Request) -> Json[Ticket]:
    """A new one, and the path at which it opens the page."""
    await body_of(request, {})
    ticket = request.app[EDGE].visitors.ticket()
    return answer({"path": f"/palimpsest/open?ticket={ticket}", "seconds": TICKET_SECONDS}, 201)
