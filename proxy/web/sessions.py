"""Sessions: where each one stands, one as a strip of its window over time, and a content that left its requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from aiohttp import web

from memory.edits import ContentTier
from memory.services.tiers.content import Contents, NoHandle
from memory.session import Session
from proxy.api.sessions import standing
from proxy.errors import Refusal
from proxy.web.plots.window import SOURCES, WindowUse, strip, usage
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
            each.own_tokens,
            each.window,
            each.shed.step if each.shed else "",
            len(each.shown) + len(each.paged),
            asdict(each.sources) if each.sources else {},
        )
        for each in reversed(turns)
    ]
    touched = [each for each in receipts if changed(each)]
    left = [(each, line) for each in receipts if each.shed for line in each.shed.parts]
    return await show(
        visit,
        "session.html",
        "One session",
        held=held,
        strip=strip(uses) if uses else None,
        sources=by_source(uses),
        drawn=list(zip(turns, reversed(uses), strict=True))[:MAX_LISTED],
        left=left[:MAX_LISTED],
        left_further=max(len(left) - MAX_LISTED, 0),
        requests=[request(each, held) for each in touched[:MAX_LISTED]],
        further=max(len(touched) - MAX_LISTED, 0),
        untouched=len(receipts) - len(touched),
    )


MEANINGS = {
    "system": "the client’s instructions to the model",
    "tools": "definitions of tools",
    "page": "MEMORY.md, and a rotation’s note",
    "recall": "memories and contents that came along",
    "results": "what tools gave",
    "talk": "what was said, and calls of tools",
}
"""What each of :data:`SOURCES` is, in the words of the page."""


def by_source(uses: Sequence[WindowUse]) -> list[dict[str, Any]]:
    """What a session's last request came from, and the most that each had in one; the uppermost layer first. Nothing
    where that is not known of any."""
    known = [each for each in uses if each.sources]
    if not known:
        return []
    last = known[-1].sources
    return [
        {
            "name": name,
            "meaning": MEANINGS[name],
            "last": last.get(name, 0),
            "share": last.get(name, 0) / max(sum(last.values()), 1),
            "most": max(each.sources.get(name, 0) for each in known),
        }
        for name in reversed(SOURCES)
    ]


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
