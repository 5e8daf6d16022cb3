"""Of several replicas one does the work that one alone must do, and takes what changes memory on our own endpoints.

Which one that is can be told when memory is open, and what asks memory waits for that once it is let in.
"""

from __future__ import annotations

from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler

from proxy.api.responses import fault
from proxy.auth.middleware import CHECKS, OWN_ENDPOINTS
from proxy.edge import EDGE
from proxy.errors import Refusal

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
    return fault(503, WHY) if _is_elsewhere(request) else await handler(request)


@web.middleware
async def after_opening(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let a request that was let in wait for memory, but for those that ask whether it is there."""
    if request.path not in CHECKS:
        await until_open(request)
    return await handler(request)


async def until_open(request: web.Request) -> None:
    """Wait until memory is open, or cannot be opened.

    Raises:
        Refusal: 503, when it turns out then that another replica must do this.
    """
    edge = request.app[EDGE]
    if not edge.tried.is_set():
        await edge.opened()
        if _is_elsewhere(request):
            raise Refusal(503, WHY)


def _is_elsewhere(request: web.Request) -> bool:
    return (
        request.method not in _LOOKS
        and request.path.startswith(OWN_ENDPOINTS)
        and request.path not in _ANYWHERE
        and (memory := request.app[EDGE].memory) is not None
        and not memory.works
    )
