"""A night over a thousand new facts on top of many: how long it is planned, and how long it is written.

python -m tests.bench.nights [FACTS] [OWNERS]
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from memory.fact import Fact
from memory.features.nights.consolidation.diff import PlannedNight
from memory.features.nights.runner import Job, PlannerProcess
from memory.features.nights.store import NightStore
from memory.ports import Lesson
from memory.scope import Layer, Scope
from memory.settings import NightSettings
from memory.stores.journal import SqliteJournal
from tests.bench.seed import NOW, PROJECT, facts

NEW = 1000
BATCH = 2000


async def main(count: int, owners: int) -> None:
    """Measure a first night over everything, and one over what is new then."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-nights-") as folder:
        journal = SqliteJournal(Path(folder) / "journal.db", str)
        names = [
            Scope(user=f"user{number}", project=PROJECT).owner(Layer.USER_PROJECT) or "" for number in range(owners)
        ]
        invented = facts(count + NEW)
        try:
            print(f"{count} facts of {owners} owners")
            await _write(journal, list(islice(invented, count)), names)
            await _night(journal, Path(folder), "the first night")
            await _write(journal, list(invented), names)
            await _night(journal, Path(folder), f"a night over {NEW} new facts")
        finally:
            await journal.close()


async def _write(journal: SqliteJournal, new: Sequence[Fact], names: Sequence[str]) -> None:
    for start in range(0, len(new), BATCH):
        piece = [
            replace(fact, owner=names[number % len(names)]) for number, fact in enumerate(new[start : start + BATCH])
        ]
        await journal.learn(Lesson(0, tuple(piece), (), dict.fromkeys(names, BATCH)))


async def _night(journal: SqliteJournal, folder: Path, what: str) -> None:
    began, spent = time.perf_counter(), _children()
    planned: list[PlannedNight] = []
    longest = 0.0
    async for each in PlannerProcess(folder / "journal.db", NightSettings(), changed=journal.changed.take)(Job(NOW)):
        planned.append(each)
        start = time.perf_counter()
        await journal.part(NightStore).apply_night(each)
        longest = max(longest, time.perf_counter() - start)
    actions = Counter(change.action.value for each in planned for change in each.diff.changes)
    print(
        f"{what}: {time.perf_counter() - began:.1f} s, of them {_children() - spent:.1f} s of another process; "
        f"{dict(actions)}, the longest transaction {longest * 1000:.0f} ms"
    )


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:]]
    asyncio.run(main(*(numbers or [10_000, 1])) if len(numbers) != 1 else main(numbers[0], 1))
