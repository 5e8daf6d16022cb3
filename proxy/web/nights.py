"""Nights: what each one changed, line by line, and the way back."""

from __future__ import annotations

from aiohttp import web

from memory.stores.nights import NotUndone
from proxy.api.nights import WITHIN, night_json, night_of
from proxy.errors import Refusal
from proxy.fail_open import fail_open
from proxy.web.rendering import show
from proxy.web.visit import PageVisit

LISTED = 60


async def nights(visit: PageVisit) -> web.StreamResponse:
    """The nights that changed something, the newest first."""
    memory = visit.memory
    found = await memory.journal.nights(await visit.owners(), LISTED)
    outcome = memory.night_runner.outcome
    fault = outcome.fault if outcome else ""
    return await show(
        visit,
        "nights.html",
        "Nights",
        found=found,
        running=memory.night_runner.running,
        fault=fault,
    )


async def night(visit: PageVisit) -> web.StreamResponse:
    """One of them."""
    held = await night_of(visit.request)
    return await show(visit, "night.html", f"Night {held.number}", held=held, told=await night_json(visit.memory, held))


async def undo(visit: PageVisit) -> web.StreamResponse:
    """Put everything back as it was before."""
    held = await night_of(visit.request)
    try:
        await visit.memory.night_runner.undo(held.number)
    except NotUndone as error:
        raise Refusal(409, str(error)) from None
    return visit.sent_to("nights", f"Night {held.number} was taken back.")


async def consolidate(visit: PageVisit) -> web.StreamResponse:
    """Begin a night now; it goes on beside the requests."""
    nights = visit.memory.night_runner
    if nights.running:
        raise Refusal(409, "a night is going on already: wait until it is done")
    work = nights.run(None, since=None, dry=False)
    edge = visit.edge
    edge.run_in_background(
        fail_open(work, default=None, timeout_seconds=WITHIN, operation="consolidating", degradations=edge.degradations)
    )
    return visit.sent_to(
        "nights", "A night has begun. What it changes stands here when it is done: load the page again."
    )
