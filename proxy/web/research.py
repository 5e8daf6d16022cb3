"""Research: what sub-agents were asked and found out, how it was used again, and what has changed since."""

from __future__ import annotations

from aiohttp import web

from proxy.web.rendering import show
from proxy.web.visit import PageVisit

LISTED = 30


async def research(visit: PageVisit) -> web.StreamResponse:
    """``?q=…``: the newest, or those that have to do with a text."""
    text = visit.query("q")
    told = await visit.ask("GET", "research", query={"text": text}, limit=LISTED)
    return await show(visit, "research.html", "Research", found=told["research"], text=text, saved=told["saved"])


async def stale(visit: PageVisit) -> web.StreamResponse:
    """What is too old, or read files that have changed since."""
    return await show(visit, "stale.html", "Stale research", stale=await visit.ask("GET", "research/stale"))


async def one(visit: PageVisit) -> web.StreamResponse:
    """``?trail=1``: one whole, with all that was read for it."""
    query = {"trail": "1"} if visit.query("trail") else {}
    found = await visit.ask("GET", "research/{id}", query=query, id=visit.request.match_info["id"])
    return await show(visit, "one_research.html", "One research", found=found, trail=found.get("trail"))


async def forget(visit: PageVisit) -> web.StreamResponse:
    """Delete it everywhere."""
    found = await visit.ask("GET", "research/{id}", id=visit.request.match_info["id"])
    await visit.ask("DELETE", "research/{id}", id=found["id"])
    return visit.sent_to("research", f"Forgotten, everywhere: {found['title'][:200]}")
