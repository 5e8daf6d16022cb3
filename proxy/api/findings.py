"""What takes longer to find than an answer or the page Health may: the doctor's findings and the newest backups.

They are looked for beside it, each in a thread of its own, once a minute at most. Who asks waits a moment for them, and
is told what was found last where they take longer: a provider that does not answer, or a folder of backups on a network
that hangs.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypedDict, TypeVar

from aiohttp import web

from memory.services.background_task import LoneThread
from proxy import diagnosis
from proxy.api.features import ask
from proxy.api.responses import Json, answer
from proxy.edge import EDGE, Edge
from proxy.fail_open import fail_open
from proxy.settings import Loaded

T = TypeVar("T")

routes = web.RouteTableDef()

FRESH: Final = 60.0
"""Seconds for which what was found is shown."""

MOMENT: Final = 0.15
"""Seconds that who asks waits for what is being looked for."""

LONGEST: Final = 120.0
"""Seconds that looking may take before it is given up."""

NEWEST: Final = 5
"""Backups that are shown."""


AskForBackups = Callable[[], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Found:
    """What was found last: the doctor's ``checks``, and ``backups`` as their feature tells them, the newest first; None
    of what is not known yet."""

    checks: Sequence[diagnosis.CheckResult] | None = None
    backups: dict[str, Any] | None = None


@dataclass(slots=True)
class LatestFindings:
    """Looks, and keeps what it has found."""

    edge: Edge
    clock: Callable[[], float] = time.monotonic
    _found: Found = field(default_factory=Found)
    _at: float = -math.inf
    _looking: asyncio.Task[None] | None = None
    _doctor: LoneThread[Sequence[diagnosis.CheckResult]] = field(default_factory=lambda: LoneThread("doctor"))

    async def latest(self, ask_for_backups: AskForBackups | None) -> Found:
        """What was found last, or is found within a moment; of backups nothing while memory is not open."""
        if self._looking is None and self.clock() - self._at >= FRESH:
            self._looking = self.edge.run_in_background(self._look(ask_for_backups))
        if self._looking is not None:
            await asyncio.wait([self._looking], timeout=MOMENT)
        return self._found

    async def _look(self, ask_for_backups: AskForBackups | None) -> None:
        try:
            # Each is shown as soon as it is there: a folder that hangs hides no finding of the doctor's.
            await asyncio.gather(self._check(), self._look_for_backups(ask_for_backups))
        finally:
            self._at, self._looking = self.clock(), None

    async def _check(self) -> None:
        edge = self.edge

        def checks() -> Sequence[diagnosis.CheckResult]:
            return list(diagnosis.found_here(Loaded(edge.settings, edge.sources), edge.settings.upstream))

        found = await self._guarded(self._doctor.run(checks), "looking what the doctor would find")
        self._found = replace(self._found, checks=found)

    async def _look_for_backups(self, ask_for_backups: AskForBackups | None) -> None:
        found = None
        if ask_for_backups is not None and (told := await self._guarded(ask_for_backups(), "looking for backups")):
            newest = sorted(told["backups"], key=lambda each: each["at"], reverse=True)
            found = told | {"newest": newest[:NEWEST], "many": len(newest)}
        self._found = replace(self._found, backups=found)

    async def _guarded(self, work: Awaitable[T], operation: str) -> T | None:
        found, _ = await fail_open(
            _optional(work),
            default=None,
            timeout_seconds=LONGEST,
            operation=operation,
            degradations=self.edge.degradations,
        )
        return found


async def _optional(work: Awaitable[T]) -> T | None:
    return await work


FINDINGS: Final = web.AppKey("findings", LatestFindings)


class DoctorFindings(TypedDict):
    """What the doctor finds without a shell; None while it is being looked for."""

    checks: Sequence[diagnosis.CheckResult] | None


@routes.get("/api/doctor")
async def doctor(request: web.Request) -> Json[DoctorFindings]:
    """What the doctor finds without a shell, looked for once a minute at most: settings, packages, the data folder,
    tables, and whether providers take connections. Where that takes long ``checks`` is null: ask again in a moment."""
    return answer({"checks": (await found_last(request)).checks})


async def found_last(request: web.Request) -> Found:
    """What was found last, for an endpoint or a page."""

    async def backups() -> dict[str, Any]:
        told: dict[str, Any] = await ask(request, "GET", "backups")
        return told

    return await request.app[FINDINGS].latest(backups if request.app[EDGE].memory else None)
