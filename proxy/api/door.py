"""Who comes in: nobody without the token, no web page, and nobody who calls us by a name that is not ours.

A page in a browser can send requests to this machine, and a name of its own can be made to stand for 127.0.0.1 (DNS
rebinding): such requests carry a foreign Host or Origin. Other users of the machine do not have the token, which
lies in a file that only its owner can read.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Mapping
from urllib.parse import urlsplit

from aiohttp import web

from proxy.api.answers import Handler, fault
from proxy.edge import EDGE
from proxy.settings import ServerSettings

OPEN = "/palimpsest/health"
"""Asks for no token: it tells nothing about anybody, and a container's health check has none."""


@web.middleware
async def door(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let in or turn away."""
    edge = request.app[EDGE]
    health = request.path == OPEN
    refused = turned_away(request.headers, edge.settings.server, any_name=health and not edge.settings.server.loopback)
    if refused:
        return fault(403, refused)
    if not health and not is_token(request.headers, edge.token):
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


def turned_away(headers: Mapping[str, str], server: ServerSettings, any_name: bool = False) -> str:
    """Why a request is not let in, or an empty text. ``any_name``: whatever name we are called by."""
    host = headers.get("Host", "")
    if not any_name and not is_ours(host, server):
        return f"we are not called {host!r} here: use a loopback name (localhost, 127.0.0.1) or server.host"
    origin = headers.get("Origin")
    if origin is not None and (not host or urlsplit(origin).netloc.lower() != host.lower()):
        return "web pages of other sites may not ask here"
    return ""


def is_ours(host: str, server: ServerSettings) -> bool:
    """Whether a Host header names this machine for itself, or the address that we were told to listen on."""
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    if name in ("localhost", server.host.strip("[]").lower()):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    # Who listens on every address is called by any of them; a rebound name is never an address.
    return address.is_loopback or server.host.strip("[]") in ("0.0.0.0", "::")
