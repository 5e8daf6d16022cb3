"""Research: what sub-agents were asked and found out, how it was used again, and what has changed since."""

from __future__ import annotations

from aiohttp import web

from proxy.api.research import owners_meant, part_text
from proxy.web.rendering import show
from proxy.web.visit import PageVisit

LISTED = 30


async def research(visit: PageVisit) -> web.StreamResponse:
    """``?q=…``: the newest, or those that have to do with a text."""
    library, owners, text = visit.memory.research_library, await owners_meant(visit.request), visit.query("q")
    if text:
        hits = await library.search(text, owners, LISTED)
        found = [hit.research for hit in hits]
    else:
        found = await library.newest(owners, LISTED)
    saved = await library.saved(await library.newest(owners, 1000))
    return await show(visit, "research.html", "Research", found=found, text=text, saved=saved)


async def stale(visit: PageVisit) -> web.StreamResponse:
    """What is too old, or read files that have changed since."""
    found = await visit.memory.research_library.stale(await owners_meant(visit.request))
    return await show(visit, "stale.html", "Stale research", stale=found)


async def one(visit: PageVisit) -> web.StreamResponse:
    """``?trail=1``: one whole, with all that was read for it."""
    library, owners = visit.memory.research_library, await owners_meant(visit.request)
    found = await library.named(visit.request.match_info["id"][:100], owners)
    trail = await library.trail(found) if visit.query("trail") else None
    return await show(
        visit,
        "one_research.html",
        "One research",
        found=found,
        changed=(await library.changed(found)).files,
        uses=await library.uses([found]),
        trail=trail and [(message.role.value, [part_text(part) for part in message.parts]) for message in trail],
    )


async def forget(visit: PageVisit) -> web.StreamResponse:
    """Delete it everywhere."""
    memory, owners = visit.memory, await owners_meant(visit.request)
    found = await memory.research_library.named(visit.request.match_info["id"][:100], owners)
    await memory.research_worker.forget(found)
    memory.session_matcher.forget()
    return visit.sent_to("research", f"Forgotten, everywhere: {found.title[:200]}")
