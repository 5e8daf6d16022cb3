"""Nobody comes in without the token, which lies in a file that only its owner can read.

Web pages and foreign names were turned away before, at the door of every path.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from aiohttp import web

from proxy.api.answers import Handler, fault
from proxy.door.middleware import HEALTH
from proxy.edge import EDGE


@web.middleware
async def door(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let in or turn away. Health asks for no token: a container's health check has none."""
    if request.path != HEALTH and not is_token(request.headers, request.app[EDGE].token):
        return fault(
            401,
            "this asks for the token: send `Authorization: Bearer …` with what stands in the file `token` of the home "
            "folder",
        )
    return await handler(request)


def is_token(headers: Mapping[str, str], token: str) -> bool:
    """Whether the token was sent, compared in constant time."""
    scheme, _, bearer = headers.get("Authorization", "").strip().partition(" ")
    told = headers.get("x-palimpsest-token", "").strip() or (bearer.strip() if scheme.lower() == "bearer" else "")
    return bool(token) and hmac.compare_digest(told.encode("utf-8", "surrogateescape"), token.encode())
