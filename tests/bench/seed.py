"""Fill a data folder with invented facts through memory's own stores, as if a team had worked for ten days.

python -m tests.bench.seed HOME [FACTS]
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

from memory.bootstrap import new_id, open_memory
from memory.fact import Category, Fact, Kind, Origin, Stream
from memory.scope import Layer, Scope
from memory.settings import MemorySettings

T = TypeVar("T")

PROJECT = "bench"
SCOPE = Scope(user="local", project=PROJECT)
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
BATCH = 1000

_SUBJECTS = (
    *("the importer", "the billing job", "the search page", "the login form", "the nightly export", "the CSV parser"),
    *("the webhook handler", "the retry queue", "the cache", "the mobile client", "the deploy script", "the audit log"),
)
_VERBS = ("keeps", "drops", "retries", "signs", "batches", "validates", "compresses", "rate-limits", "logs", "streams")
_OBJECTS = (
    "orders",
    "invoices",
    "sessions",
    "events",
    "uploads",
    "tokens",
    "rows",
    "messages",
    "thumbnails",
    "reports",
)
_REASONS = (
    *("because the vendor limits us", "since the March incident", "as decided with the platform team"),
    *("until the new schema is live", "because customers in Graz asked for it", "so that restarts are safe"),
)


def facts(count: int, seed: int = 7) -> Iterator[Fact]:
    """Invented facts; the same for the same seed."""
    rng = random.Random(seed)
    owner = SCOPE.owner(Layer.USER_PROJECT)
    assert owner is not None
    for number in range(count):
        words = f"{rng.choice(_SUBJECTS)} {rng.choice(_VERBS)} {rng.choice(_OBJECTS)}"
        at = NOW - timedelta(minutes=rng.randrange(10 * 24 * 60))
        yield Fact(
            id=new_id(),
            text=f"In service {number % 400}, {words} {rng.randrange(2, 90)} at a time {rng.choice(_REASONS)}.",
            owner=owner,
            kind=rng.choice((Kind.DECISION, Kind.FACT, Kind.CONVENTION)),
            category=Category.TECHNICAL,
            stream=Stream.PROJECTS,
            layer=Layer.USER_PROJECT,
            origin=Origin.USER,
            session=f"seed-{number // 20}",
            source=number.to_bytes(16, "big"),
            recorded_at=at,
            valid_from=at,
        )


def questions(seed: int = 8) -> Iterator[str]:
    """Questions about such facts, without end."""
    rng = random.Random(seed)
    while True:
        yield (
            f"How does {rng.choice(_SUBJECTS)} in service {rng.randrange(400)} handle {rng.choice(_OBJECTS)}, "
            f"and why did we decide that it {rng.choice(_VERBS)} them?"
        )


async def seed_home(home: Path, count: int) -> None:
    """Write the facts and bring the index up to them. The folder must be there."""

    async def guard(awaitable: Awaitable[T], *, otherwise: T, within: float, doing: str) -> tuple[T, str]:
        return await asyncio.wait_for(awaitable, within), ""

    memory = await open_memory(MemorySettings(), home, guard)
    assert memory is not None
    try:
        batch: list[Fact] = []
        for fact in facts(count):
            batch.append(fact)
            if len(batch) == BATCH:
                await memory.learner.remember(batch)
                batch = []
        if batch:
            await memory.learner.remember(batch)
    finally:
        await memory.close()


if __name__ == "__main__":
    folder = Path(sys.argv[1]).absolute()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    asyncio.run(seed_home(folder, int(sys.argv[2]) if len(sys.argv) > 2 else 10_000))
