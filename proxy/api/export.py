"""Everything that memory holds of a person, to be taken elsewhere."""

from __future__ import annotations

from dataclasses import asdict

import orjson
from aiohttp import web

from proxy.api.params import memory_of, owners_of, query_limit, query_text, scope_of
from proxy.api.responses import answer

routes = web.RouteTableDef()


@routes.get("/api/export")
async def inventory(request: web.Request) -> web.Response:
    """The owners of memories, what is pinned, the pages, and the number of tombstones."""
    inventory = await memory_of(request).exporter.inventory(scope_of(request), await owners_of(request))
    return answer(asdict(inventory))


@routes.get("/api/export/{sort}")
async def records(request: web.Request) -> web.Response:
    """``?owner=…&after=ID&limit=1000``: the next facts or passages of an owner, a JSON object a line, in the order of
    their ids. Fewer than the limit are the last ones; else ask again with the last id."""
    limit = query_limit(request, 1000)
    owner, after = query_text(request, "owner", required=True), query_text(request, "after")
    exporting, owners = memory_of(request).exporter, await owners_of(request)
    found = await exporting.records(request.match_info["sort"], owner, owners, after, limit)
    body = b"".join(orjson.dumps(record) + b"\n" for record in found)
    return web.Response(body=body, content_type="application/x-ndjson", headers={"Cache-Control": "no-store"})
