"""The bench's result as Markdown, and held against the floors that the project has set itself."""

from __future__ import annotations

from math import isnan
from typing import Any

Result = dict[str, Any]

EVIDENCE = 0.95
"""The share of remembered requests below which a cell is none."""

_VERDICTS = {True: "held", False: "**missed**"}
_ON = "memory on"


def markdown(result: Result) -> str:
    """Tables of times, of requests per second and of weights, and the floors."""
    run = f"{result['rounds']} rounds, {result['visit_seconds']:.1f} s a visit"
    about = "milliseconds, those added beyond the provider's own"
    lines = [f"{result['machine']}; {result['facts']} facts; {run}; {about}.", ""]
    lines += [
        "| scenario | clients | target | remembered | first byte p50 / p95 / p99 | added | last byte "
        "| question before a loop, first byte | added "
        "| requests/s | sustained | CPU during + after | requests | failed |"
    ]
    lines += ["| --- | --: | --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |"]
    lines += [
        f"| {row['scenario']} | {row['clients']} | {row['target']} | {_share(row)} | {_times(row, 'first')} "
        f"| {_times(row, 'added_first')} | {_times(row, 'last')} | {_times(row, 'opening')} "
        f"| {_times(row, 'added_opening')} | {row['requests_per_second']:.0f} "
        f"| {row['sustained_per_second']:.0f} | {row['cpu_during_ms']:.2f} + {row['cpu_after_ms']:.2f} "
        f"| {row['requests']} | {row['failed']} |"
        for row in result["rows"]
    ]
    lines += ["", "| target | start, s | RSS, MiB: at start, afterwards | PSS, MiB: at start, afterwards |"]
    lines += ["| --- | --: | --: | --: |"]
    lines += [
        f"| {server['target']} | {server['start_seconds']:.2f} "
        f"| {server['resident_mib_at_start']:.0f}, {server['resident_mib']:.0f} "
        f"| {server['proportional_mib_at_start']:.0f}, {server['proportional_mib']:.0f} |"
        for server in result["servers"]
    ]
    lines += ["", *(server["about"] for server in result["servers"] if server["about"])]
    lines += ["", "| floor | measured | wanted | |", "| --- | --: | --: | --- |"]
    lines += [
        f"| {floor['name']} | {floor['measured']:.2f} | {floor['wanted']} | {_VERDICTS[floor['held']]} |"
        for floor in result["floors"]
    ]
    return "\n".join(lines)


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
    by_name = {server["target"]: server for server in result["servers"]}
    found.append(_at_most("start with memory, s", by_name[_ON]["start_seconds"], 1.5))
    found.append(_at_most("resident with memory, MiB", by_name[_ON]["resident_mib"], 250))
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
