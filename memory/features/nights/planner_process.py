"""A night is planned in a process of its own: started here, given the job, heard out."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import orjson

from memory.features.nights.consolidation.plan_codec import PlannedNight, read
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
