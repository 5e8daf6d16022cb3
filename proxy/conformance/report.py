"""What came of a run, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from proxy.conformance.case import ALL, CASES, Result
from proxy.conformance.run import CaseRun

_SIGNS = {Result.PASSED: "yes", Result.FAILED: "**no**", Result.SKIPPED: "–"}


def as_json(ran: Sequence[CaseRun]) -> dict[str, Any]:
    """Every result, with its case's reason and source."""
    return {
        "results": [
            {
                "id": each.case.id,
                "format": each.format,
                "result": each.result.value,
                "said": each.said,
                "must": each.case.says,
                "why": each.case.why,
                "source": each.case.source,
            }
            for each in ran
        ],
        **{result.value: sum(each.result is result for each in ran) for result in Result},
    }


def as_markdown(ran: Sequence[CaseRun]) -> str:
    """A table: a case on each line, a format in each column; below it what failed, and why."""
    formats = [name for name in ALL if any(each.format == name for each in ran)]
    lines = [f"| case | {' | '.join(formats)} | what must be so |", f"| --- |{' --- |' * len(formats)} --- |"]
    for id in dict.fromkeys(each.case.id for each in ran):
        by = {each.format: each for each in ran if each.case.id == id}
        cells = [_SIGNS[by[name].result] if name in by else "" for name in formats]
        lines.append(f"| `{id}` | {' | '.join(cells)} | {CASES[id].says} |")
    return "\n".join([*lines, "", *_lines(ran)]) + "\n"


def summary(ran: Sequence[CaseRun]) -> str:
    """How many passed."""
    counts = as_json(ran)
    return ", ".join(f"{counts[result.value]} {result.value}" for result in Result)


def _lines(ran: Iterable[CaseRun]) -> list[str]:
    return [f"- `{each.case.id}`, {each.format}: {each.said}" for each in ran if each.result is not Result.PASSED]
