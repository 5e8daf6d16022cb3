"""Run cases against a proxy, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from typing import Final

import aiohttp

from proxy.conformance import bodies, headers, paths, refusals, replies, sessions, sockets, streams
from proxy.conformance.bench import Bench
from proxy.conformance.case import CASES, Case, CaseFailed, Result, Skipped
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
