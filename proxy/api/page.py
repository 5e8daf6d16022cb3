"""MEMORY.md of a user and a project: read it, and write the part of it that is the person's own."""

from __future__ import annotations

from aiohttp import web

from memory.scope import Scope
from proxy.api.answers import answer
from proxy.api.asked import body_of, checked_text, memory_of, scope_of
from proxy.errors import Refusal

routes = web.RouteTableDef()

LONGEST_PAGE = 20_000


@routes.get("/api/page")
async def read(request: web.Request) -> web.Response:
    """The whole page, what of it the person wrote, and where its file lies."""
    scope = _scope(request)
    memory = memory_of(request)
    text = await memory.commands.page(scope)
    return answer({"text": text, "own": await memory.pages.own(scope), "file": str(memory.pages.path(scope))})


@routes.put("/api/page")
async def write(request: web.Request) -> web.Response:
    """``{"own": …}`` takes the place of what the person had written."""
    scope = _scope(request)
    said = await body_of(request, {"own": str})
    if "own" not in said:
        raise Refusal(422, "own is missing: the text that stands above what is made from memory")
    memory = memory_of(request)
    text = await memory.commands.write_page(scope, checked_text(said["own"], "own", longest=LONGEST_PAGE))
    return answer({"text": text, "own": await memory.pages.own(scope), "file": str(memory.pages.path(scope))})


def _scope(request: web.Request) -> Scope:
    scope = scope_of(request)
    if scope.project is None:
        raise Refusal(422, "project is missing: there is a page for each user and project")
    return scope
