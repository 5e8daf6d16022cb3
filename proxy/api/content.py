"""Contents by their handles: what a stub in a request stands for, and which contents stay whole."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict

from aiohttp import web

from memory.edits import ContentTier
from memory.hooks.params import choice
from memory.services.tiers.content import Contents, NoHandle, TieredContent
from proxy.api.params import body_of, memory_of, scope_of
from proxy.api.responses import Json, answer
from proxy.errors import Refusal

routes = web.RouteTableDef()


class ContentPin(TypedDict):
    """A content, and whether it is kept whole."""

    handle: str
    pinned: bool


@routes.get("/api/content/{handle}")
async def content(request: web.Request) -> Json[TieredContent]:
    """``?tier=L2``: one content, in full or as ``L1`` or ``L0``; in full where a lower tier would not be shorter."""
    tier = choice(request.query.get("tier", "L2").strip().upper(), "tier", ContentTier)
    try:
        found = await Contents(memory_of(request).journal).content(_handle(request), tier, scope_of(request))
    except NoHandle as error:
        raise Refusal(422, str(error)) from None
    return answer(found)


@routes.patch("/api/content/{handle}")
async def pin(request: web.Request) -> Json[ContentPin]:
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
