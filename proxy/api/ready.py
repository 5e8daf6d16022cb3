"""Whether a balancer should send requests here."""

from __future__ import annotations

from typing import TypedDict

from aiohttp import web

from memory.session import Mode
from proxy.api.responses import Json, answer
from proxy.edge import EDGE, Edge
from proxy.settings import Role

routes = web.RouteTableDef()


class Readiness(TypedDict):
    """Whether requests are taken, with memory, and why not."""

    ready: bool
    why: str


@routes.get("/ready")
async def ready(request: web.Request) -> Json[Readiness]:
    """Whether this server takes requests, with memory: 200 where it does, 503 with a sentence where it does not, also
    while the journal does not answer or cannot be written, as far as that is known without asking it. ``?role=work``:
    whether it is the one of its replicas that does the work, and so answers on our own endpoints; only that is asked
    of a worker, which takes no model calls.
    """
    edge = request.app[EDGE]
    why = not_ready(edge)
    if request.query.get("role") == "work":
        if not why and edge.memory is not None and not edge.memory.works:
            why = "another replica does the work"
    elif edge.settings.server.role is Role.WORKER:
        why = "a worker takes no model calls (server.role)"
    return answer({"ready": not why, "why": why}, 503 if why else 200)


def not_ready(edge: Edge) -> str:
    """Why requests are better sent elsewhere; empty where they are not."""
    if edge.draining.begun.is_set():
        return "this server is about to end"
    if edge.opening:
        return "opening: the stores are not open yet"
    if edge.memory is None:
        return "" if edge.settings.memory.mode is Mode.OFF else "memory is not open"
    if edge.memory.journal.trouble:
        # Where no request comes nothing else may be written; what is found out is told the next time.
        edge.memory.journal.try_again()
        return "the journal does not answer, or takes nothing"
    return ""
