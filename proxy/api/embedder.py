"""The index: fill it anew, with the same embedder or another, beside the one that is searched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict

from aiohttp import web

from memory.hooks.route_request import checked_text
from memory.models.embedder_choice import NAMES, load, well_formed
from memory.parts import Memory
from memory.ports import Embedder
from memory.services.reindexing import Progress, ReindexInProgress
from proxy.api.params import body_of, memory_of
from proxy.api.responses import Json, answer
from proxy.edge import EDGE, Edge
from proxy.errors import Refusal
from proxy.fail_open import fail_open
from proxy.setting_sources import choose_for_home

routes = web.RouteTableDef()

DAY = 86_400.0


class Reindexing(TypedDict):
    """Whether an index is being filled, and how far the last one is; None where none was begun since the start."""

    running: bool
    progress: Progress | None


class EmbedderInUse(Reindexing):
    """The embedder, and the names of those that can be chosen."""

    name: str
    dimensions: int
    names: Sequence[str]


class ReindexBegun(TypedDict):
    """An index is being filled with an embedder."""

    began: bool
    embedder: str


@routes.get("/api/embedder")
async def embedder(request: web.Request) -> Json[EmbedderInUse]:
    """The embedder in use, and the progress of a change of it."""
    memory = memory_of(request)
    progress = memory.reindexer.progress
    return answer(
        {
            "name": memory.embedder.name,
            "dimensions": memory.embedder.dimensions,
            "names": NAMES,
            "running": memory.reindexer.running,
            "progress": progress,
        }
    )


@routes.post("/api/embedder")
async def use(request: web.Request) -> Json[ReindexBegun]:
    """``{"use": "minilm"}``: fetch an embedder, fill an index with it, then search that. GET tells the progress."""
    memory = memory_of(request)
    body = await body_of(request, {"use": str})
    name = checked_text(body.get("use", ""), "use", required=True, longest=200)
    if not well_formed(name):
        raise Refusal(422, f"there is no embedder {name!r}; there are: {', '.join(NAMES)}")
    edge = request.app[EDGE]
    _begin(edge, memory, name, lambda: load(name, memory.home / "models"), chosen=name)
    return answer({"began": True, "embedder": name}, 202)


@routes.get("/api/reindex")
async def progress(request: web.Request) -> Json[Reindexing]:
    """The progress of rebuilding the index; null where none was begun since the start."""
    memory = memory_of(request)
    progress = memory.reindexer.progress
    return answer({"running": memory.reindexer.running, "progress": progress})


@routes.post("/api/reindex")
async def reindex(request: web.Request) -> Json[ReindexBegun]:
    """Rebuild the index from the journal. Answers at once; GET tells the progress."""
    memory = memory_of(request)
    await body_of(request, {})
    begin_reindex(request.app[EDGE], memory)
    return answer({"began": True, "embedder": memory.embedder.name}, 202)


def begin_reindex(edge: Edge, memory: Memory) -> None:
    """Rebuild the index from the journal, beside.

    Raises:
        ReindexInProgress: when one is being filled.
    """
    held = memory.embedder
    _begin(edge, memory, held.name, lambda: held)


def _begin(edge: Edge, memory: Memory, name: str, load: Callable[[], Embedder], chosen: str = "") -> None:
    """Run it beside.

    Raises:
        Busy: when one is running.
    """
    if memory.reindexer.running:
        raise ReindexInProgress("an index is being filled already: wait until it is done")

    async def run() -> None:
        done, why = await fail_open(
            memory.reindexer.run(name, load),
            default=None,
            timeout_seconds=DAY,
            operation="filling a new index",
            degradations=edge.degradations,
        )
        if done is not None and not why and chosen:
            choose_for_home(memory.home, chosen)

    edge.run_in_background(run())
