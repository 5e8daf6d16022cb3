"""Search memory as recall would, for a person to look at."""

from __future__ import annotations

from datetime import datetime

from aiohttp import web

from proxy.api import told
from proxy.api.answers import answer
from proxy.api.asked import memory_of, owners_of, query_limit, query_text

routes = web.RouteTableDef()


@routes.get("/api/search")
async def search(request: web.Request) -> web.Response:
    """``?text=…&limit=10``: the memories that belong to it, best first, each with the parts of its score."""
    text = query_text(request, "text", required=True)
    limit = query_limit(request, 10)
    found = await memory_of(request).commands.search(text, await owners_of(request), limit)
    now = datetime.now().astimezone()
    results = [told.memory(each.memory, now) | {"score": round(each.score, 4), "why": each.why} for each in found]
    return answer({"results": results})
