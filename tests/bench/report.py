"""The bench's result as Markdown, and held against the floors that the project has set itself."""

from __future__ import annotations

from math import isnan
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
    lines += [
        f"| {floor['name']} | {floor['measured']:.2f} | {floor['wanted']} | {_VERDICTS[floor['held']]} |"
        for floor in result["floors"]
    ]
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
        faults.append("not remembered")
    return faults


def _times(row: dict[str, Any], which: str) -> str:
    times = [row[f"{which}_p{percent}_ms"] for percent in (50, 95, 99)]
    return "–" if any(map(isnan, times)) else " / ".join(f"{each:.1f}" for each in times)


def floors(result: Result) -> list[dict[str, Any]]:
    """Each floor with what was measured, as far as it was. One client, where nothing else is said."""
    found = []
    small, large, loop = "question of 2 KB", "history of 400 KB, known session", "tool loop of 20 results"
    relay, off = _row(result, "bare relay", small), _row(result, "memory off", small)
    if relay and off:
        times = off["added_first_p50_ms"] / max(relay["added_first_p50_ms"], 0.01)
        found.append(_at_most("memory off at 2 KB, × the bare relay", times, 2.5))
    for name, target, scenario, wanted in (
        ("memory off at 400 KB, ms", "memory off", large, 5),
        ("memory on at 2 KB, ms", _ON, small, 5),
        ("memory on at 400 KB, ms", _ON, large, 10),
        ("memory on, a result of a tool, ms", _ON, loop, 2),
    ):
        if row := _row(result, target, scenario):
            found.append(_at_most(name, row["added_first_p50_ms"], wanted))
    on = [row for row in result["rows"] if row["target"] == _ON]
    found.append(_at_most("start with memory, s", min(row["start_seconds"] for row in on), 1.5))
    found.append(_at_most("resident with memory, MiB", max(row["resident_mib"] for row in on), 250))
    ours, theirs = (_row(result, name, small, clients=16) for name in (_ON, "litellm"))
    if ours and theirs:
        times = ours["sustained_per_second"] / theirs["sustained_per_second"]
        found.append(_at_least("memory on at 2 KB, 16 clients, × LiteLLM's sustained requests/s", times, 4))
    remembered = min((row["remembered"] for row in result["rows"] if row["target"] == _ON), default=0.0)
    found.append(_at_least("share of requests that got memory, in each cell", remembered, EVIDENCE))
    failed = sum(row["failed"] for row in result["rows"] if row["target"].startswith("memory"))
    return [*found, _at_most("requests that failed", float(failed), 0)]


def _row(result: Result, target: str, scenario: str, clients: int = 1) -> dict[str, Any] | None:
    wanted = (target, scenario, clients)
    return next((row for row in result["rows"] if (row["target"], row["scenario"], row["clients"]) == wanted), None)


def _at_most(name: str, measured: float, wanted: float) -> dict[str, Any]:
    return {"name": name, "measured": measured, "wanted": f"≤ {wanted:g}", "held": measured <= wanted}


def _at_least(name: str, measured: float, wanted: float) -> dict[str, Any]:
    return {"name": name, "measured": measured, "wanted": f"≥ {wanted:g}", "held": measured >= wanted}
