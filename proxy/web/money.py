"""Money: what memory added and spared, in tokens and, where prices are known, in dollars. An estimate is called one."""

from __future__ import annotations

from aiohttp import web

from memory.context.seen import worth
from proxy.api import sums
from proxy.web.plots.balance import Row, balance
from proxy.web.rendering import show
from proxy.web.visit import Visit

SPANS = (1, 7, 30)
"""Days that are summed up."""

BY_MODEL = 30
"""Days that are told by model."""


async def money(visit: Visit) -> web.StreamResponse:
    """The sums that ``palimpsest status`` tells, of several spans; and of the last days by model."""
    memory, now = visit.memory, visit.now
    spans = [await sums.summed(memory, days, now) for days in SPANS]
    rows: dict[str, Row] = {}
    for each in await memory.journal.sums(spans[-1]["since"]):
        prices = memory.windows.prices(each.model) if each.reported else None
        saved, spent = worth(each, prices) if prices else (0.0, 0.0)
        rows[each.model] = rows.get(each.model, Row(each.model)).plus(each, saved, spent, prices is not None)
    models = sorted(rows.values(), key=lambda row: -row.requests)
    return await show(
        visit,
        "money.html",
        "Money",
        spans=spans,
        days=BY_MODEL,
        models=models,
        plot=balance(models) if any(row.priced and (row.saved or row.spent) for row in models) else None,
    )
