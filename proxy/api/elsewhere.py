"""Of several replicas one does the work that one alone must do, and takes what changes memory on our own endpoints."""

from __future__ import annotations

from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from proxy.api.responses import fault
from proxy.auth.middleware import OWN_ENDPOINTS
from proxy.edge import EDGE

_LOOKS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_ANYWHERE: Final = frozenset(
    {"/palimpsest/login", "/palimpsest/logout", "/palimpsest/api/tickets", "/palimpsest/api/provenance"}
)
"""What changes nothing that is anybody else's."""

WHY: Final = (
    "another replica does the work, and takes this: send it there (a balancer finds it by /palimpsest/ready?role=work)"
)


@web.middleware
async def elsewhere(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Refuse what another replica must do."""
    if (
        request.method not in _LOOKS
        and request.path.startswith(OWN_ENDPOINTS)
        and request.path not in _ANYWHERE
        and (memory := request.app[EDGE].memory) is not None
        and not memory.works
    ):
        return fault(503, WHY)
    return await handler(request)
