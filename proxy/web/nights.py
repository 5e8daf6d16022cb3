"""Nights: what each one changed, line by line, and the way back."""

from __future__ import annotations

from aiohttp import web

from proxy.web.rendering import show
from proxy.web.visit import PageVisit

LISTED = 60


async def nights(visit: PageVisit) -> web.StreamResponse:
    """The nights that changed something, the newest first."""
    progress = await visit.ask("GET", "consolidate")
    return await show(
        visit,
        "nights.html",
        "Nights",
        found=(await visit.ask("GET", "nights", limit=LISTED))["nights"],
        running=progress["running"],
        fault=progress["night"]["fault"] if progress["night"] else "",
    )


async def night(visit: PageVisit) -> web.StreamResponse:
    """One of them."""
    told = await visit.ask("GET", "nights/{number}", number=visit.request.match_info["number"])
    return await show(visit, "night.html", f"Night {told['number']}", held=told, told=told)


async def undo(visit: PageVisit) -> web.StreamResponse:
    """Put everything back as it was before."""
    done = await visit.ask("POST", "nights/{number}/undo", number=visit.request.match_info["number"])
    return visit.sent_to("nights", f"Night {done['undone']} was taken back.")


async def consolidate(visit: PageVisit) -> web.StreamResponse:
    """Begin a night now; it goes on beside the requests."""
    await visit.ask("POST", "consolidate")
    return visit.sent_to(
        "nights", "A night has begun. What it changes stands here when it is done: load the page again."
    )
