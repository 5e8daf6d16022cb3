"""Settings: what is in force, and where each one came from. They are changed in their file."""

from __future__ import annotations

from aiohttp import web

from proxy.api.trial import compared
from proxy.settings import Loaded
from proxy.web.rendering import show
from proxy.web.visit import PageVisit


async def trial(visit: PageVisit) -> web.StreamResponse:
    """``?trim=…&fold=…&rotate=…&target=…&tokens=…``: thresholds tried on the requests that came last."""
    told = await compared(visit.memory, visit.scope, visit.request.query)
    return await show(visit, "trial.html", "Try thresholds", before=told["now"], after=told["then"])


async def settings(visit: PageVisit) -> web.StreamResponse:
    """``?q=…&changed=1``: all of them, those with a text in their names, or those that are no defaults."""
    text, changed = visit.query("q").casefold(), visit.query("changed") == "1"
    rows = [
        (key, value, source)
        for key, value, source in Loaded(visit.edge.settings, visit.edge.sources).rows()
        if text in key.casefold() and not (changed and source == "default")
    ]
    return await show(
        visit,
        "settings.html",
        "Settings",
        rows=rows,
        text=visit.query("q"),
        changed=changed,
        home=visit.edge.settings.home,
    )
