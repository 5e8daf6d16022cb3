"""How long a request waits for what it shows to be looked up in the checkout: ``python -m tests.bench.citations``.

A repository of ``--files`` files, ``--facts`` facts that each cite a symbol in one of them, and ``--requests`` requests
that each find as many as are shown at most; every ``--edit``-th request comes after some of the files were written
again. Time is measured around the hook alone, in a process that does nothing else, as recall calls it; beside it stands
what a hop to a thread and back takes on the machine at that time, without any work, and how long the processor worked
for the hook in the thread of the request.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.checkout import Checkout
from memory.fact import Fact
from memory.features.checkouts.feature import CheckoutsFeature
from memory.hooks import chain
from memory.hooks.feature import Core
from memory.ports import Lesson
from memory.scope import Layer, Scope
from memory.session import Arrival, RequestKind, Session
from memory.settings import MemorySettings
from memory.stores.journal import SqliteJournal
from tests.memory.features.checkouts.repository import Repository
from tests.memory.stores.derived_facts import fact

SCOPE = Scope(None, "ada", "loom")
SEARCH_SECONDS = 0.01
"""How long recall searches before it knows what it would show."""
AT = datetime(2026, 3, 4, tzinfo=UTC)
UNUSED: Any = None
"""What this feature asks nothing of."""


def _module(number: int) -> str:
    body = "\n\n".join(f"def step_{number}_{line}(value):\n    return value + {line}" for line in range(120))
    return f'"""Module {number}."""\n\n{body}\n'


async def measured(folder: Path, files: int, facts: int, shown: int, requests: int, edit: int) -> dict[str, float]:
    """Milliseconds of the hook, and how much was marked in time."""
    repository = Repository(folder / "loom")
    for number in range(files):
        repository.write(f"src/m{number}.py", _module(number))
    commit = repository.commit("many")
    root = str(repository.root)
    journal = SqliteJournal(folder / "journal.db", lambda text: text)
    feature = CheckoutsFeature(Core(MemorySettings(), journal, lambda: "", lambda: AT, folder, UNUSED, UNUSED))
    owner = SCOPE.owner(Layer.USER_PROJECT) or ""
    known: list[Fact] = []
    for number in range(facts):
        text = f"The function step_{number % files}_{number % 120} in src/m{number % files}.py adds {number % 120}."
        known.append(replace(fact(text), id=f"f{number}", owner=owner))
    here = Checkout(root, "main", commit)
    await journal.learn(Lesson(0, tuple(known), checkout=here, learnt={each.id: False for each in known}))
    session = Session("s", "s", SCOPE, "bench", AT, AT)
    random.seed(7)
    spent: list[float] = []
    worked: list[float] = []
    hops: list[float] = []
    marked = whole = 0
    await feature.arrived(session, _arrival(root, AT))
    view = feature.sight.view(root)
    assert view is not None
    while await feature.upkeep.look_into_new(view):
        pass
    for number in range(requests):
        if edit and number % edit == edit - 1:
            for _ in range(3):
                which = random.randrange(files)
                repository.write(f"src/m{which}.py", _module(which) + f"# {number}\n")
        arrival = _arrival(root, datetime.fromtimestamp(AT.timestamp() + number, UTC))
        beside = asyncio.create_task(feature.arrived(session, arrival))
        asked = random.sample(known, shown)
        await asyncio.sleep(SEARCH_SECONDS)
        start = time.perf_counter()
        await asyncio.to_thread(int)
        hops.append((time.perf_counter() - start) * 1000)
        start, worked_before = time.perf_counter(), time.thread_time()
        marks = await feature.marks(session, arrival, asked, chain.MARK_SECONDS)
        spent.append((time.perf_counter() - start) * 1000)
        worked.append((time.thread_time() - worked_before) * 1000)
        marked += len(marks)
        whole += len(asked)
        await beside
    await journal.close()
    spent.sort()
    worked.sort()
    hops.sort()
    return {
        "a hop, p50 ms": hops[len(hops) // 2],
        "a hop, p99 ms": hops[int(len(hops) * 0.99)],
        "p50 ms": spent[len(spent) // 2],
        "p99 ms": spent[int(len(spent) * 0.99)],
        "most ms": spent[-1],
        "processor, p50": worked[len(worked) // 2],
        "processor, p99": worked[int(len(worked) * 0.99)],
        "within 2 ms": sum(each <= chain.MARK_SECONDS * 1000 for each in spent) / len(spent),
        "marked in time": marked / whole,
    }


def _arrival(root: str, at: datetime) -> Arrival:
    return Arrival(SCOPE, RequestKind.MAIN, "bench", "n", at, checkout=root)


def main() -> None:
    """Measure, and print it."""
    told = argparse.ArgumentParser(description=__doc__)
    told.add_argument("--files", type=int, default=200)
    told.add_argument("--facts", type=int, default=2000)
    told.add_argument("--shown", type=int, default=20)
    told.add_argument("--requests", type=int, default=500)
    told.add_argument("--edit", type=int, default=5)
    asked = told.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(measured(Path(folder), asked.files, asked.facts, asked.shown, asked.requests, asked.edit))
    for name, value in found.items():
        print(f"{name:16} {value:.3f}")


if __name__ == "__main__":
    main()
