"""The audit log: who asked what of our own endpoints."""

from __future__ import annotations

from dataclasses import asdict

from aiohttp import web

from proxy.api.params import memory_of, query_limit, query_text
from proxy.api.responses import answer

routes = web.RouteTableDef()


@routes.get("/api/audit")
async def audit(request: web.Request) -> web.Response:
    """``?limit=50&who=…&what=…``: the newest first."""
    who, what = query_text(request, "who"), query_text(request, "what")
    found = await memory_of(request).journal.audited(query_limit(request, 50), who, what)
    return answer({"audit": [asdict(each) for each in found]})
