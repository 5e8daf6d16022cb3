"""The project of a folder on this machine, by the name that requests from there are given."""

from __future__ import annotations

from aiohttp import web

from proxy.api.params import query_text
from proxy.api.responses import answer
from proxy.edge import EDGE
from proxy.errors import Refusal
from proxy.runtimes.environment import ClientEnvironment, project_of

routes = web.RouteTableDef()


@routes.get("/api/project")
async def project(request: web.Request) -> web.Response:
    """``?directory=/home/ada/boat``: its project's name."""
    directory = query_text(request, "directory", required=True)
    if not directory.startswith("/") and directory[1:3] not in (":\\", ":/"):
        raise Refusal(422, "directory is not an absolute path")
    place = request.app[EDGE].checkouts.locate(ClientEnvironment(directory=directory))
    return answer({"directory": directory, "project": project_of(place)})
