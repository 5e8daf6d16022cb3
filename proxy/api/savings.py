"""What memory has done to the requests of some days, and what that was worth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypedDict

from aiohttp import web

from memory.context.budget import NOTHING, Worth, worth
from memory.context.comparing import compared
from memory.parts import Memory
from memory.ports import ModelTotals
from memory.scope import Scope
from proxy.api.params import memory_of, query_limit, scope_of
from proxy.api.responses import Json, answer
from proxy.edge import EDGE

routes = web.RouteTableDef()

DAYS = 30
MEASURED_DAYS = 180
"""Days in which a session began that is compared with others."""


@dataclass(frozen=True, slots=True)
class Row:
    """The sums of one day, project or model. ``saved``, ``spent`` and ``lost`` (by cache breaks) are US dollars, of the
    ``priced`` requests."""

    name: str
    requests: int = 0
    added: int = 0
    shorter: int = 0
    input: int = 0
    cached: int = 0
    saved: float = 0.0
    spent: float = 0.0
    lost: float = 0.0
    priced: int = 0

    def plus(self, more: ModelTotals, worths: Worth | None) -> Row:
        """With the sums of further requests."""
        saved, spent, lost = worths or NOTHING
        return Row(
            self.name,
            self.requests + more.requests,
            self.added + more.added,
            self.shorter + more.shorter,
            self.input + more.input,
            self.cached + more.cached,
            self.saved + saved,
            self.spent + spent,
            self.lost + lost,
            self.priced + (more.requests if worths is not None else 0),
        )

    @property
    def net(self) -> float:
        """What is left of it; below zero where more was spent and lost than saved."""
        return self.saved - self.spent - self.lost


class Sums(TypedDict):
    """What was done to the requests of the last ``days``. Of their tokens ``input`` and ``cached`` are what providers
    reported, for ``reported`` requests, and ``cache`` the share of both; ``saved``, ``spent``, ``lost`` and ``net`` are
    US dollars, of the ``priced`` requests, None where there is none."""

    days: int
    since: datetime
    requests: int
    degraded: int
    added: int
    shown: int
    shorter: int
    input: int
    cached: int
    sheds: int
    cache: float | None
    reported: int
    priced: int
    saved: float | None
    spent: float | None
    lost: float | None
    net: float | None


class SumsRow(TypedDict):
    """The sums of one day, project or model."""

    name: str
    requests: int
    added: int
    shorter: int
    input: int
    cached: int
    saved: float | None
    spent: float | None
    lost: float | None
    net: float | None
    priced: int


class MeasuredDifference(TypedDict):
    """One measure in sessions with memory and without: the means, from where to where their true difference lies 95
    times of 100, and whether that tells them apart."""

    name: str
    with_memory: float | None
    without: float | None
    low: float | None
    high: float | None
    told: bool


class MeasuredSessions(TypedDict):
    """How sessions with memory compare with those that went without, by their numbers and by measure. ``mixed`` ones
    were held out and given some later."""

    holdout: float
    days: int
    with_memory: int
    without: int
    mixed: int
    differences: list[MeasuredDifference]


class Money(TypedDict):
    """What memory added and spared: in all, by day, project and model, and as it was measured."""

    sums: Sums
    by_day: list[SumsRow]
    by_project: list[SumsRow]
    by_model: list[SumsRow]
    measured: MeasuredSessions


@routes.get("/api/money")
async def money(request: web.Request) -> Json[Money]:
    """What memory added to a person's requests and spared them in ``?days=`` (30), by day, project and model; and,
    where sessions are held out (``memory.measure.holdout``), how those with memory compare with those without."""
    memory, scope, now = memory_of(request), scope_of(request), request.app[EDGE].now()
    days = query_limit(request, DAYS, "days")
    found = await memory.journal.sums(since_of(days, now), scope)
    return answer(
        {
            "sums": told(memory, found, days, now),
            "by_day": [_plain(row) for row in rows(memory, found, lambda each: each.day)],
            "by_project": [_plain(row) for row in rows(memory, found, lambda each: each.project or "")],
            "by_model": [_plain(row) for row in rows(memory, found, lambda each: each.model)],
            "measured": await measured(memory, scope, now),
        }
    )


async def summed(memory: Memory, days: int, now: datetime, of: Scope | None = None) -> Sums:
    """The sums of the last ``days``, today included, of everybody or of one person."""
    return told(memory, await memory.journal.sums(since_of(days, now), of), days, now)


def told(memory: Memory, found: Iterable[ModelTotals], days: int, now: datetime) -> Sums:
    """The sums of those of the last ``days``. ``saved``, ``spent``, ``lost`` (to prefixes that a shed
    moved, so that the provider read anew what it had cached) and what is left of them, ``net``, are US dollars,
    estimated of the requests whose prices and tokens are known, ``priced`` of them; None where there is none."""
    since = since_of(days, now)
    saved = spent = lost = 0.0
    priced = reported = 0
    sums = dict.fromkeys(("requests", "degraded", "added", "shown", "shorter", "input", "cached", "sheds"), 0)
    for each in found:
        if each.day < f"{since:%Y-%m-%d}":
            continue
        for name in sums:
            sums[name] += getattr(each, name)
        reported += each.requests if each.reported else 0
        if (worths := _worth(memory, each)) is not None:
            priced += each.requests
            saved, spent, lost = saved + worths.saved, spent + worths.spent, lost + worths.lost
    worthy = {"saved": saved, "spent": spent, "lost": lost, "net": saved - spent - lost}
    dollars = {name: round(value, 6) if priced else None for name, value in worthy.items()}
    kept = round(sums["cached"] / sums["input"], 4) if sums["input"] else None
    return {
        "days": days,
        "since": since,
        "requests": sums["requests"],
        "degraded": sums["degraded"],
        "added": sums["added"],
        "shown": sums["shown"],
        "shorter": sums["shorter"],
        "input": sums["input"],
        "cached": sums["cached"],
        "sheds": sums["sheds"],
        "cache": kept,
        "reported": reported,
        "priced": priced,
        "saved": dollars["saved"],
        "spent": dollars["spent"],
        "lost": dollars["lost"],
        "net": dollars["net"],
    }


def rows(memory: Memory, found: Iterable[ModelTotals], name: Callable[[ModelTotals], str]) -> Sequence[Row]:
    """The sums by what ``name`` says of each, those with most requests first."""
    by: dict[str, Row] = {}
    for each in found:
        worths = _worth(memory, each)
        row = by.get(name(each), Row(name(each)))
        by[row.name] = row.plus(each, worths)
    return sorted(by.values(), key=lambda row: -row.requests)


async def measured(memory: Memory, scope: Scope, now: datetime) -> MeasuredSessions:
    """How sessions with memory compare with those that went without."""
    found = compared(await memory.journal.measured(since_of(MEASURED_DAYS, now), scope))
    return {
        "holdout": memory.settings.measure.holdout,
        "days": MEASURED_DAYS,
        "with_memory": found.with_memory,
        "without": found.without,
        "mixed": found.mixed,
        "differences": [
            {
                "name": each.name,
                "with_memory": each.with_memory,
                "without": each.without,
                "low": each.low,
                "high": each.high,
                "told": each.told,
            }
            for each in found.differences
        ],
    }


def since_of(days: int, now: datetime) -> datetime:
    """When the last ``days`` began, today included."""
    return (now - timedelta(days=days - 1)).replace(hour=0, minute=0, second=0, microsecond=0)


def _worth(memory: Memory, each: ModelTotals) -> Worth | None:
    prices = memory.windows.prices(each.model) if each.reported else None
    return worth(each, prices) if prices is not None else None


def _plain(row: Row) -> SumsRow:
    return {
        "name": row.name,
        "requests": row.requests,
        "added": row.added,
        "shorter": row.shorter,
        "input": row.input,
        "cached": row.cached,
        "saved": round(row.saved, 6) if row.priced else None,
        "spent": round(row.spent, 6) if row.priced else None,
        "lost": round(row.lost, 6) if row.priced else None,
        "net": round(row.net, 6) if row.priced else None,
        "priced": row.priced,
    }
