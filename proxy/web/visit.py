"""One visit of the web page: who comes, what they filled in, and what is refused.

Whoever looks needs the session that a ticket or the token was traded for. Whoever changes something must come from a
page of ours, too: by the browser's own word (``Origin``, ``Sec-Fetch-Site``) and by the token in the form.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import parse_qsl

from aiohttp import web

from memory.hooks.route_request import checked_text
from memory.parts import Memory
from memory.scope import Scope
from proxy.api.access import ACCESS, ALL, Access, leaves, page_refused
from proxy.api.auth import access_of, record, token_still, why_not
from proxy.api.elsewhere import until_open
from proxy.api.features import ask
from proxy.api.params import LARGEST, changeable, memory_of, owners_of, query_text, reads_of, scope_of, why_untold
from proxy.api.responses import FAULTS, Handler, sentence_of
from proxy.auth.origins import is_own_origin
from proxy.auth.web_sessions import WebSession, cookie_name
from proxy.edge import EDGE, Edge
from proxy.errors import Refusal
from proxy.fail_open import fail_open

ROOT: Final = "/palimpsest/"

EVERYTHING: Final = web.RequestKey("everything", tuple[str, ...])
"""All owners of the person's, once a part of the page has asked for them."""

WITHIN = 60.0
"""Seconds that a page may take."""

FIELDS = 64
"""Fields that a form may have."""

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # With no-referrer a browser would send the Origin of a form as "null".
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True, slots=True)
class PageVisit:
    """A request of somebody who has been let in, and may do what ``access`` says. ``form`` is what they filled in,
    empty where they only look."""

    request: web.Request
    session: WebSession
    access: Access
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def edge(self) -> Edge:
        """The running server."""
        return self.request.app[EDGE]

    @property
    def memory(self) -> Memory:
        """The open memory.

        Raises:
            Refusal: 503, when there is none at the moment.
        """
        return memory_of(self.request)

    @property
    def now(self) -> datetime:
        """The moment, by the clock by which requests arrive."""
        return self.edge.now()

    @property
    def project(self) -> str:
        """The project that is looked at; empty for all."""
        return self.query("project")

    @property
    def scope(self) -> Scope:
        """Whose memories are meant: those of the settings' own person, or of whose token it is."""
        return scope_of(self.request)

    async def owners(self) -> tuple[str, ...]:
        """The owners of the project that is looked at, or all of the person's."""
        return await owners_of(self.request)

    async def everything(self) -> tuple[str, ...]:
        """All owners of the person's, whatever project is looked at; where a form changes memories, those that it may
        change."""
        return await changeable(self.request, await self._every_seen())

    async def _every_seen(self) -> tuple[str, ...]:
        """All owners of the person's, asked for once, since a page has many parts."""
        if EVERYTHING not in self.request:
            self.request[EVERYTHING] = await self.memory.commands.everything_of(self.scope)
        return self.request[EVERYTHING]

    async def ask(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, str] | None = None,
        limit: int = 0,
        everything: bool = False,
        **names: str,
    ) -> Any:
        """What a feature's endpoint answers, of the project that is looked at, or of all that is the person's."""
        owners = await self._every_seen() if everything else None
        return await ask(self.request, method, path, names=names, body=body, query=query, limit=limit, owners=owners)

    def query(self, key: str) -> str:
        """A text in the query; one that is empty is none."""
        return query_text(self.request, key) if self.request.query.get(key, "").strip() else ""

    def filled(self, key: str, required: bool = False, longest: int = 4000) -> str:
        """A field of the form.

        Raises:
            Refusal: 422, when it is missing though it is required, too long, or no text.
        """
        return checked_text(self.form.get(key, ""), key, required, longest)

    def sent_to(self, path: str, notice: str = "") -> web.Response:
        """Send the browser on to another page, which tells the ``notice``."""
        if notice:
            self.session.notice = notice
        return web.Response(status=303, headers={"Location": ROOT + path})


Page = Callable[[PageVisit], Awaitable[web.StreamResponse]]
Fault = Callable[[web.Request, WebSession | None, int, str], Awaitable[web.Response]]
"""Makes the page that tells a fault; without a session it also tells how to get one."""


def looked_at(page: Page, fault: Fault) -> Handler:
    """The handler of a page that shows something."""

    async def visited(request: web.Request) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if origin is not None and not is_own_origin(origin, request.host):
            return await fault(request, None, 403, "pages of other sites may not look here")
        session = await session_of(request)
        if session is None:
            return await fault(request, None, 401, "")
        access = await _enter_session(request, session, changes=False)
        await until_open(request)
        if access is not ALL:
            await record(request, request.app[EDGE], access, 200)
        with await reads_of(request, access):
            return await page(PageVisit(request, session, access))

    return safe(visited, fault)


def filled_in(page: Page, fault: Fault) -> Handler:
    """The handler of a form that changes something."""

    async def visited(request: web.Request) -> web.StreamResponse:
        from_own_page(request)
        session = await session_of(request)
        if session is None:
            return await fault(request, None, 401, "")
        form = await form_of(request)
        if not hmac.compare_digest(form.pop("form", "").encode("utf-8", "replace"), session.form.encode()):
            raise Refusal(403, "the form is an old one: go back, load the page again, and send it once more")
        access = await _enter_session(request, session, changes=True)
        await until_open(request)
        try:
            answer = await page(PageVisit(request, session, access, form))
        except FAULTS as error:
            await record(request, request.app[EDGE], access, sentence_of(error)[0])
            raise
        await record(request, request.app[EDGE], access, answer.status)
        return answer

    return safe(visited, fault)


async def _enter_session(request: web.Request, session: WebSession, changes: bool) -> Access:
    """What a session allows, which holds from here on.

    Raises:
        Refusal: 403, when this is not among it; 503, when that cannot be told of a change.
    """
    edge = request.app[EDGE]
    access = await access_of(session.token, edge)
    ACCESS.set(access)
    if changes and not leaves(request.path) and (why := why_untold(edge, access)):
        raise Refusal(503, why)
    if why := page_refused(access, changes, request.path):
        raise Refusal(403, why)
    return access


def safe(handler: Handler, fault: Fault) -> Handler:
    """A handler of which every fault becomes a page, and every answer tells the browser what it must not do."""

    async def respond(request: web.Request) -> web.StreamResponse:
        try:
            return await handler(request)
        except FAULTS as error:
            return await fault(request, await session_of(request), *sentence_of(error))
        except web.HTTPRequestEntityTooLarge:
            return await fault(request, await session_of(request), 413, "the form is too large")

    async def handle(request: web.Request) -> web.StreamResponse:
        response, why = await fail_open(
            respond(request),
            default=None,
            timeout_seconds=WITHIN,
            operation="serving a page",
            degradations=request.app[EDGE].degradations,
        )
        if response is None:
            response = await fault(request, await session_of(request), 500, f"this failed here: {why}")
        response.headers.update(HEADERS)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    return handle


async def session_of(request: web.Request) -> WebSession | None:
    """The session of a request's cookie; of none where somebody else's program sends it who has seen it, or the token
    that it began with is not in force any more."""
    edge = request.app[EDGE]
    value = request.cookies.get(cookie_name(request.host), "")
    session = edge.visitors.session(value, request.host) if value else None
    if session is not None and session.token is not None:
        token = await token_still(session.token, edge)
        if token is None or why_not(token):
            edge.visitors.leave(value)
            return None
    return None if session and session.own and not await is_own(request) else session


async def is_own(request: web.Request) -> bool:
    """Whether a request is known to come from a program of our own user on this machine."""
    edge = request.app[EDGE]
    return edge.settings.server.loopback and await edge.peers.is_own(request.transport)


def from_own_page(request: web.Request) -> None:
    """See that a form comes from a page of ours. The cookie says nothing about that: a browser sends it along from
    pages on other ports, too.

    Raises:
        Refusal: 403, when it does not, or the browser does not say.
    """
    origin, site = request.headers.get("Origin"), request.headers.get("Sec-Fetch-Site")
    if origin is None or not is_own_origin(origin, request.host):
        raise Refusal(403, "only a page of Palimpsest's own may change something here")
    if site is not None and site.strip().lower() != "same-origin":
        raise Refusal(403, "only a page of Palimpsest's own may change something here")


async def form_of(request: web.Request) -> dict[str, str]:
    """The fields of a form.

    Raises:
        Refusal: 413, 415 or 422, when it is too large, or no form.
    """
    if request.content_type != "application/x-www-form-urlencoded":
        raise Refusal(415, "this takes a form (application/x-www-form-urlencoded)")
    data = bytearray()
    async for chunk in request.content.iter_any():
        data.extend(chunk)
        if len(data) > 3 * LARGEST:
            raise Refusal(413, "the form is too large")
    try:
        fields = parse_qsl(data.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=FIELDS)
    except ValueError:
        raise Refusal(422, "the form cannot be read") from None
    # A browser ends the lines of a text as the network does.
    return {key: value.replace("\r\n", "\n") for key, value in fields}
