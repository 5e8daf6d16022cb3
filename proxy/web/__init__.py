"""Our own pages, below ``/palimpsest/``: see what memory holds and does, and steer it.

``visit`` decides who is let in and what a form may change, ``login`` lets them in; ``rendering`` makes pages of
``templates``, ``plots`` drawings of values, ``static`` serves what lies beside them. Each page has a file of its own.
All of them ask the same functions as ``proxy/api`` does.
"""

from __future__ import annotations

from aiohttp import web

from proxy.web import (
    decisions,
    features,
    login,
    memories,
    memory,
    names,
    organisation,
    page,
    quarantine,
    review,
    savings,
    server,
    sessions,
    static,
    today,
)
from proxy.web.rendering import fault
from proxy.web.visit import ROOT, Page, filled_in, looked_at, safe

PAGES: dict[str, Page] = {
    "": today.today,
    "news": today.news,
    "today": today.live,
    "why": today.why,
    "requests/{id}": today.one_request,
    "content/{handle}": sessions.content,
    "memory": memories.memories,
    "memory/{id}": memory.memory,
    "memory/{id}/wrong": memory.wrong,
    "memory/{id}/forget": memory.going,
    "memory/{id}/holds": review.holds,
    "names": names.names,
    "review": review.review,
    "review/{id}": review.candidate,
    "review/{id}/approve": review.approval,
    "review/{id}/edit": review.edited,
    "review/{id}/submit": review.submission,
    "review/{id}/undo": review.undoing,
    "quarantine": quarantine.one_session,
    "page": page.page,
    "page/history": page.history,
    "sessions": sessions.sessions,
    "sessions/{id}": sessions.session,
    "research": features.research,
    "research/stale": features.stale,
    "research/{id}": features.one_research,
    "nights": features.nights,
    "nights/{number}": features.night,
    "money": savings.money,
    "status": server.health,
    "organisation": organisation.organisation,
    "settings": server.settings,
    "settings/try": server.trial,
}
"""What can be looked at, by its path."""

FORMS: dict[str, Page] = {
    "logout": login.log_out,
    "memory": memories.remember,
    "memory/{id}/edit": memory.edit,
    "memory/{id}/confirm": decisions.confirm,
    "memory/{id}/refute": decisions.refute,
    "memory/{id}/unlearn": decisions.unlearn,
    "memory/{id}/pin": memory.pin,
    "memory/{id}/forget": memory.forget,
    "memory/{id}/promote": memory.promote,
    "again": decisions.take_back,
    "drafts/{id}/confirm": decisions.confirm_draft,
    "drafts/{id}/dismiss": decisions.dismiss,
    "drafts/{id}/defer": decisions.defer,
    "review/{id}/approve": review.approve,
    "review/{id}/submit": review.submit,
    "review/{id}/reject": review.reject,
    "review/{id}/defer": review.defer,
    "review/{id}/undo": review.undo,
    "quarantine/release": quarantine.release,
    "quarantine/discard": quarantine.discard,
    "page": page.write,
    "research/{id}/forget": features.forget_research,
    "nights": features.consolidate,
    "nights/{number}/undo": features.undo_night,
    "organisation/members": organisation.add,
    "organisation/members/{user}/role": organisation.give_role,
    "organisation/members/{user}/remove": organisation.remove,
    "organisation/keys": organisation.issue_key,
    "organisation/keys/{name}/revoke": organisation.revoke_key,
    "status/pause": server.pause,
    "status/resume": server.resume,
}
"""What can be changed, by the path that its form is sent to."""


def routes() -> list[web.RouteDef]:
    """The routes of all pages, in the application itself: our other endpoints ask for the token."""
    found = [web.get(ROOT + path, looked_at(page, fault), allow_head=False) for path, page in PAGES.items()]
    found += [web.post(ROOT + path, filled_in(page, fault)) for path, page in FORMS.items()]
    found += [
        web.get(f"{ROOT}open", safe(login.opened, fault), allow_head=False),
        web.post(f"{ROOT}login", safe(login.log_in, fault)),
        web.get(f"{ROOT}static/{{name}}", safe(static.static, fault)),
    ]
    return found
