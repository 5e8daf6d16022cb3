"""The server: whether all is well, what is stored and what failed, pause and resume, and the settings in force."""

from __future__ import annotations

import asyncio
import time

from aiohttp import web

from proxy.api.config import compared
from proxy.api.findings import found_last
from proxy.api.health import unwell
from proxy.settings import Loaded
from proxy.web.rendering import show
from proxy.web.visit import PageVisit

LATEST = 20


async def health(visit: PageVisit) -> web.StreamResponse:
    """The page; also while memory is not open."""
    edge = visit.edge
    memory = edge.memory
    found = await found_last(visit.request)
    return await show(
        visit,
        "health.html",
        "Health",
        why=await unwell(edge),
        checks=found.checks,
        backups=found.backups,
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


async def trial(visit: PageVisit) -> web.StreamResponse:
    """``?trim=…&fold=…&rotate=…&target=…&tokens=…``: thresholds tried on the requests that came last."""
    told = await compared(visit.memory, visit.scope, visit.request.query)
    return await show(visit, "trial.html", "Try thresholds", before=told["now"], after=told["then"])


async def settings(visit: PageVisit) -> web.StreamResponse:
    """``?q=…&changed=1``: all of them, those with a text in their names, or those that are no defaults."""
    text, changed = visit.query("q").casefold(), visit.query("changed") == "1"
    rows = [
        (key, value, source)
        for key, value, source in Loaded(visit.edge.settings, visit.edge.sources).rows()
        if text in key.casefold() and not (changed and source == "default")
    ]
    return await show(
        visit,
        "settings.html",
        "Settings",
        rows=rows,
        text=visit.query("q"),
        changed=changed,
        home=visit.edge.settings.home,
    )
