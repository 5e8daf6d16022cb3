"""Search memory as recall would, for a person to look at."""

from __future__ import annotations

from datetime import datetime

from aiohttp import web

from memory.context.past import end_of
from proxy.api import told
from proxy.api.answers import answer
from proxy.api.asked import memory_of, owners_of, query_limit, query_text
from proxy.errors import Refusal

routes = web.RouteTableDef()


@routes.get("/api/search")
async def search(request: web.Request) -> web.Response:
    """``?text=…&limit=10``: the memories that belong to it, best first, each with the parts of its score. With
    ``as_of=2026-03-04`` (a month, a year, or a time) what was known at its end."""
    text = query_text(request, "text", required=True)
    limit, now = query_limit(request, 10), datetime.now().astimezone()
    as_of = _moment(query_text(request, "as_of"), now)
    found = await memory_of(request).commands.search(text, await owners_of(request), limit, as_of)
    results = [told.memory(each.memory, now) | {"score": round(each.score, 4), "why": each.why} for each in found]
    return answer({"results": results})


def _moment(said: str, now: datetime) -> datetime | None:
    try:
        return end_of(said, now) if said else None
    except (ValueError, OverflowError):
        raise Refusal(422, f"as_of is {said[:40]!r}; it is a day, a month, a year or a time: 2026-03-04") from None
