"""Which host names are ours, and which web pages may ask.

A page in a browser can send requests to this machine, and a name of its own can be made to stand for 127.0.0.1 (DNS
rebinding). Such requests carry a foreign Host, a foreign Origin or a foreign Sec-Fetch-Site.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from proxy.settings import ServerSettings

OWN_NAMES = frozenset({"localhost", "palimpsest.localhost"})
"""Names that stand for this machine wherever they are resolved: nobody can register them."""

OWN_SITES = frozenset({"same-origin", "none"})
"""What Sec-Fetch-Site says of our own pages, and of an address that a person typed."""

MAX_AGE_SECONDS = "600"

_AUTHORITY = re.compile(r"(?:\[[0-9A-Fa-f:.]+(?:%25[\w.-]+)?\]|[\w.-]+)(?::\d{1,5})?", re.ASCII)
"""A host and a port. What is written otherwise is read in several ways."""

OPENED = frozenset({"document", "empty"})
"""What Sec-Fetch-Dest says of an address that a person opened, and of a program's own requests."""

SANDBOX = {
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""A provider's reply that a browser shows has no part in our own pages, which have the same address."""

NOT_SHOWN = ("Set-Cookie", "Clear-Site-Data", "Service-Worker-Allowed")


def refusal_reason(headers: Mapping[str, str], server: ServerSettings, any_name: bool = False) -> str:
    """Why a request is not let in, or an empty text. ``any_name``: whatever name we are called by."""
    host = headers.get("Host", "")
    if not any_name and not is_own_host(host, server):
        return f"host {host[:200]!r} not allowed: use a loopback name (localhost, 127.0.0.1), or add it to server.hosts"
    if allowed_origin(headers, server):
        return ""
    origin, site = headers.get("Origin"), headers.get("Sec-Fetch-Site")
    foreign = origin is not None and not is_own_origin(origin, host)
    if foreign or (site is not None and site.strip().lower() not in OWN_SITES):
        return "web pages of other sites may not ask here; add the page's origin to server.origins if it is yours"
    return ""


def is_own_host(host: str, server: ServerSettings) -> bool:
    """Whether a Host header names this machine for itself, the address that we listen on, or a name in
    ``server.hosts``."""
    if _AUTHORITY.fullmatch(host) is None:
        return False
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    if name in server.hosts or name in OWN_NAMES:
        return True
    listening = server.host.strip("[]").lower()
    everywhere = listening in ("0.0.0.0", "::")
    if name == listening and not everywhere:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    # Who listens on every address is called by any of them; a rebound name is never an address.
    return address.is_loopback or (everywhere and not address.is_unspecified)


def allowed_origin(headers: Mapping[str, str], server: ServerSettings) -> str:
    """The origin of the page that asks, where ``server.origins`` allows it; else an empty text."""
    origin = headers.get("Origin", "")
    low = origin.lower()
    allowed = low in server.origins or f"{low.partition('://')[0]}://*" in server.origins
    return origin if low and allowed else ""


def is_shown(headers: Mapping[str, str]) -> bool:
    """Whether a browser shows the reply as a page."""
    wanted = headers.get("Sec-Fetch-Dest")
    return wanted not in (None, "empty") or (wanted is None and headers.get("Accept", "").startswith("text/html"))


def cors_headers(headers: Mapping[str, str], server: ServerSettings) -> dict[str, str]:
    """What a reply tells the browser: that an allowed page may read it. Empty for everybody else."""
    origin = allowed_origin(headers, server)
    if not origin:
        return {}
    return {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": "*", "Vary": "Origin"}


def is_preflight(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a browser asks beforehand what a page may send."""
    return method == "OPTIONS" and "Origin" in headers and "Access-Control-Request-Method" in headers


def preflight_headers(headers: Mapping[str, str], server: ServerSettings) -> dict[str, str]:
    """The answer to a preflight of an allowed page: it may send what it asks for."""
    allowed = cors_headers(headers, server)
    if not allowed:
        return {}
    allowed["Access-Control-Allow-Methods"] = headers["Access-Control-Request-Method"]
    allowed["Access-Control-Max-Age"] = MAX_AGE_SECONDS
    if wanted := headers.get("Access-Control-Request-Headers"):
        allowed["Access-Control-Allow-Headers"] = wanted
    for network in ("Private", "Local"):
        if headers.get(f"Access-Control-Request-{network}-Network") == "true":
            allowed[f"Access-Control-Allow-{network}-Network"] = "true"
    return allowed


def is_own_origin(origin: str, host: str) -> bool:
    """Whether an Origin is that of a page of ours: the host that we are called by, with its port."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and parts.netloc.lower() == host.lower()
