"""The bench's result as Markdown, and held against the floors that the project has set itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isnan, nan
from operator import itemgetter
from typing import Any

Result = dict[str, Any]

EVIDENCE = 0.95
"""The share of remembered requests below which a cell is none."""

_VERDICTS = {True: "held", False: "**missed**"}
_ON = "memory on"


_COLUMNS = (
    *("scenario", "clients", "target", "remembered", "first byte p50 / p95 / p99", "added", "last byte"),
    *("question before a loop, first byte", "added", "requests/s", "sustained", "CPU during + after"),
    *("start, s", "RSS before → after, MiB", "PSS", "requests", "failed"),
)


def markdown(result: Result) -> str:
    """A table of times, of requests per second and of weights, and the floors."""
    loads = " and ".join(map(str, result["load"]))
    lines = [
        f"{result['machine']}; {result['at']} UTC, load {loads} before and after; {result['facts']} facts; "
        f"{result['rounds']} rounds, {result['visit_seconds']:.1f} s a visit; milliseconds, those added beyond the "
        "provider's own.",
        "",
        f"| {' | '.join(_COLUMNS)} |",
        f"| --- |{' --: |' * (len(_COLUMNS) - 1)}",
    ]
    lines += [f"| {' | '.join(_cells(row))} |" for row in result["rows"]]
    lines += ["", *result["about"].values()] if result["about"] else []
    lines += ["", "| floor | measured | wanted | |", "| --- | --: | --: | --- |"]
    for floor in result["floors"]:
        measured = "–" if floor["measured"] is None else f"{floor['measured']:.2f}"
        verdict = floor["fault"] or _VERDICTS[floor["held"]]
        lines.append(f"| {floor['name']} | {measured} | {floor['wanted']} | {verdict} |")
    return "\n".join(lines)


def _cells(row: dict[str, Any]) -> list[str]:
    return [
        *(row["scenario"], f"{row['clients']}", row["target"], _share(row)),
        *(_times(row, which) for which in ("first", "added_first", "last", "opening", "added_opening")),
        f"{row['requests_per_second']:.0f}",
        f"{row['sustained_per_second']:.0f}",
        f"{row['cpu_during_ms']:.2f} + {row['cpu_after_ms']:.2f}",
        f"{row['start_seconds']:.1f}",
        f"{row['resident_mib_at_start']:.0f} → {row['resident_mib']:.0f}",
        f"{row['proportional_mib_at_start']:.0f} → {row['proportional_mib']:.0f}",
        *(f"{row['requests']}", f"{row['failed']}"),
    ]


def _share(row: dict[str, Any]) -> str:
    told = f"{row['remembered']:.0%}" if row["target"] == _ON else "–"
    faults = against(row)
    return f"**{told}: no evidence ({', '.join(faults)})**" if faults else told


def against(row: dict[str, Any]) -> list[str]:
    """Why a cell is no evidence; nothing where it is."""
    faults = ["died"] if row["died"] else []
    if row["failed"] > (1 - EVIDENCE) * (row["failed"] + row["requests"]):
        faults.append("failed")
    if row["target"] == _ON and row["remembered"] < EVIDENCE:
        faults.append(f"{1 - row['remembered']:.0%} not remembered, {row['late']:.0%} because memory was late")
    return faults


def _times(row: dict[str, Any], which: str) -> str:
    times = [row[f"{which}_p{percent}_ms"] for percent in (50, 95, 99)]
    return "–" if any(map(isnan, times)) else " / ".join(f"{each:.1f}" for each in times)


@dataclass(frozen=True, slots=True)
class Floor:
    """What is wanted of figures of rows, and how it follows from them. ``rows`` are the scenario, the clients and the
    target of each."""

    name: str
    wanted: float
    aim: float | None
    rows: tuple[tuple[str, int, str], ...]
    figure: Callable[..., float]
    at_least: bool = False
    seconds: float = 0.0
    """How long each of the rows must have been measured for."""


SMALL, LOOP = "question of 2 KB", "tool loop of 20 results"
KNOWN, NEW = "history of 400 KB, known session", "history of 400 KB, new id"
_OFF, _RELAY, _LITELLM = "memory off", "bare relay", "litellm"

LITELLM_MS = 18.0
"""What LiteLLM adds at 2 KB on the machine for which milliseconds are wanted: on another one they are as many times
longer or shorter as LiteLLM takes there."""


def _ratio(name: str) -> Callable[..., float]:
    return lambda ours, theirs: ours[name] / theirs[name] if theirs[name] > 0 else nan


def _scaled(name: str) -> Callable[..., float]:
    return lambda ours, litellm: ours[name] * LITELLM_MS / max(litellm["added_first_p50_ms"], 0.01)


def _beside(other: str, scenario: str, clients: int, ours: str = _ON) -> tuple[tuple[str, int, str], ...]:
    return (scenario, clients, ours), (scenario, clients, other)


_FIRST = _ratio("added_first_p50_ms")
_RATE = _ratio("requests_per_second")
_SUSTAINED = _ratio("sustained_per_second")
_RESULTS = ((LOOP, 16, _ON), (SMALL, 1, _LITELLM))
_HELD_TO_LITELLM = f"16 agents, added to a result, ms where LiteLLM adds {LITELLM_MS:g} at 2 KB:"

FLOORS = (
    Floor("first byte at 2 KB, × LiteLLM's", 0.25, 0.15, _beside(_LITELLM, SMALL, 1), _FIRST),
    Floor("– at 400 KB, known session", 0.10, 0.06, _beside(_LITELLM, KNOWN, 1), _FIRST),
    Floor("– at 400 KB, new id", 0.15, 0.06, _beside(_LITELLM, NEW, 1), _FIRST),
    Floor("requests/s at 2 KB, 16 clients, × LiteLLM's", 4, 6, _beside(_LITELLM, SMALL, 16), _RATE, True),
    Floor("– at 400 KB", 5, 8, _beside(_LITELLM, KNOWN, 16), _RATE, True),
    Floor("– at 2 KB for two minutes, learning drained", 3.5, 5, _beside(_LITELLM, SMALL, 16), _SUSTAINED, True, 120),
    Floor(f"{_HELD_TO_LITELLM} p50", 2, 1, _RESULTS, _scaled("added_first_p50_ms")),
    Floor(f"{_HELD_TO_LITELLM} p99", 10, 5, _RESULTS, _scaled("added_first_p99_ms")),
    Floor("memory off, first byte at 2 KB, × the bare relay's", 1.6, 1.3, _beside(_RELAY, SMALL, 1, _OFF), _FIRST),
    Floor("– requests/s, 16 clients", 0.85, 0.9, _beside(_RELAY, SMALL, 16, _OFF), _RATE, True),
    Floor("RSS at start with what was seeded, MiB", 110, None, ((SMALL, 1, _ON),), itemgetter("resident_mib_at_start")),
)


def floors(result: Result) -> list[dict[str, Any]]:
    """Each floor with what was measured, None where it was not or is no evidence, and why that is so."""
    rows = {(row["scenario"], row["clients"], row["target"]): row for row in result["rows"]}
    found = [_held(floor, rows) for floor in FLOORS]
    remembered = min((row["remembered"] for row in result["rows"] if row["target"] == _ON), default=0.0)
    failed = sum(row["failed"] for row in result["rows"] if row["target"].startswith("memory"))
    return [
        *found,
        _told(Floor("share of requests that got memory, in each cell", EVIDENCE, None, (), float, True), remembered),
        _told(Floor("requests of ours that failed", 0, None, (), float), float(failed)),
    ]


def _held(floor: Floor, rows: Mapping[tuple[str, int, str], dict[str, Any]]) -> dict[str, Any]:
    missing = [" ".join(map(str, key)) for key in floor.rows if key not in rows]
    if missing:
        return _told(floor, None, f"not measured: {', '.join(missing)}")
    given = [rows[key] for key in floor.rows]
    measured = floor.figure(*given)
    faults = [f"{row['target']}: {', '.join(against(row))}" for row in given if against(row)]
    faults += [f"{row['target']}: {row['seconds']:.0f} s" for row in given if row["seconds"] < floor.seconds]
    if faults or isnan(measured):
        return _told(floor, None if isnan(measured) else measured, f"no evidence ({'; '.join(faults) or 'too small'})")
    return _told(floor, measured)


def _told(floor: Floor, measured: float | None, fault: str = "") -> dict[str, Any]:
    held = None
    if measured is not None and not fault:
        held = measured >= floor.wanted if floor.at_least else measured <= floor.wanted
    sign = "≥" if floor.at_least else "≤"
    wanted = f"{sign} {floor.wanted:g}" + (f", aim {floor.aim:g}" if floor.aim is not None else "")
    return {"name": floor.name, "measured": measured, "wanted": wanted, "held": held, "fault": fault}
