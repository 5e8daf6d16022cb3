"""Nobody comes in without a token, and nobody does what theirs is not for; who asked what is written down.

The token of the home folder, in a file that only its owner can read, may do everything; others stand in a file of
theirs. Web pages and foreign names were turned away before, at the door of every path.

A ticket that opens the web page, once and soon: ``palimpsest open`` trades the token for it.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TypedDict

from aiohttp import web

from memory.provenance import AuditEntry
from proxy.api.access import ACCESS, ALL, Access, is_change, refused
from proxy.api.params import body_of, reads_of, why_untold
from proxy.api.responses import FAULTS, Handler, Json, answer, fault, sentence_of
from proxy.auth.client_keys import IssuedToken, is_client_key
from proxy.auth.middleware import CHECKS
from proxy.auth.tokens import ApiToken, TokenRole
from proxy.auth.web_sessions import TICKET_SECONDS
from proxy.edge import EDGE, Edge
from proxy.fail_open import fail_open

NOT_AUDITED: Final = frozenset(
    {"/palimpsest/metrics", "/palimpsest/api", "/palimpsest/api/glance", "/palimpsest/api/status"}
)
"""What programs ask all the time, and what holds nothing of anybody's."""

RECORD_SECONDS: Final = 5.0


@web.middleware
async def authenticate(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Let in or turn away. Who checks a container's health has no token."""
    if request.path in CHECKS:
        return await handler(request)
    edge = request.app[EDGE]
    access, why = await _access(request.headers, edge)
    if access is None:
        return fault(401, why)
    ACCESS.set(access)
    response: web.StreamResponse
    if is_change(request.method, request.path) and (why := why_untold(edge, access)):
        response = fault(503, why)
    elif why := refused(access, request.method, request.path):
        response = fault(403, why)
    else:
        response = await _handled(request, handler, edge, access)
    await record(request, edge, access, response.status)
    return response


def is_token(headers: Mapping[str, str], token: str) -> bool:
    """Whether the home folder's token was sent, compared in constant time."""
    return bool(token) and hmac.compare_digest(_sent(headers).encode("utf-8", "surrogateescape"), token.encode())


async def may_know(request: web.Request) -> bool:
    """Whether who asks at a path that is open to all may be told more than those who have no token."""
    access, _ = await _access(request.headers, request.app[EDGE])
    return access is not None and not refused(access, request.method, request.path)


async def _access(headers: Mapping[str, str], edge: Edge) -> tuple[Access | None, str]:
    if is_token(headers, edge.token):
        return ALL, ""
    token = await token_of(_sent(headers), edge)
    if token is None:
        return None, (
            "this asks for a token: send `Authorization: Bearer …` with what stands in the file `token` of the home "
            "folder, a token of `palimpsest tokens add`, or a key of `palimpsest keys create --scope memory`"
        )
    if why := why_not(token):
        return None, why
    return await access_of(token, edge), ""


async def token_of(text: str, edge: Edge) -> ApiToken | None:
    """The token that a text is, in force or not, or a key that was issued for our own endpoints; None for any other."""
    if not is_client_key(text):
        return edge.tokens.of(text)
    await edge.know_client_keys(text)
    return edge.client_keys.token(text)


async def token_still(token: ApiToken, edge: Edge) -> ApiToken | None:
    """A token or key that was in force, as it stands now; None where there is none such any more."""
    if not isinstance(token, IssuedToken):
        return edge.tokens.still(token)
    await edge.refresh_client_keys()
    return edge.client_keys.token_of(token.hash)


def why_not(token: ApiToken) -> str:
    """Why a token lets nobody in; empty where it does."""
    if why := token.why_not(datetime.now(UTC)):
        return why
    if token.role is TokenRole.USER and token.user is None:
        return f"the token {token.name!r} is for one user and names none"
    return ""


async def access_of(token: ApiToken | None, edge: Edge) -> Access:
    """What may be done by who has a token; None is that of the home folder."""
    if token is None:
        return ALL
    scopes = token.scopes if isinstance(token, IssuedToken) else None
    membership = await edge.membership(token.org, token.user)
    return Access(token.name, token.role, token.user, token.org, scopes, membership, token.expires_at)


async def _handled(request: web.Request, handler: Handler, edge: Edge, access: Access) -> web.StreamResponse:
    try:
        with await reads_of(request, access):
            return await handler(request)
    except FAULTS as error:
        status, _ = sentence_of(error)
        await record(request, edge, access, status)
        raise
    except Exception as error:
        await record(request, edge, access, error.status if isinstance(error, web.HTTPException) else 500)
        raise


async def record(request: web.Request, edge: Edge, access: Access, status: int) -> None:
    """Write down who asked what: which endpoint and which memory or member, and no text."""
    if edge.memory is None or request.path in NOT_AUDITED:
        return
    resource = request.match_info.route.resource
    what = resource.canonical.removeprefix("/palimpsest/") if resource is not None else "unknown"
    id = (request.match_info.get("id") or request.match_info.get("user") or "")[:64]
    entry = AuditEntry(datetime.now(UTC), access.who, f"{request.method} {what}", id, access.user or "", status)
    await fail_open(
        edge.memory.journal.record(entry),
        default=None,
        timeout_seconds=RECORD_SECONDS,
        operation="writing the audit log",
        degradations=edge.degradations,
    )


def _sent(headers: Mapping[str, str]) -> str:
    scheme, _, bearer = headers.get("Authorization", "").strip().partition(" ")
    return headers.get("x-palimpsest-token", "").strip() or (bearer.strip() if scheme.lower() == "bearer" else "")


routes = web.RouteTableDef()


class Ticket(TypedDict):
    """The path that opens the page, once, and for how many seconds it does."""

    path: str
    seconds: float


@routes.post("/api/tickets")
async def ticket(request: web.Request) -> Json[Ticket]:
    """A new one, and the path at which it opens the page."""
    await body_of(request, {})
    ticket = request.app[EDGE].visitors.ticket()
    return answer({"path": f"/palimpsest/open?ticket={ticket}", "seconds": TICKET_SECONDS}, 201)
