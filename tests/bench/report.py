"""The bench's result as Markdown, and held against the floors that the project has set itself."""

from __future__ import annotations

from typing import Any

Result = dict[str, Any]

_VERDICTS = {True: "held", False: "**missed**"}


def markdown(result: Result) -> str:
    """Tables of times, of requests per second and of weights, and the floors."""
    lines = [f"{result['machine']}; {result['facts']} facts; times are milliseconds beyond the provider's own.", ""]
    lines += ["| body | reply | clients | target | first byte p50 | p99 | last byte p50 | requests/s | failed |"]
    lines += ["| --: | --- | --: | --- | --: | --: | --: | --: | --: |"]
    lines += [
        f"| {row['size'] // 1000} KB | {'streamed' if row['stream'] else 'whole'} | {row['clients']} | {row['target']} "
        f"| {row['added_first_p50_ms']:.2f} | {row['added_first_p99_ms']:.2f} | {row['added_last_p50_ms']:.2f} "
        f"| {row['requests_per_second']:.0f} | {row['failed']} |"
        for row in result["rows"]
    ]
    lines += ["", "| target | start, s | MiB at start | MiB afterwards |", "| --- | --: | --: | --: |"]
    lines += [
        f"| {server['target']} | {server['start_seconds']:.2f} | {server['resident_mib_at_start']:.0f} "
        f"| {server['resident_mib']:.0f} |"
        for server in result["servers"]
    ]
    lines += ["", "| floor | measured | wanted | |", "| --- | --: | --: | --- |"]
    lines += [
        f"| {floor['name']} | {floor['measured']:.2f} | {floor['wanted']} | {_VERDICTS[floor['held']]} |"
        for floor in result["floors"]
    ]
    return "\n".join(lines)


def floors(result: Result) -> list[dict[str, Any]]:
    """Each floor with what was measured. One client, streamed, where nothing else is said."""
    relay = _row(result, "bare relay", 2_000)["added_first_p50_ms"]
    found = [
        _at_most("memory off at 2 KB, × the bare relay", _added(result, "memory off", 2_000) / max(relay, 0.01), 2.5),
        _at_most("memory off at 400 KB, ms", _added(result, "memory off", 400_000), 5),
        _at_most("memory on at 2 KB, ms", _added(result, "memory on", 2_000), 5),
        _at_most("memory on at 400 KB, ms", _added(result, "memory on", 400_000), 10),
    ]
    by_name = {server["target"]: server for server in result["servers"]}
    found += [
        _at_most("start with memory, s", by_name["memory on"]["start_seconds"], 1.5),
        _at_most("resident with memory, MiB", by_name["memory on"]["resident_mib"], 250),
    ]
    if "litellm" in by_name:
        ours, theirs = (
            _row(result, name, 2_000, clients=16)["requests_per_second"] for name in ("memory on", "litellm")
        )
        found.append(_at_least("memory on at 2 KB, 16 clients, × LiteLLM's requests/s", ours / theirs, 5))
    failed = sum(row["failed"] for row in result["rows"] if row["target"].startswith("memory"))
    return [*found, _at_most("requests that failed", float(failed), 0)]


def _row(result: Result, target: str, size: int, clients: int = 1, stream: bool = True) -> dict[str, Any]:
    wanted = (target, size, clients, stream)
    return next(row for row in result["rows"] if (row["target"], row["size"], row["clients"], row["stream"]) == wanted)


def _added(result: Result, target: str, size: int) -> float:
    return float(_row(result, target, size)["added_first_p50_ms"])


def _at_most(name: str, measured: float, wanted: float) -> dict[str, Any]:
    return {"name": name, "measured": measured, "wanted": f"≤ {wanted:g}", "held": measured <= wanted}


def _at_least(name: str, measured: float, wanted: float) -> dict[str, Any]:
    return {"name": name, "measured": measured, "wanted": f"≥ {wanted:g}", "held": measured >= wanted}
