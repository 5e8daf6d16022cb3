"""Where sessions stand: what a client's own history has grown to, what of it is forwarded, and that as a view.

Contents by their handles: what a stub in a request stands for, and which contents stay whole.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict

from aiohttp import web

from memory.edits import ContentTier
from memory.hooks.route_request import checked_text, choice
from memory.ports import Journal
from memory.scope import Scope
from memory.services.tiers.content import Contents, NoHandle, TieredContent
from memory.services.transfer.session_view import exported
from memory.session import Receipt, RequestKind, Session
from proxy.api.access import access
from proxy.api.params import body_of, memory_of, person_of, query_limit, scope_of, taught
from proxy.api.render_messages import rendered
from proxy.api.responses import Json, answer
from proxy.errors import Refusal

routes = web.RouteTableDef()

RECENT = 200
"""Sessions that are looked at."""

MISSING = (
    "The journal has no client's own bytes: these messages are made of what it knows of them, free of secrets. What "
    "stood outside the messages (instructions, the definitions of tools) and answers of memory's tools are not in it."
)


class SessionStanding(TypedDict):
    """Where a session stands: the tokens of the client's ``own`` history and of what is forwarded of it, the model's
    ``window``, whether parts are left out (``shed``), and whether it would not fit any more (``too_large``)."""

    id: str
    runtime: str
    project: str | None
    model: str
    seen_at: datetime
    segment: int
    tokens: int
    own: int
    window: int
    shed: bool
    too_large: bool


class SessionsList(TypedDict):
    """The sessions seen last."""

    sessions: list[SessionStanding]


class SessionView(TypedDict):
    """A session's newest turn, as messages of its dialect: how many messages are ``left`` out, ``shortened``, free of
    a secret (``redacted``) or ``forgotten``, and what is not in it (``note``)."""

    session: str
    runtime: str
    project: str | None
    dialect: str
    model: str
    at: datetime
    left: int
    shortened: int
    redacted: int
    forgotten: int
    note: str
    messages: list[Any]
    reply: list[Any]


@routes.get("/api/sessions")
async def sessions(request: web.Request) -> Json[SessionsList]:
    """``?runtime=codex&shed=true``: the sessions seen last, of one runtime or of all; only those that are being shed
    where that is asked for. ``own`` is the client's history in tokens, ``tokens`` what is forwarded of it."""
    runtime = checked_text(request.query.get("runtime", ""), "runtime", longest=100)
    shed = request.query.get("shed", "").lower() in ("1", "true", "yes")
    standings = await standing(memory_of(request).journal, runtime, query_limit(request, RECENT), person_of(request))
    return answer({"sessions": [each for each in standings if each["shed"] or not shed]})


@routes.get("/api/sessions/{name}")
async def view(request: web.Request) -> Json[SessionView]:
    """A session's newest turn as it was forwarded, as JSON messages of its dialect."""
    name = checked_text(request.match_info["name"], "name", longest=200)
    found = await exported(memory_of(request).journal, name, scope_of(request))
    fields: SessionView = {
        "session": found.session.id,
        "runtime": found.session.runtime,
        "project": found.session.scope.project,
        "dialect": found.dialect,
        "model": found.model,
        "at": found.at,
        "left": found.left,
        "shortened": found.shortened,
        "redacted": found.redacted,
        "forgotten": found.forgotten,
        "note": MISSING,
        "messages": rendered(found.dialect, found.messages),
        "reply": rendered(found.dialect, [found.reply]) if found.reply else [],
    }
    return answer(fields)


async def standing(
    journal: Journal, runtime: str = "", limit: int = RECENT, of: Scope | None = None
) -> list[SessionStanding]:
    """The main sessions of which sizes are known, the one seen last first; one person's where a scope is given."""
    latest = await journal.latest(limit, runtime, of)
    return [_line(*each) for each in latest if each[1].window and each[0].kind is RequestKind.MAIN]


def _line(session: Session, receipt: Receipt) -> SessionStanding:
    own = receipt.own_tokens
    return {
        "id": session.id,
        "runtime": session.runtime,
        "project": session.scope.project,
        "model": receipt.model,
        "seen_at": session.seen_at,
        "segment": session.segment,
        "tokens": receipt.tokens,
        "own": own,
        "window": receipt.window,
        "shed": receipt.saved > 0 or receipt.shed is not None,
        "too_large": own > receipt.window,
    }


class ContentPin(TypedDict):
    """A content, and whether it is kept whole."""

    handle: str
    pinned: bool


@routes.get("/api/content/{handle}")
async def content(request: web.Request) -> Json[TieredContent]:
    """``?tier=L2``: one content, in full or as ``L1`` or ``L0``; in full where a lower tier would not be shorter."""
    tier = choice(request.query.get("tier", "L2").strip().upper(), "tier", ContentTier)
    try:
        found = await Contents(memory_of(request).journal).content(_handle(request), tier, scope_of(request))
    except NoHandle as error:
        raise Refusal(422, str(error)) from None
    return answer(found)


@routes.patch("/api/content/{handle}")
async def pin(request: web.Request) -> Json[ContentPin]:
    """``{"pinned": true}``: keep a content whole in every request, or stop keeping it; not one that stands only in
    projects in which the person may only read."""
    body = await body_of(request, {"pinned": bool})
    if "pinned" not in body:
        raise Refusal(422, "pinned is missing; it is what can be changed")
    since = datetime.now().astimezone() if body["pinned"] else None
    try:
        contents, scope = Contents(memory_of(request).journal), scope_of(request)
        places = [replace(scope, project=each) for each in await contents.projects(_handle(request), scope)]
        if not any(access().asker.writes(each.project) for each in places):
            taught(min(places or [scope], key=lambda each: each.project or ""))
        handle = await contents.pin(_handle(request), scope, since)
    except NoHandle as error:
        raise Refusal(422, str(error)) from None
    return answer({"handle": handle, "pinned": body["pinned"]})


def _handle(request: web.Request) -> str:
    return request.match_info["handle"][:100]
