"""A fact's life: the chain it stands in, and its strength over time."""

from __future__ import annotations

from datetime import datetime

from aiohttp import web

from proxy.api import told
from proxy.api.answers import answer
from proxy.api.asked import memory_of, owners_of, query_limit

routes = web.RouteTableDef()


@routes.get("/api/facts/{id}/history")
async def history(request: web.Request) -> web.Response:
    """All that a fact followed and all that followed it, in the order in which they began to hold."""
    memory, owners = memory_of(request), await owners_of(request)
    [name] = await memory.commands.named([request.match_info["id"]], owners)
    now = datetime.now().astimezone()
    chain = await memory.lives.history(name, owners)
    links = [told.memory(each.fact, now, by_id=each.fact.id == name) | {"superseded_by": each.by} for each in chain]
    return answer({"id": name, "history": links})


@routes.get("/api/facts/{id}/curve")
async def curve(request: web.Request) -> web.Response:
    """``?limit=100``: so many strengths, from the fact's making to a year from now."""
    memory, owners = memory_of(request), await owners_of(request)
    points = max(query_limit(request, 100), 2)
    [name] = await memory.commands.named([request.match_info["id"]], owners)
    now = datetime.now().astimezone()
    line = await memory.lives.strength(name, owners, now, points)
    strengths = [round(each, 4) for each in line.strengths]
    return answer({"id": name, "now": now, "times": line.times, "strengths": strengths, "uses": line.uses})
