"""What every request passes first, whatever its path and method."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from proxy.auth.origins import (
    NOT_SHOWN,
    OPENED,
    SANDBOX,
    cors_headers,
    is_own_host,
    is_preflight,
    is_shown,
    preflight_headers,
    refusal_reason,
)
from proxy.auth.request_target import LONGEST, authority_of
from proxy.errors import Refusal, refuse
from proxy.settings import ServerSettings
from proxy.wire import dialect_for_errors

OWN_ENDPOINTS = "/palimpsest/"
HEALTH = "/palimpsest/health"
READY = "/palimpsest/ready"
CHECKS = frozenset({HEALTH, READY})
"""May be asked by any name on a public address: they tell nothing about anybody, and who checks a container's health
calls it as it likes."""


HEAD_BYTES = 2**17
"""What the target and the headers of a request may have together."""

Answer = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


def head_check(answer: Answer) -> Answer:
    """Refuse a head that is too much to be read while every other request waits, or that expects what nobody knows,
    before a route is looked for: that takes a time that grows with the square of a path's segments, and quotes an
    expectation that may be no text."""

    async def check(request: web.BaseRequest) -> web.StreamResponse:
        refusal = _head_refusal(request)
        return await answer(request) if refusal is None else _refusal_response(request, refusal)

    return check


def site_check(server: ServerSettings) -> Middleware:
    """Turn foreign hosts and web pages away before a body is read, and answer the preflights of allowed ones."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if refusal := _refusal(request, server):
            return _refusal_response(request, refusal)
        if is_preflight(request.method, request.headers) and (headers := preflight_headers(request.headers, server)):
            return web.Response(status=204, headers={**headers, "x-palimpsest-status": "answered; preflight"})
        return await handler(request)

    return check


def cors(server: ServerSettings) -> Callable[[web.Request, web.StreamResponse], Awaitable[None]]:
    """Tell the browsers of allowed pages that they may read a reply. What a provider says about that is never
    relayed."""

    async def add_headers(request: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(cors_headers(request.headers, server))

    return add_headers


async def sandbox(request: web.Request, response: web.StreamResponse) -> None:
    """What a provider says and a browser shows as a page may not look at our own pages, nor set their cookies."""
    if not request.path.startswith(OWN_ENDPOINTS) and is_shown(request.headers):
        response.headers.update(SANDBOX)
        for name in NOT_SHOWN:
            response.headers.popall(name, None)


def _head_refusal(request: web.BaseRequest) -> Refusal | None:
    if len(request.raw_path) + sum(len(name) + len(value) for name, value in request.raw_headers) > HEAD_BYTES:
        return Refusal(431, f"the head of the request is larger than {HEAD_BYTES // 1024} KiB")
    if len(request.raw_path.partition("?")[0]) > LONGEST:
        return Refusal(414, f"the path is longer than {LONGEST} characters", "url")
    if request.headers.get("Expect", "100-continue").lower() != "100-continue":
        return Refusal(417, "of expectations only 100-continue is met here", "Expect")
    return None


def _refusal(request: web.Request, server: ServerSettings) -> Refusal | None:
    for name in ("Host", "Origin", "Sec-Fetch-Site"):
        if len(request.headers.getall(name, ())) > 1:
            return Refusal(400, f"the header {name} stands there twice", name)
    if request.headers.get("Transfer-Encoding", "chunked").strip().lower() != "chunked":
        return Refusal(501, "of transfer codings only chunked is read here", "Transfer-Encoding")
    if not request.path.startswith(OWN_ENDPOINTS) and request.headers.get("Sec-Fetch-Dest", "empty") not in OPENED:
        return Refusal(403, "a provider's reply is no script, frame or picture of a web page")
    authority = authority_of(request.raw_path)
    if request.method == "CONNECT" or (authority is not None and not is_own_host(authority, server)):
        return Refusal(421, "this is no forward proxy: give the address as a base URL, not as HTTP_PROXY")
    any_name = request.path in CHECKS and not server.loopback
    reason = refusal_reason(request.headers, server, any_name)
    return Refusal(403, reason) if reason else None


def _refusal_response(request: web.BaseRequest, refusal: Refusal) -> web.Response:
    if request.path.startswith(OWN_ENDPOINTS):
        return web.json_response({"error": refusal.message}, status=refusal.status)
    return refuse(refusal, dialect_for_errors(request.path, request.headers))
