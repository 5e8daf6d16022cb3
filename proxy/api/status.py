"""How things stand: more than ``health`` tells, for those who have the token."""

from __future__ import annotations

import os
import time
from dataclasses import asdict
from typing import Any

from aiohttp import web

from proxy.api import sessions
from proxy.api.answers import answer
from proxy.api.health import mode, unwell
from proxy.api.release import release
from proxy.edge import EDGE

routes = web.RouteTableDef()

SHED = 10
"""Sessions of which parts are left out that are told: those seen last."""


@routes.get("/api")
async def hello(request: web.Request) -> web.Response:
    """Who answers here: quick, and whatever state memory is in."""
    home = str(request.app[EDGE].settings.home)
    return answer({"palimpsest": release(), "home": home, "pid": os.getpid()})


@routes.get("/api/status")
async def status(request: web.Request) -> web.Response:
    """Where we run, how much is stored, what is behind and what has failed."""
    edge = request.app[EDGE]
    why = await unwell(edge)
    told: dict[str, Any] = {
        "status": "degraded" if why else "ok",
        "why": why,
        "version": release(),
        "pid": os.getpid(),
        "home": str(edge.settings.home),
        "up_seconds": round(time.time() - edge.started_at),
        "memory": mode(edge),
        "failures": edge.degradations.counts,
        "latest": [asdict(failure) for failure in edge.degradations.since(3600)][-10:],
    }
    if edge.memory is not None:
        standing = await edge.memory.commands.standing()
        embedder = edge.memory.embedder
        progress = edge.memory.reindexing.progress
        told |= {
            "stored": asdict(standing.counts),
            "waiting": standing.waiting,
            "kept": standing.kept,
            "lost": standing.lost,
            "broken": standing.broken,
            "embedder": {"name": embedder.name, "dimensions": embedder.dimensions},
            "reindexing": asdict(progress) if progress else None,
            "shed": [each for each in await sessions.standing(edge.memory.journal) if each["shed"]][:SHED],
        }
    return answer(told)
