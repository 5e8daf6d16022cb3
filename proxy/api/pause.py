"""Switch memory off for a while, and on again."""

from __future__ import annotations

import asyncio

from aiohttp import web

from proxy.api.params import memory_of
from proxy.api.responses import answer

routes = web.RouteTableDef()


@routes.post("/api/pause")
async def pause(request: web.Request) -> web.Response:
    """Learn nothing and add nothing new; what was added to open sessions is still repeated."""
    memory = memory_of(request)
    await asyncio.to_thread(memory.pause.begin)
    return answer({"paused": memory.pause.on})


@routes.post("/api/resume")
async def resume(request: web.Request) -> web.Response:
    """Take part again."""
    memory = memory_of(request)
    await asyncio.to_thread(memory.pause.end)
    return answer({"paused": memory.pause.on})
