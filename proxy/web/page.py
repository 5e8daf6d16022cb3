"""Page: MEMORY.md of a project as it stands, and the person's own words and each stream to be edited in place."""

from __future__ import annotations

import hashlib
from urllib.parse import urlencode

from aiohttp import web

from memory.fact import Stream
from memory.scope import Scope
from proxy.api.page import MAX_PAGE_CHARS, OWN, budget, states
from proxy.api.params import taught
from proxy.errors import Refusal
from proxy.web.memories import projects
from proxy.web.rendering import show
from proxy.web.visit import PageVisit


async def page(visit: PageVisit) -> web.StreamResponse:
    """``?project=…``: its page; without one, that of the project seen last."""
    known = projects(await visit.everything())
    project = visit.project or await _newest(visit, known)
    if not project:
        return await show(
            visit, "page.html", "Page", project="", projects=known, parts_of=[], budget={}, text="", faults=()
        )
    scope = Scope(visit.scope.org, visit.scope.user, project)
    memory = visit.memory
    text, faults = await memory.commands.page(scope), memory.pages.faults(scope)
    parts = [(OWN, memory.pages.path(scope), await memory.pages.own(scope))]
    parts += [(stream.value, file, content) for stream, (file, content) in (await memory.pages.files(scope)).items()]
    return await show(
        visit,
        "page.html",
        "Page",
        project=project,
        projects=known if project in known else sorted([*known, project]),
        parts_of=[
            {"name": name, "file": file, "text": content, "mark": _mark(content)} for name, file, content in parts
        ],
        budget=budget(text, parts[0][2], memory.settings.page.tokens),
        text=text,
        faults=faults,
    )


async def history(visit: PageVisit) -> web.StreamResponse:
    """``?project=…``: the page as its sessions were given it."""
    if not visit.project:
        raise Refusal(422, "project is missing: there is a page for each")
    found = await states(visit.memory, Scope(visit.scope.org, visit.scope.user, visit.project))
    return await show(visit, "page_history.html", "Page as it was", project=visit.project, states=found)


async def write(visit: PageVisit) -> web.StreamResponse:
    """``own=…&identity=…``: what has changed in these is written, and memory follows. Each comes with the mark of what
    was shown: what somebody else has changed meanwhile is not written over."""
    project = visit.project
    if not project:
        raise Refusal(422, "project is missing: there is a page for each")
    scope, memory = Scope(visit.scope.org, visit.scope.user, project), visit.memory
    own = await memory.pages.own(scope)
    files = await memory.pages.files(scope)
    there = {OWN: own, **{stream.value: text for stream, (_, text) in files.items()}}
    changed: dict[str, str] = {}
    for name, was in there.items():
        if name not in visit.form:
            continue
        text = visit.filled(name, longest=MAX_PAGE_CHARS)
        if text.strip() == was.strip():
            continue
        if visit.filled(f"{name}.mark") != _mark(was):
            raise Refusal(409, f"{name} has changed since you opened it: load the page again, and put your words in")
        changed[name] = text
    streams = {Stream(name): text for name, text in changed.items() if name != OWN}
    if changed:
        await memory.commands.write_page(taught(scope), changed.get(OWN), streams, visit.access.asker)
    faults = memory.pages.faults(scope)
    notice = "Written, and memory follows." if changed else "Nothing was changed."
    if faults:
        notice = "Written; some of it could not be taken into memory, see below."
    return visit.sent_to(f"page?{urlencode({'project': project})}", notice)


async def _newest(visit: PageVisit, known: list[str]) -> str:
    latest = await visit.memory.journal.latest(20, "", visit.scope)
    seen = (session.scope.project for session, _ in latest)
    return next((name for name in seen if name in known), known[0] if known else "")


def _mark(text: str) -> str:
    return hashlib.sha256(text.strip().encode("utf-8", "replace")).hexdigest()[:16]
