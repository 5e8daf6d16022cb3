"""Money: what memory added and spared, in tokens and, where prices are known, in dollars. An estimate is called one."""

from __future__ import annotations

from datetime import timedelta

from aiohttp import web

from proxy.api import savings
from proxy.web.plots.balance import balance, daily
from proxy.web.rendering import show
from proxy.web.visit import PageVisit

SPANS = (1, 7, 30)
"""Days that are summed up."""


async def money(visit: PageVisit) -> web.StreamResponse:
    """The person's sums of several spans, and those of the longest by day, project and model; how sessions with memory
    compare with those that were left without it."""
    memory, now, longest = visit.memory, visit.now, SPANS[-1]
    found = await memory.journal.sums(savings.since_of(longest, now), visit.scope)
    days = sorted(savings.rows(memory, found, lambda each: each.day), key=lambda row: row.name, reverse=True)
    models = savings.rows(memory, found, lambda each: each.model)
    worth = any(row.priced and (row.saved or row.spent or row.lost) for row in models)
    dates = [f"{now - timedelta(days=back):%Y-%m-%d}" for back in reversed(range(longest))]
    return await show(
        visit,
        "money.html",
        "Money",
        spans=[savings.told(memory, found, span, now) for span in SPANS],
        span=longest,
        days=days,
        projects=savings.rows(memory, found, lambda each: each.project or ""),
        models=models,
        plot=balance(models) if worth else None,
        by_day=daily(dates, days) if worth else None,
        measured=await savings.measured(memory, visit.scope, now),
    )
