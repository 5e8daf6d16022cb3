"""Coming in and leaving: a ticket or the token is traded for a session, whose cookie a script cannot read."""

from __future__ import annotations

import hmac

from aiohttp import web

from proxy.api.auth import token_of, why_not
from proxy.auth.tokens import ApiToken
from proxy.auth.web_sessions import cookie_name
from proxy.edge import EDGE
from proxy.errors import Refusal
from proxy.web.rendering import rendered
from proxy.web.visit import ROOT, PageVisit, form_of, from_own_page, is_own

OLD = "This address has been used already, or is older than a minute."
NOT_YOURS = (
    "This browser's connection does not come from a program of the user who runs Palimpsest, so that an address "
    "does not open the page here. The token does."
)


async def opened(request: web.Request) -> web.StreamResponse:
    """``?ticket=…``: let a browser in."""
    edge = request.app[EDGE]
    # The command that starts a browser can be read by other users of the machine for a moment, with the ticket in it.
    if edge.settings.server.loopback and not await is_own(request):
        return rendered("login.html", 403, title="Log in", sentence=NOT_YOURS)
    if not edge.visitors.redeem(request.query.get("ticket", "")):
        return rendered("login.html", 401, title="Log in", sentence=OLD)
    return await _begin_session(request)


async def log_in(request: web.Request) -> web.StreamResponse:
    """``token=…`` in a form: let in who has the token of the home folder, or one of their own."""
    from_own_page(request)
    given = (await form_of(request)).get("token", "").strip()
    edge = request.app[EDGE]
    if edge.token and hmac.compare_digest(given.encode("utf-8", "replace"), edge.token.encode()):
        return await _begin_session(request)
    token = await token_of(given, edge)
    if token is None:
        raise Refusal(401, "That is not the token.")
    if why := why_not(token):
        raise Refusal(401, f"{why[:1].upper()}{why[1:]}.")
    return await _begin_session(request, token)


async def log_out(visit: PageVisit) -> web.StreamResponse:
    """End the session."""
    name = cookie_name(visit.request.host)
    visit.edge.visitors.leave(visit.request.cookies.get(name, ""))
    response = rendered("login.html", title="Logged out", sentence="You are logged out.")
    response.del_cookie(name, path=ROOT)
    return response


async def _begin_session(request: web.Request, token: ApiToken | None = None) -> web.Response:
    value = request.app[EDGE].visitors.begin(request.host, await is_own(request), token)
    response = web.Response(status=303, headers={"Location": ROOT})
    # Where a proxy ends TLS before us, only the browser says so.
    secure = request.scheme == "https" or request.headers.get("Origin", "").startswith("https://")
    response.set_cookie(cookie_name(request.host), value, path=ROOT, httponly=True, samesite="Strict", secure=secure)
    return response
