"""Contents by their handles: what a stub in a request stands for, and which contents stay whole."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from aiohttp import web

from memory.edits import ContentTier
from memory.hooks.params import choice
from memory.services.tiers.content import Contents, NoHandle
from proxy.api.params import body_of, memory_of, scope_of
from proxy.api.responses import answer
from proxy.errors import Refusal

routes = web.RouteTableDef()


@routes.get("/api/content/{handle}")
async def content(request: web.Request) -> web.Response:
    """``?tier=L2``: one content, in full or as ``L1`` or ``L0``; in full where a lower tier would not be shorter."""
    tier = choice(request.query.get("tier", "L2").strip().upper(), "tier", ContentTier)
    try:
        found = await Contents(memory_of(request).journal).content(_handle(request), tier, scope_of(request))
    except NoHandle as error:
        raise Refusal(422, str(error)) from None
    return answer(asdict(found))


@routes.patch("/api/content/{handle}")
async def pin(request: web.Request) -> web.Response:
    """``{"pinned": true}``: keep a content whole in every request, or stop keeping it."""
    body = await body_of(request, {"pinned": bool})
    if "pinned" not in body:
        raise Refusal(422, "pinned is missing; it is what can be changed")
    since = datetime.now().astimezone() if body["pinned"] else None
    try:
        handle = await Contents(memory_of(request).journal).pin(_handle(request), scope_of(request), since)
    except NoHandle as error:
        raise Refusal(422, str(error)) from None
    return answer({"handle": handle, "pinned": body["pinned"]})


def _handle(request: web.Request) -> str:
    return request.match_info["handle"][:100]
