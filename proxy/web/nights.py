"""Nights: what each one changed, line by line, and the way back."""

from __future__ import annotations

from aiohttp import web

from memory.stores.nights import NotUndone
from proxy.api.nights import WITHIN, night_of, night_told
from proxy.errors import Refusal
from proxy.fail_open import fail_open
from proxy.web.rendering import show
from proxy.web.visit import Visit

LISTED = 60


async def nights(visit: Visit) -> web.StreamResponse:
    """The nights that changed something, the newest first."""
    memory = visit.memory
    found = await memory.journal.nights(await visit.owners(), LISTED)
    outcome = memory.nights.outcome
    fault = outcome.fault if outcome else ""
    return await show(
        visit,
        "nights.html",
        "Nights",
        found=found,
        running=memory.nights.running,
        fault=fault,
    )


async def night(visit: Visit) -> web.StreamResponse:
    """One of them."""
    held = await night_of(visit.request)
    return await show(visit, "night.html", f"Night {held.number}", held=held, told=await night_told(visit.memory, held))


async def undo(visit: Visit) -> web.StreamResponse:
    """Put everything back as it was before."""
    held = await night_of(visit.request)
    try:
        await visit.memory.nights.undo(held.number)
    except NotUndone as error:
        raise Refusal(409, str(error)) from None
    return visit.sent_to("nights", f"Night {held.number} was taken back.")


async def consolidate(visit: Visit) -> web.StreamResponse:
    """Begin a night now; it goes on beside the requests."""
    nights = visit.memory.nights
    if nights.running:
        raise Refusal(409, "a night is going on already: wait until it is done")
    work = nights.run(None, since=None, dry=False)
    edge = visit.edge
    edge.go_beside(
        fail_open(work, otherwise=None, within=WITHIN, doing="consolidating", degradations=edge.degradations)
    )
    return visit.sent_to(
        "nights", "A night has begun. What it changes stands here when it is done: load the page again."
    )
