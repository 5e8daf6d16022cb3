"""What was done to requests: which memories were added, why, how large, how long it took."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from aiohttp import web

from memory.bootstrap import Memory
from memory.context.shed_savings import saved
from memory.session import Receipt
from proxy.api import serializers
from proxy.api.params import memory_of, person_of, query_limit
from proxy.api.responses import answer
from proxy.errors import Refusal

routes = web.RouteTableDef()


@routes.get("/api/log")
async def log(request: web.Request) -> web.Response:
    """The newest requests, in short; those of one person where the query names a user or an org."""
    receipts = await memory_of(request).journal.receipts(query_limit(request, 20), person_of(request))
    return answer({"receipts": [serializers.line(receipt) for receipt in receipts]})


@routes.get("/api/log/{id}")
async def receipt(request: web.Request) -> web.Response:
    """One request, whole, by its receipt's id or a beginning of it that names one only."""
    id = request.match_info["id"]
    held = await memory_of(request).journal.receipt(id, person_of(request)) if 4 <= len(id) <= 64 else None
    if held is None:
        raise Refusal(404, f"there is no receipt {id[:64]!r}, or its beginning stands for several")
    return answer({**serializers.receipt(held), "seen": await _seen(memory_of(request), held)})


async def _seen(memory: Memory, held: Receipt) -> dict[str, Any] | None:
    """What came of a shed, by what the provider reported for this request and the session's next."""
    if held.shed is None:
        return None
    usages = [usage for usage in await memory.journal.usages(held.id) if usage is not None]
    prices = memory.windows.prices(held.model)
    return {
        "requests": [asdict(usage) for usage in usages],
        "saved": saved(held.shed, usages, prices) if prices and usages else None,
    }
