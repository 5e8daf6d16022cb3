"""The processor time of one whole recall, by how much is remembered: without a proxy, on the thread that serves.

    python -m tests.bench.recall_cpu [--homes FOLDER] [--asked 400] [FACTS...]     (1000 10000 where none are named)

Questions that have answers are asked of the real stores: understood, searched for, ranked and packed into 600 tokens,
each in a session of its own. What is told is the time of the asking thread and of all threads; the first quarter of the
questions only makes ready. With --homes the written facts are kept in a folder and taken from there.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable
from pathlib import Path
from statistics import median
from typing import TypeVar

from memory.bootstrap import new_id, open_memory
from memory.conversation import Conversation, Message, Role, Text
from memory.parts import Memory
from memory.scope import Scope
from memory.services.context_sources import Recalled
from memory.session import Arrival, RequestKind, Session
from memory.settings import MemorySettings
from tests.bench.seed import NOW, PROJECT, questions, seed_home

T = TypeVar("T")

BUDGET = 600
ONE_THREAD = "OPENBLAS_NUM_THREADS"
"""As the server has it: products of matrices are worked out on the thread that asks for them."""
SCOPE = Scope(user="local", project=PROJECT)


async def _plainly(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    return await awaitable, ""


async def ask(memory: Memory, text: str) -> Recalled:
    """One recall."""
    conversation = Conversation("bench", "", (Message(Role.USER, (Text(text),), text.encode()[:16], spoken=text),))
    session = Session(new_id(), "", SCOPE, "bench", NOW, NOW)
    arrival = Arrival(SCOPE, RequestKind.MAIN, "bench", "", NOW)
    return await memory.recall.recall(conversation, session, arrival, BUDGET, {})


async def measure(home: Path, size: int, count: int) -> str:
    """A row of the table."""
    memory = await open_memory(MemorySettings(), home, _plainly)
    assert memory is not None
    try:
        for following in memory.followers:
            await following.stop()
        for worker in (memory.entity_graph, memory.index_repair, memory.retention):
            await worker.stop()
        memory.cache_warmer.owner_seen(SCOPE)
        await memory.cache_warmer.settle()
        ways, own, recalled = questions(seed=17), list[float](), 0
        for _ in range(count // 4):
            await ask(memory, next(ways))
        every = time.process_time()
        for _ in range(count):
            began = time.thread_time()
            found = await ask(memory, next(ways))
            own.append(time.thread_time() - began)
            recalled += bool(found.text)
        every = (time.process_time() - every) / count
    finally:
        await memory.close()
    own.sort()
    p99 = own[len(own) * 99 // 100]
    return f"| {size} | {median(own) * 1e3:.2f} | {p99 * 1e3:.2f} | {every * 1e3:.2f} | {recalled / count:.0%} |"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("facts", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--homes", type=Path)
    parser.add_argument("--asked", type=int, default=400)
    arguments = parser.parse_args()
    if ONE_THREAD not in os.environ:
        # Read when numpy is imported, which it is by now.
        again = [sys.executable, "-m", "tests.bench.recall_cpu", *sys.argv[1:]]
        os.execve(sys.executable, again, {**os.environ, ONE_THREAD: "1"})
    print("| facts | its thread p50, ms | p99 | all threads, mean | recalled |\n| --: | --: | --: | --: | --: |")
    with tempfile.TemporaryDirectory(prefix="palimpsest-recall-") as kept:
        for size in arguments.facts:
            written = (arguments.homes or Path(kept)) / f"recall-{size}"
            if not written.exists():
                written.mkdir(mode=0o700, parents=True)
                asyncio.run(seed_home(written, size))
            shutil.copytree(written, home := Path(kept) / f"home-{size}")
            print(asyncio.run(measure(home, size, arguments.asked)), flush=True)


if __name__ == "__main__":
    main()
