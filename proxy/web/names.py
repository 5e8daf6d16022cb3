"""Names: which stand in what is remembered, and which of them beside one."""

from __future__ import annotations

from aiohttp import web

from proxy.api.search import around
from proxy.web.plots.names import graph
from proxy.web.rendering import show
from proxy.web.visit import PageVisit


async def names(visit: PageVisit) -> web.StreamResponse:
    """``?name=…&project=…``: the graph around a name; without one the commonest."""
    name = visit.query("name").strip().lower()
    told = await around(visit.memory.journal, await visit.owners(), name)
    return await show(
        visit,
        "names.html",
        "Names",
        name=name,
        found=told,
        project=visit.project,
        drawn=graph(name, told["names"], [(a, b, n) for a, b, n in told["together"]]) if told["names"] and name else "",
    )
