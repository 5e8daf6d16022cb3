"""Run cases against a proxy, one after the other, and tell what came of it as Markdown and as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

from proxy.conformance import bodies, headers, paths, refusals, replies, sessions, sockets, streams
from proxy.conformance.bench import Bench
from proxy.conformance.case import ALL, CASES, Case, CaseFailed, Result, Skipped
from proxy.conformance.formats import FORMATS
from proxy.conformance.upstream import upstream

FILES: Final = (bodies, headers, streams, replies, refusals, sessions, paths, sockets)
"""The files that hold the cases."""
CASE_TIMEOUT_SECONDS: Final = 200.0
"""Seconds of one case."""


@dataclass(frozen=True, slots=True)
class CaseRun:
    """A case that was run with a format. ``said`` is why it failed or was skipped, or a remark."""

    case: Case
    format: str
    result: Result
    said: str = ""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is run: against which address, with the provider on which port; with which model, with
    which headers for every request, and which for those that teach something and ask for it."""

    base_url: str
    upstream_port: int
    model: str = "conformance"
    headers: Mapping[str, str] | None = None
    formats: Collection[str] = ()
    cases: Collection[str] = ()
    large: int = 64 * 2**20
    memory_headers: Mapping[str, str] | None = None


async def run(request: RunRequest) -> AsyncIterator[CaseRun]:
    """Every case with every format that is asked for, as each is done.

    Raises:
        OSError: when the provider's port is taken.
    """
    timeout = aiohttp.ClientTimeout(total=None)
    async with (
        upstream(request.upstream_port) as provider,
        aiohttp.ClientSession(
            auto_decompress=False, timeout=timeout, connector=aiohttp.TCPConnector(limit=0)
        ) as client,
    ):
        for each in CASES.values():
            if request.cases and not any(each.id == id or each.id.startswith(f"{id}.") for id in request.cases):
                continue
            for name in each.formats:
                if not request.formats or name in request.formats:
                    base = request.base_url.rstrip("/").removesuffix("/v1")
                    bench = Bench(
                        base,
                        request.model,
                        FORMATS[name],
                        provider,
                        client,
                        request.headers or {},
                        request.large,
                        request.memory_headers or {},
                    )
                    yield await _one(each, bench)


async def _one(case: Case, bench: Bench) -> CaseRun:
    try:
        async with asyncio.timeout(CASE_TIMEOUT_SECONDS):
            return CaseRun(case, bench.format.name, Result.PASSED, await case.run(bench) or "")
    except Skipped as why:
        return CaseRun(case, bench.format.name, Result.SKIPPED, str(why))
    except CaseFailed as why:
        return CaseRun(case, bench.format.name, Result.FAILED, str(why))
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        return CaseRun(case, bench.format.name, Result.FAILED, f"{type(error).__name__}: {error}"[:300])


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
