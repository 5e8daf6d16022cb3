"""Our own endpoints and pages below ``/palimpsest/``, read in when somebody asks for one of them.

They know every feature, and take as long to import as a server takes to listen. Models are called through us without
them, so that a start need not wait for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from aiohttp import web
from yarl import URL

from proxy.edge import EDGE, Edge

ROOT = "/palimpsest/"


class OwnEndpoints(web.AbstractResource):
    """An application of its own, which answers all that is asked below ``/palimpsest/``."""

    def __init__(self, edge: Edge) -> None:
        super().__init__()
        self._edge = edge
        self._reading: asyncio.Future[web.Application] | None = None

    async def read_in(self) -> web.Application:
        """The application, imported in a thread: requests go on meanwhile."""
        if self._reading is None or (self._reading.done() and self._reading.exception() is not None):
            self._reading = asyncio.ensure_future(asyncio.to_thread(_application, self._edge))
        # Whoever goes away must not end it for others.
        return await asyncio.shield(self._reading)

    async def resolve(self, request: web.Request) -> tuple[web.UrlMappingMatchInfo | None, set[str]]:
        """Who answers a request, whether memory is open or not: what needs it waits behind the door."""
        # Two threads that import the same packages from two ends can each wait for the other.
        await self._edge.imported.wait()
        application = await self.read_in()
        found = await application.router.resolve(request)
        found.add_app(application)
        error = found.http_exception
        return found, set(error.allowed_methods) if isinstance(error, web.HTTPMethodNotAllowed) else set()

    @property
    def canonical(self) -> str:
        """The path below which all of it lies."""
        return ROOT.rstrip("/")

    def url_for(self, **parts: str) -> URL:
        """Nothing here has a name by which its address could be asked for."""
        raise NotImplementedError

    def add_prefix(self, prefix: str) -> None:
        """Other programs know these addresses."""
        raise NotImplementedError

    def raw_match(self, path: str) -> bool:
        """Whether this is the path of the whole."""
        return path == ROOT

    def get_info(self) -> Any:
        """What aiohttp tells of a resource."""
        info: Mapping[str, str] = {"prefix": self.canonical}
        return info

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Iterator[web.AbstractRoute]:
        return iter(())


def _application(edge: Edge) -> web.Application:
    # Imported here: this is what takes long.
    from proxy import web as pages
    from proxy.api.elsewhere import elsewhere
    from proxy.api.endpoints import api
    from proxy.api.findings import FINDINGS

    application = web.Application(middlewares=[elsewhere])
    application[EDGE] = edge
    endpoints = api(edge)
    application[FINDINGS] = endpoints[FINDINGS]
    application.add_routes(pages.routes())
    application.add_subapp(ROOT, endpoints)
    application.freeze()
    return application
