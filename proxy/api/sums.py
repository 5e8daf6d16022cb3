"""What memory has done to the requests of some days, and what that was worth."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from memory.bootstrap import Memory
from memory.context.seen import worth


async def summed(memory: Memory, days: int, now: datetime) -> dict[str, Any]:
    """The sums of the last ``days``, today included. ``saved`` and ``spent`` are US dollars, estimated of the requests
    whose prices and tokens are known, ``priced`` of them; None where there is none."""
    since = (now - timedelta(days=days - 1)).replace(hour=0, minute=0, second=0, microsecond=0)
    saved = spent = 0.0
    priced = reported = 0
    told = dict.fromkeys(("requests", "degraded", "added", "shown", "shorter", "input", "cached", "sheds"), 0)
    for each in await memory.journal.sums(since):
        for name in told:
            told[name] += getattr(each, name)
        prices = memory.windows.prices(each.model) if each.reported else None
        reported += each.requests if each.reported else 0
        if prices is not None:
            priced += each.requests
            more, less = worth(each, prices)
            saved, spent = saved + more, spent + less
    money = {"saved": round(saved, 6), "spent": round(spent, 6)} if priced else {"saved": None, "spent": None}
    kept = round(told["cached"] / told["input"], 4) if told["input"] else None
    return {"days": days, "since": since, **told, "cache": kept, "reported": reported, "priced": priced, **money}
