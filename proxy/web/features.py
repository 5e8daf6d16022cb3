"""Pages of features: what sub-agents found out and how it was used again, and what nights changed."""

from __future__ import annotations

from aiohttp import web

from proxy.web.rendering import show
from proxy.web.visit import PageVisit

MAX_RESEARCH = 30
MAX_NIGHTS = 60


async def research(visit: PageVisit) -> web.StreamResponse:
    """``?q=…``: the newest, or those that have to do with a text."""
    text = visit.query("q")
    told = await visit.ask("GET", "research", query={"text": text}, limit=MAX_RESEARCH)
    return await show(visit, "research.html", "Research", found=told["research"], text=text, saved=told["saved"])


async def stale(visit: PageVisit) -> web.StreamResponse:
    """What is too old, or read files that have changed since."""
    return await show(visit, "stale.html", "Stale research", stale=await visit.ask("GET", "research/stale"))


async def one_research(visit: PageVisit) -> web.StreamResponse:
    """``?trail=1``: one whole, with all that was read for it."""
    query = {"trail": "1"} if visit.query("trail") else {}
    found = await visit.ask("GET", "research/{id}", query=query, id=visit.request.match_info["id"])
    return await show(visit, "one_research.html", "One research", found=found, trail=found.get("trail"))


async def forget_research(visit: PageVisit) -> web.StreamResponse:
    """Delete it everywhere."""
    found = await visit.ask("GET", "research/{id}", id=visit.request.match_info["id"])
    await visit.ask("DELETE", "research/{id}", id=found["id"])
    return visit.sent_to("research", f"Forgotten, everywhere: {found['title'][:200]}")


async def nights(visit: PageVisit) -> web.StreamResponse:
    """The nights that changed something, the newest first."""
    progress = await visit.ask("GET", "consolidate")
    return await show(
        visit,
        "nights.html",
        "Nights",
        found=(await visit.ask("GET", "nights", limit=MAX_NIGHTS))["nights"],
        running=progress["running"],
        fault=progress["night"]["fault"] if progress["night"] else "",
    )


async def night(visit: PageVisit) -> web.StreamResponse:
    """One of them."""
    told = await visit.ask("GET", "nights/{number}", number=visit.request.match_info["number"])
    return await show(visit, "night.html", f"Night {told['number']}", held=told, told=told)


async def undo_night(visit: PageVisit) -> web.StreamResponse:
    """Put everything back as it was before."""
    done = await visit.ask("POST", "nights/{number}/undo", number=visit.request.match_info["number"])
    return visit.sent_to("nights", f"Night {done['undone']} was taken back.")


async def consolidate(visit: PageVisit) -> web.StreamResponse:
    """Begin a night now; it goes on beside the requests."""
    await visit.ask("POST", "consolidate")
    return visit.sent_to(
        "nights", "A night has begun. What it changes stands here when it is done: load the page again."
    )
