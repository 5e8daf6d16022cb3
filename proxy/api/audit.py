"""The audit log: who asked what of our own endpoints."""

from __future__ import annotations

from typing import TypedDict

from aiohttp import web

from memory.provenance import AuditEntry
from proxy.api.params import memory_of, query_limit, query_text
from proxy.api.responses import Json, answer

routes = web.RouteTableDef()


class Audited(TypedDict):
    """The newest entries of the audit log."""

    audit: list[AuditEntry]


@routes.get("/api/audit")
async def audit(request: web.Request) -> Json[Audited]:
    """``?limit=50&who=…&what=…``: the newest first."""
    who, what = query_text(request, "who"), query_text(request, "what")
    found = await memory_of(request).journal.audited(query_limit(request, 50), who, what)
    return answer({"audit": found})
