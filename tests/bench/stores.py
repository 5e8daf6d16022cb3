"""How long the stores take: ``python -m tests.bench.stores [journal|index] [POINTS...]``.

The journal: a commit of one new user message to a history of 2,000, what the worker reads, opening a large file.
The index: a search for 60 candidates of each leg among one of 20 owners' memories, 256 dimensions.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np

from memory.ports import Lesson, Point, Query
from memory.stores.index_edge import EdgeIndex
from memory.stores.journal import SqliteJournal
from tests.memory.stores.derived_facts import assistant, exchange, fact, open_journal, passage, user

OWNERS, DIMENSIONS, LIMIT = 20, 256, 60


async def timed(name: str, times: int, step: Callable[[int], Awaitable[object]]) -> None:
    """Run a step so often and print the quantiles."""
    taken, cpu = [], time.process_time()
    for turn in range(times):
        start = time.perf_counter()
        await step(turn)
        taken.append((time.perf_counter() - start) * 1000)
    cpu = (time.process_time() - cpu) * 1000 / times
    taken.sort()
    p50, p99 = taken[times // 2], taken[int(times * 0.99)]
    print(f"{name:58} p50 {p50:7.2f}  p99 {p99:7.2f}  max {taken[-1]:7.2f} ms  (CPU {cpu:.2f} ms)")


def memory() -> str:
    """Resident memory of this process, and the part of it that is not a mapped file."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    whole, anonymous = (int(lines[name].split()[0]) // 1024 for name in ("VmRSS", "RssAnon"))
    return f"RSS {whole} MB, of that anonymous {anonymous} MB"


def prose(chance: random.Random, words: int) -> str:
    return " ".join(f"w{chance.paretovariate(0.7):.0f}" for _ in range(words))


async def bench_journal(folder: Path) -> None:
    chance = random.Random(1)
    journal = open_journal(folder)
    history = [user(prose(chance, 200))]

    async def turn(number: int) -> None:
        answer = prose(chance, 60)
        history.append(user(prose(chance, 60)))
        await journal.commit(exchange(f"e{number}", history, answer))
        history.append(assistant(answer))

    for number in range(1000):
        await turn(number)
    print(f"history of {len(history)} messages, {memory()}")
    await timed("commit, one after the other", 400, lambda n: turn(1000 + n))

    await timed("16 commits at once", 20, lambda n: asyncio.gather(*(turn(3000 + n * 16 + k) for k in range(16))))
    await journal.learn(Lesson(1300))
    await timed("unlearned(1), history of 2,600, not at hand then at hand", 20, lambda n: journal.unlearned(1))
    await timed("unlearned(20)", 5, lambda n: journal.unlearned(20))
    chain = exchange("x", history).conversation.trail()
    await timed("session by trail", 50, lambda n: journal.session_by_trail("ns", chain))
    facts = [fact(prose(chance, 12)) for _ in range(20_000)]
    passages = [passage(prose(chance, 60), turn=n) for n in range(20_000)]
    start = time.perf_counter()
    for at in range(0, len(facts), 500):
        some = facts[at : at + 500]
        terms = {some[0].owner: {chance.randrange(2**32): 1 for _ in range(1500)}}
        await journal.learn(Lesson(0, tuple(some), tuple(passages[at : at + 500]), {some[0].owner: 1000}, terms))
    print(f"{40_000 / (time.perf_counter() - start):.0f} memories a second learned, {memory()}")
    sample = [each.id for each in chance.sample(facts, 60)]
    await timed("60 facts by id", 50, lambda n: journal.facts(sample))
    owner = facts[0].owner
    await timed("rarity of 12 terms", 50, lambda n: journal.rarity([owner], list(range(12))))
    await timed("learn one fact", 100, lambda n: journal.learn(Lesson(0, (fact(f"one {n}"),))))
    await timed("begin a generation of 40,000", 1, lambda n: journal.begin_generation("static", 256))
    await timed("forget one", 5, lambda n: journal.forget([facts[n].id], facts[n].recorded_at))
    await journal.close()
    print(f"{(folder / 'store' / 'journal.sqlite').stat().st_size >> 20} MB")


async def bench_open(folder: Path) -> None:
    journal = open_journal(folder)
    await journal._db.write(lambda c: c.execute("CREATE TABLE ballast (data BLOB)"))
    for _ in range(100):
        await journal._db.write(lambda c: c.execute("INSERT INTO ballast VALUES (randomblob(10000000))"))
    await journal.close()

    async def step(number: int) -> None:
        opened = SqliteJournal(folder / "store" / "journal.sqlite", str)
        await opened.commit(exchange(f"o{number}", [user(os.urandom(9).hex())]))
        await opened.close()

    size = (folder / "store" / "journal.sqlite").stat().st_size >> 20
    await timed(f"open {size} MB, commit, close", 5, step)


async def bench_index(folder: Path, points: int) -> None:
    index = await EdgeIndex.open(folder / f"index-{points}", DIMENSIONS)
    rng = np.random.default_rng(0)
    terms = (rng.zipf(1.3, size=points * 15) % 30_000).astype(np.int64) * 2_654_435_761 % 2**32

    def unit(count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        vectors = rng.standard_normal((count, DIMENSIONS)).astype(np.float32)
        unit: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = vectors / np.linalg.norm(
            vectors, axis=1, keepdims=True
        )
        return unit

    start = time.perf_counter()
    for first in range(0, points, 1000):
        vectors = unit(1000)
        await index.upsert(
            [
                Point(
                    str(uuid.UUID(int=n + 1)), f"up:/u{n % OWNERS}/p", "fact" if n % 5 else "turn", float(n),
                    vectors[n - first], dict.fromkeys(terms[n * 15 : n * 15 + 15].tolist(), 1.0),
                )
                for n in range(first, first + 1000)
            ]
        )  # fmt: skip
    print(f"{points} points, {points / (time.perf_counter() - start):.0f} a second, {memory()}")

    def query(**more: float) -> Query:
        at = int(rng.integers(0, points * 15 - 8))
        return Query(("up:/u1/p", "u:/u1"), unit(1)[0], dict.fromkeys(terms[at : at + 8].tolist(), 2.0), LIMIT, **more)  # type: ignore[arg-type]

    await timed(f"search {points}", 200, lambda n: index.search(query()))
    await timed("search between two times", 100, lambda n: index.search(query(since=points * 0.5, until=points * 0.9)))
    await index.close()
    start = time.perf_counter()
    index = await EdgeIndex.open(folder / f"index-{points}", DIMENSIONS)
    print(f"opened in {time.perf_counter() - start:.2f} s, {memory()}")
    await index.close()


async def main(what: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not what or "journal" in what:
            await bench_journal(folder / "journal")
            await bench_open(folder / "open")
        if not what or "index" in what:
            for points in [int(each) for each in what if each.isdigit()] or [10_000, 100_000]:
                await bench_index(folder, points)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
