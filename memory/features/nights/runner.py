"""At night: have what is new consolidated, on a schedule, when much was said, or when somebody asks for it.

A process of its own plans each owner's night on what it reads by itself; here the result is applied, one owner after
the other, each as one transaction while the learner rests. Killed at any moment, a night is there whole or not at all,
and the next one goes on from there.

A night is planned in a process of its own: started here, given the job, heard out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import orjson
from cronsim import CronSim

from memory.features.nights.consolidation.diff import Diff, PlannedNight, read
from memory.hooks.route_request import RouteRefused
from memory.ports import Guard
from memory.services.background_task import BackgroundTask
from memory.settings import NightSettings

ROOT = str(Path(__file__).resolve().parents[3])
"""Where the packages lie, also when they are not installed."""


class NightFailed(RuntimeError):
    """A night could not be planned; the message says why. Nothing has changed."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be planned: of which owners (None: of all), since when (None: since each one's last night)."""

    now: datetime
    owners: tuple[str, ...] | None = None
    since: datetime | None = None


Planner = Callable[[Job], AsyncIterator[PlannedNight]]


class PlannerProcess:
    """Plans in a process of its own, on the database at ``place``: a file, or a server's URL. ``kept`` tells in which
    folder vectors are kept, and of which embedder they are; ``changed`` which facts have changed since it was asked
    last, None for any: the others need not be read again."""

    def __init__(
        self,
        place: Path | str,
        settings: NightSettings,
        vector_folder: Callable[[], tuple[Path, str] | None] = lambda: None,
        changed: Callable[[], Collection[str] | None] = lambda: None,
    ) -> None:
        self._place = place
        self._settings = settings
        self._vector_folder = vector_folder
        self._changed = changed

    async def __call__(self, job: Job) -> AsyncIterator[PlannedNight]:
        """The nights that the process plans, as they come.

        Raises:
            NightFailed: when it ends with a fault.
        """
        paths = os.pathsep.join(path for path in (ROOT, os.environ.get("PYTHONPATH", "")) if path)
        # One thread for the products: the other cores are the streams'.
        own = {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "memory.features.nights.planner"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, **own},
        )
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        complaining = asyncio.create_task(process.stderr.read())
        try:
            self._changed()  # whatever it was: nothing is read yet
            process.stdin.write(self._request_bytes(job))
            while header := await process.stdout.readline():
                body = await process.stdout.readexactly(int(header))
                yield await asyncio.to_thread(read, body)
                # What it plans next builds on what was written of this.
                changed = self._changed()
                changed_ids = None if changed is None else [*changed]
                process.stdin.write(orjson.dumps(changed_ids, option=orjson.OPT_APPEND_NEWLINE))
            if await process.wait():
                changed_ids = (await complaining).decode(errors="replace").strip().splitlines()
                raise NightFailed(
                    f"the night could not be planned: {changed_ids[-1] if changed_ids else process.returncode}"
                )
        except (asyncio.IncompleteReadError, ConnectionError, ValueError) as error:
            raise NightFailed(f"the night could not be planned: {error}") from error
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
            await complaining

    def _request_bytes(self, job: Job) -> bytes:
        folder = self._vector_folder()
        return orjson.dumps(
            {
                "url" if isinstance(self._place, str) else "path": str(self._place),
                "owners": job.owners,
                "now": job.now,
                "since": job.since,
                "settings": self._settings.model_dump(mode="json"),
                "kept": None if folder is None else {"folder": str(folder[0]), "embedder": folder[1]},
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )


log = logging.getLogger(__name__)

LOOK_SECONDS = 60.0
"""How often the clock is looked at: a machine that sleeps does not count its seconds."""
GRACE = timedelta(minutes=5)
"""How long after the start a night that was missed is made up for."""
SHOWN = 5000
"""Changes that are kept as they were planned: where there were more, the journal has them all the same."""
PAGES_SECONDS = 30.0
"""How long pages may wait for what nights of one run have changed: to choose among tens of thousands of facts anew for
each of hundreds of nights would take longer than to write them."""
WITHIN = 4 * 3600.0
"""Seconds that a night may take at most."""


IN_PROGRESS = "a night is going on already: wait until it is done"


class NightInProgress(RouteRefused):
    """A night is going on already."""


class NightJournal(Protocol):
    """What a night needs of the journal."""

    async def apply_night(self, planned: PlannedNight) -> int:
        """Write a night, whole or not at all; its number, 0 where there was nothing to write."""

    async def undo_night(self, number: int, at: datetime) -> frozenset[str]:
        """Take a night back; the owners whose facts changed."""

    async def mark_night(self, at: datetime) -> None:
        """There was a night of everybody."""

    async def last_night(self) -> tuple[datetime | None, int]:
        """When there was a night of everybody last, and how many passages were said since."""


class NightWorker(Protocol):
    """The learner, as far as a night has to do with it."""

    async def catch_up(self) -> None:
        """Learn from everything that is in the journal."""

    def resting(self) -> AbstractAsyncContextManager[None]:
        """While this is held nothing is learned."""

    def wake(self) -> None:
        """There is something for the index to take in."""


class NightPages(Protocol):
    """The pages, as far as a night has to do with them."""

    def changed(self, owners: frozenset[str]) -> None:
        """Facts of these owners have changed."""

    async def refresh(self) -> None:
        """Make those pages anew that are out of date."""


Improve = Callable[[PlannedNight], Awaitable[PlannedNight]]
"""Goes over a planned night before it is written."""


async def as_planned(planned: PlannedNight) -> PlannedNight:
    return planned


@dataclass(frozen=True, slots=True)
class NightOutcome:
    """What a night did, or would do: of each owner its number (0 where it was not written) and the plan, of what was
    written after many changes only whose it is."""

    began: datetime
    nights: tuple[tuple[int, PlannedNight], ...] = ()
    looked: int = 0
    finished: bool = False
    fault: str = ""


class NightRunner:
    """Consolidates, one night at a time."""

    def __init__(
        self,
        settings: NightSettings,
        journal: NightJournal,
        planner: Planner,
        worker: NightWorker,
        pages: NightPages,
        guard: Guard,
        now: Callable[[], datetime],
        paused: Callable[[], bool] = lambda: False,
        improve: Improve = as_planned,
        afterwards: Callable[[datetime], Awaitable[None]] | None = None,
    ) -> None:
        self._improve = improve
        self._afterwards = afterwards
        self._settings = settings
        self._journal = journal
        self._planner = planner
        self._worker = worker
        self._pages = pages
        self._guard = guard
        self._now = now
        self._paused = paused
        self._schedule = BackgroundTask()
        self._running = False
        self._refreshed = 0.0
        self.outcome: NightOutcome | None = None

    @property
    def running(self) -> bool:
        """Whether a night is going on."""
        return self._running

    def start(self) -> None:
        """Keep the schedule from now on."""
        if self._settings.enabled:
            self._schedule.begin(self._follow_schedule())

    async def stop(self) -> None:
        """Keep it no longer; a night that is going on ends after the owner at hand."""
        await self._schedule.stop()

    def begin(
        self, owners: Sequence[str] | None = None, *, since: datetime | None = None, dry: bool = False
    ) -> Coroutine[Any, Any, object]:
        """:meth:`run`, to be awaited beside the requests, and counted where it fails.

        Raises:
            NightInProgress: when a night is going on.
        """
        if self._running:
            raise NightInProgress(IN_PROGRESS)
        return self._guarded(owners, since, dry)

    async def _guarded(self, owners: Sequence[str] | None, since: datetime | None, dry: bool) -> None:
        work = self.run(owners, since=since, dry=dry)
        await self._guard(work, default=None, timeout_seconds=WITHIN, operation="consolidating")

    async def run(
        self, owners: Sequence[str] | None = None, *, since: datetime | None = None, dry: bool = False
    ) -> NightOutcome:
        """Consolidate what is new of some owners, or of all. ``dry`` plans and writes nothing.

        Raises:
            NightInProgress: when a night is going on.
            NightFailed: when it could not be planned; what was applied before stays.
        """
        if self._running:
            raise NightInProgress(IN_PROGRESS)
        self._running = True
        self._refreshed = time.monotonic()
        self.outcome = NightOutcome(self._now())
        shown = 0
        try:
            await self._worker.catch_up()
            job = Job(self._now(), None if owners is None else tuple(owners), since)
            async with contextlib.aclosing(self._planner(job)) as planning:  # type: ignore[type-var]
                async for plain in planning:
                    planned = await self._improve(plain)
                    number = 0 if dry else await self._apply(planned)
                    shown += len(planned.diff.changes)
                    reported = planned if dry or shown <= SHOWN else replace(planned, diff=Diff(planned.diff.owner))
                    done = ((number, reported),) if number or (dry and not planned.diff.empty) else ()
                    self.outcome = replace(
                        self.outcome,
                        nights=(*self.outcome.nights, *done),
                        looked=self.outcome.looked + planned.looked,
                    )
            if not dry:
                if self._afterwards is not None:
                    await self._afterwards(job.now)
                await self._refresh()
            if owners is None and not dry:
                await self._journal.mark_night(job.now)
            self.outcome = replace(self.outcome, finished=True)
        except BaseException as error:
            fault = str(error) or type(error).__name__
            self.outcome = replace(self.outcome, finished=True, fault=fault)
            raise
        finally:
            self._running = False
        return self.outcome

    async def undo(self, number: int) -> None:
        """Take a night back.

        Raises:
            NightInProgress: when a night is going on.
            NotUndone: when there is no such night, or it cannot be taken back now; nothing has changed then.
        """
        if self._running:
            raise NightInProgress("a night is going on: wait until it is done")
        async with self._worker.resting():
            owners = await self._journal.undo_night(number, self._now())
            self._pages.changed(owners)
        self._worker.wake()
        await self._pages.refresh()

    async def _apply(self, planned: PlannedNight) -> int:
        async with self._worker.resting():
            number = await self._journal.apply_night(planned)
            self._pages.changed(frozenset({planned.diff.owner}))
        if planned.diff.changes:
            self._worker.wake()
        if time.monotonic() - self._refreshed > PAGES_SECONDS:
            await self._refresh()
        return number

    async def _refresh(self) -> None:
        await self._pages.refresh()
        self._refreshed = time.monotonic()

    async def _follow_schedule(self) -> None:
        """Look at the clock now and then, and begin a night when it is due."""
        started = self._now()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            started = min(started, self._now())  # a clock that was set back holds no night up
            due, _ = await self._guard(
                self._due(started), default=False, timeout_seconds=60, operation="looking at the clock"
            )
            if due and not self._running and not self._paused():
                _, why = await self._guard(
                    self.run(), default=None, timeout_seconds=WITHIN, operation="consolidating at night"
                )
                started = self._now()
                log.info("the night is over%s", f": {why}" if why else "")

    async def _due(self, started: datetime) -> bool:
        last, amount = await self._journal.last_night()
        if amount > self._settings.buffer:
            return True
        now = self._now()
        # A night by a clock that had run ahead is none: there would be no other until then.
        return now >= when_due(self._settings.schedule, last if last and last <= now else None, started)


def when_due(schedule: str, last: datetime | None, started: datetime) -> datetime:
    """When the next night is due: by the schedule after the last one, and never at once after the start."""
    after = (last or started).astimezone().replace(tzinfo=None)
    planned = next(CronSim(schedule, after), None)
    if planned is None:
        return datetime.max.replace(tzinfo=started.tzinfo)
    return max(planned.astimezone(), started + GRACE)
