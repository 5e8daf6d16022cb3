"""How things stand, for those who have the token; pause and resume; which project a folder is."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from aiohttp import web

from memory.hooks.feature import FeatureQuestion
from memory.hooks.route_request import Fields
from memory.ports import Counts
from memory.services.reindexing import Progress
from memory.version import release
from proxy.api import savings, sessions
from proxy.api.health import MemoryMode, mode, unwell
from proxy.api.params import memory_of, query_limit, query_text
from proxy.api.responses import Json, answer
from proxy.edge import EDGE
from proxy.errors import Refusal
from proxy.fail_open import MemoryFailure
from proxy.passthrough_log import PassthroughKind
from proxy.runtimes.environment import ClientEnvironment, project_of

routes = web.RouteTableDef()

DAYS = 30
"""Days of which the sums are told, unless other ones are asked for."""

SHED = 10
"""Sessions of which parts are left out that are told: those seen last."""


class Server(TypedDict):
    """The version that runs, its home folder and its process."""

    palimpsest: str
    home: str
    pid: int


class Glance(TypedDict):
    """What a status line tells; how much is remembered is missing while memory is not open."""

    status: Literal["ok", "degraded"]
    why: list[str]
    memory: MemoryMode
    memories: NotRequired[int]
    candidates: NotRequired[int]
    sums: NotRequired[savings.Sums]


class TimesPassed(TypedDict):
    """How often."""

    count: int


class EmbedderName(TypedDict):
    """The embedder that searches."""

    name: str
    dimensions: int


class Status(TypedDict):
    """How things stand: which requests were ``passed`` on without memory, its ``failures`` by kind and the ``latest``
    of them. The rest is missing while memory is not open: what is ``stored``; what is ``waiting`` for the index and
    ``kept`` for the journal; the exchanges that were ``lost``, and those in ``broken`` files; what is ``asked`` of a
    person; and the sessions of which parts are left out (``shed``)."""

    status: Literal["ok", "degraded"]
    why: list[str]
    version: str
    pid: int
    home: str
    up_seconds: int
    memory: MemoryMode
    failures: dict[str, int]
    passed: list[Annotated[dict[str, Any], Fields("PassedOn", PassthroughKind, TimesPassed)]]
    latest: list[MemoryFailure]
    stored: NotRequired[Counts]
    waiting: NotRequired[int]
    kept: NotRequired[int]
    lost: NotRequired[int]
    broken: NotRequired[int]
    embedder: NotRequired[EmbedderName]
    reindexing: NotRequired[Progress | None]
    sums: NotRequired[savings.Sums]
    asked: NotRequired[list[FeatureQuestion]]
    shed: NotRequired[list[sessions.SessionStanding]]


class Paused(TypedDict):
    """Whether memory learns nothing and adds nothing new."""

    paused: bool


class FolderProject(TypedDict):
    """The project of a folder; None where it is none's."""

    directory: str
    project: str | None


@routes.get("/api")
async def hello(request: web.Request) -> Json[Server]:
    """Which server this is; answers at once, whatever state memory is in."""
    home = str(request.app[EDGE].settings.home)
    return answer({"palimpsest": release(), "home": home, "pid": os.getpid()})


@routes.get("/api/glance")
async def glance(request: web.Request) -> Json[Glance]:
    """The numbers of the status line: health, how much is remembered, what was done today."""
    edge = request.app[EDGE]
    why = await unwell(edge)
    data: Glance = {"status": "degraded" if why else "ok", "why": why, "memory": mode(edge)}
    if edge.memory is not None:
        counts = await edge.memory.journal.counts()
        data["memories"], data["candidates"] = counts.facts + counts.passages, counts.candidates
        data["sums"] = await savings.summed(edge.memory, 1, edge.now())
    return answer(data)


@routes.get("/api/status")
async def status(request: web.Request) -> Json[Status]:
    """Where we run, how much is stored, what is behind and what has failed; and what was done to the requests of the
    last ``days``."""
    edge = request.app[EDGE]
    why = await unwell(edge)
    data: Status = {
        "status": "degraded" if why else "ok",
        "why": why,
        "version": release(),
        "pid": os.getpid(),
        "home": str(edge.settings.home),
        "up_seconds": round(time.time() - edge.started_at),
        "memory": mode(edge),
        "failures": edge.degradations.counts,
        "passed": [each._asdict() | {"count": count} for each, count in edge.passed.counted],
        "latest": edge.degradations.since(3600)[-10:],
    }
    if edge.memory is not None:
        standing = await edge.memory.commands.standing()
        embedder = edge.memory.embedder
        progress = edge.memory.reindexer.progress
        data |= {
            "stored": standing.counts,
            "waiting": standing.waiting,
            "kept": standing.kept,
            "lost": standing.lost,
            "broken": standing.broken,
            "embedder": {"name": embedder.name, "dimensions": embedder.dimensions},
            "reindexing": progress,
            "sums": await savings.summed(edge.memory, query_limit(request, DAYS, "days"), edge.now()),
            "asked": [*await edge.memory.features.asks(await edge.memory.journal.owners())],
            "shed": [each for each in await sessions.standing(edge.memory.journal) if each["shed"]][:SHED],
        }
    return answer(data)


@routes.post("/api/pause")
async def pause(request: web.Request) -> Json[Paused]:
    """Learn nothing and add nothing new; what was added to open sessions is still repeated."""
    memory = memory_of(request)
    await asyncio.to_thread(memory.pause.begin)
    return answer({"paused": memory.pause.on})


@routes.post("/api/resume")
async def resume(request: web.Request) -> Json[Paused]:
    """Take part again."""
    memory = memory_of(request)
    await asyncio.to_thread(memory.pause.end)
    return answer({"paused": memory.pause.on})


@routes.get("/api/project")
async def project(request: web.Request) -> Json[FolderProject]:
    """``?directory=/home/ada/boat``: its project's name."""
    directory = query_text(request, "directory", required=True)
    if not directory.startswith("/") and directory[1:3] not in (":\\", ":/"):
        raise Refusal(422, "directory is not an absolute path")
    place = request.app[EDGE].checkouts.locate(ClientEnvironment(directory=directory))
    return answer({"directory": directory, "project": project_of(place)})
