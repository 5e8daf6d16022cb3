"""What a stub stands for: a content that left a request, whole, by its handle."""

from __future__ import annotations

from aiohttp import web

from memory.edits import ContentTier
from memory.services.tiers.content import Contents, NoHandle
from proxy.errors import Refusal
from proxy.web.rendering import show
from proxy.web.visit import PageVisit

MAX_CONTENT_CHARS = 200_000
"""Characters that a page shows of one."""


async def content(visit: PageVisit) -> web.StreamResponse:
    """One content."""
    name = visit.request.match_info["handle"][:100]
    try:
        found = await Contents(visit.memory.journal).content(name, ContentTier.L2, visit.scope)
    except NoHandle as error:
        raise Refusal(422, str(error)) from None
    return await show(visit, "content.html", "A content", found=found, longest=MAX_CONTENT_CHARS)
