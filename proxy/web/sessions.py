"""Sessions: where each one stands, one as a strip of its window over time, and a content that left its requests."""

from __future__ import annotations

from aiohttp import web

from memory.edits import ContentTier
from memory.services.tiers.content import Contents, NoHandle
from memory.session import Session
from proxy.api.sessions import standing
from proxy.errors import Refusal
from proxy.web.plots.window import WindowUse, strip, usage
from proxy.web.rendering import show
from proxy.web.today import changed, request
from proxy.web.visit import PageVisit

SEEN = 60
"""Sessions that are listed."""

REQUESTS = 400
"""Requests of a session that are drawn; its newest."""

MAX_LISTED = 60
"""Of these, that are told one by one."""


async def sessions(visit: PageVisit) -> web.StreamResponse:
    """The sessions seen last."""
    found = await standing(visit.memory.journal, "", SEEN, visit.scope)
    found = [each for each in found if visit.project in ("", each["project"])]
    return await show(
        visit,
        "sessions.html",
        "Sessions",
        found=[each | {"bar": usage(each["tokens"], each["window"])} for each in found],
    )


async def session(visit: PageVisit) -> web.StreamResponse:
    """One session."""
    id = visit.request.match_info["id"]
    held = (await visit.memory.journal.sessions_by_id([id])).get(id)
    if held is None or not _own(visit, held):
        raise Refusal(404, f"there is no session {id[:64]!r}")
    receipts = await visit.memory.journal.receipts_of_session(id, visit.scope, REQUESTS)
    turns = [each for each in receipts if each.kind.teaches and each.window]
    uses = [
        WindowUse(
            each.at,
            each.tokens,
            each.tokens + max(each.saved, 0),
            each.window,
            each.shed.step if each.shed else "",
            len(each.shown) + len(each.paged),
        )
        for each in reversed(turns)
    ]
    touched = [each for each in receipts if changed(each)]
    return await show(
        visit,
        "session.html",
        "One session",
        held=held,
        strip=strip(uses) if uses else None,
        requests=[request(each, held) for each in touched[:MAX_LISTED]],
        further=max(len(touched) - MAX_LISTED, 0),
        untouched=len(receipts) - len(touched),
    )


def _own(visit: PageVisit, held: Session) -> bool:
    return (held.scope.org, held.scope.user) == (visit.scope.org, visit.scope.user)


MAX_CONTENT_CHARS = 200_000
"""Characters that a page shows of one."""


async def content(visit: PageVisit) -> web.StreamResponse:
    """One content."""
    name = visit.request.match_info["handle"][:100]
    try:
        found = await Contents(visit.memory.journal).content(name, ContentTier.L2, visit.scope)
    except NoHandle as error:
        raise Refusal(422, str(error)) from None
    return await show(visit, "content.html", "A content", found=found, longest=MAX_CONTENT_CHARS)
