"""Health: whether all is well, what is stored, what failed, which clients were passed on; pause and resume."""

from __future__ import annotations

import asyncio
import time

from aiohttp import web

from proxy.api.health import unwell
from proxy.web.rendering import show
from proxy.web.visit import PageVisit

LATEST = 20


async def health(visit: PageVisit) -> web.StreamResponse:
    """The page; also while memory is not open."""
    edge = visit.edge
    memory = edge.memory
    return await show(
        visit,
        "health.html",
        "Health",
        why=await unwell(edge),
        home=edge.settings.home,
        up=round(time.time() - edge.started_at),
        standing=await memory.commands.standing() if memory else None,
        embedder=memory.embedder if memory else None,
        reindexing=memory.reindexer.progress if memory else None,
        counts=sorted(edge.degradations.counts.items(), key=lambda each: -each[1]),
        latest=list(reversed(edge.degradations.since(86_400)))[:LATEST],
        passed=edge.passed.counted,
    )


async def pause(visit: PageVisit) -> web.StreamResponse:
    """Learn nothing and add nothing new."""
    await asyncio.to_thread(visit.memory.pause.begin)
    return visit.sent_to("status", "Memory is paused: nothing is learnt, and nothing new is added.")


async def resume(visit: PageVisit) -> web.StreamResponse:
    """Take part again."""
    await asyncio.to_thread(visit.memory.pause.end)
    return visit.sent_to("status", "Memory is on.")
