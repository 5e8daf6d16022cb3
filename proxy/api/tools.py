"""Memory's tools, for programs that reach them by themselves: ``palimpsest mcp``."""

from __future__ import annotations

from typing import TypedDict

from aiohttp import web

from memory.fact import Origin
from memory.services.tool_calls import ToolCaller
from memory.session import Mode
from proxy.api.params import body_of, memory_of, scope_of
from proxy.api.responses import Json, answer
from proxy.edge import EDGE
from proxy.errors import Refusal

routes = web.RouteTableDef()

SESSION = "a tool of its own"
"""Stands in the place of a session: what calls us here does not say in which one."""


class ToolAnswer(TypedDict):
    """A text for a model, the ids of the memories in it, and whether the call failed."""

    text: str
    memories: tuple[str, ...]
    failed: bool


@routes.post("/api/tools/{name}")
async def call(request: web.Request) -> Json[ToolAnswer]:
    """``{"arguments": {…}}``, ``?project=…``: the answer to a call, as text for a model.

    What a model notes here carries the trust of a tool's output: nobody knows what it has read before.
    """
    body = await body_of(request, {"arguments": dict})
    scope, memory, settings = scope_of(request), memory_of(request), request.app[EDGE].settings
    project = settings.projects.get(scope.project or "")
    modes = {settings.memory.mode, project.memory if project else Mode.ON}
    if Mode.OFF in modes:
        raise Refusal(403, "memory is switched off for this project (projects.NAME.memory)")
    asker = ToolCaller(scope, SESSION, Origin.TOOL, writes=modes == {Mode.ON} and not memory.pause.on)
    result = await memory.tools.answer(request.match_info["name"], body.get("arguments", {}), asker)
    return answer({"text": result.text, "memories": result.memories, "failed": result.failed})
