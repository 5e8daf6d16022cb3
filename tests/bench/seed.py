"""Fill a data folder with invented facts through memory's own stores, as if a team had worked for ten days.

python -m tests.bench.seed HOME [FACTS] [USERS]
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import TypeVar

from memory.bootstrap import new_id, open_memory
from memory.fact import Category, Fact, FactKind, Origin, Stream
from memory.scope import Layer, Scope
from memory.settings import MemorySettings

T = TypeVar("T")

PROJECT = "bench"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
BATCH = 1000

_PARTS = """
    importer billing search login export parser webhook queue cache mobile deploy audit ledger invoice catalogue
    thumbnail session gateway scheduler mailer translator replica migration tokenizer dashboard onboarding checkout
    inventory warehouse courier refund voucher payroll calendar reminder sensor firmware telemetry renderer shader
    compiler linter crawler sitemap transcript subtitle playlist radio antenna glossary permission tenant quota
"""
_VERBS = """
    keeps drops retries signs batches validates compresses throttles logs streams mirrors hashes archives groups
    translates normalises rejects postpones duplicates encrypts samples merges rotates prefetches pins
"""
_THINGS = """
    orders invoices events uploads rows messages reports drafts tickets parcels coupons readings frames captions
    invitations backups snapshots addresses currencies holidays passages vectors branches releases certificates keys
    prices seats recipes songs maps routes photos comments votes
"""
_REASONS = (
    *("because the vendor limits us", "since the March incident", "as decided with the platform team"),
    *("until the new schema is live", "because customers in Graz asked for it", "so that restarts are safe"),
    *("as Petra found out in the load test", "for the auditors", "to save egress", "because Safari behaves oddly"),
    *("since the old library leaks memory", "unless the flag is off", "after the talk with legal", "by habit"),
)
_SHAPES = (
    "The {part} {verb} {thing} {number} at a time {reason}.",
    "We decided that {part}-{number} {verb} its {thing} {reason}.",
    "{thing} go through the {part} only at {number}:00, {reason}.",
    "Never touch {thing} in the {part} by hand; port {number} is where it {verb} them {reason}.",
    "Timo prefers that the {part} {verb} {thing} in chunks of {number} {reason}.",
)


def facts(count: int, seed: int = 7, users: Sequence[str] = ("local",)) -> Iterator[Fact]:
    """Invented facts of some users in turn, newest ones last; the same for the same seed."""
    rng = random.Random(seed)
    owners = [Scope(user=user, project=PROJECT).owner(Layer.USER_PROJECT) or "" for user in users]
    for number in range(count):
        text = rng.choice(_SHAPES).format(
            part=_frequent(rng, _PARTS),
            verb=_frequent(rng, _VERBS),
            thing=_frequent(rng, _THINGS),
            number=rng.randrange(2, 900),
            reason=rng.choice(_REASONS),
        )
        at = NOW - timedelta(minutes=rng.randrange(10 * 24 * 60))
        yield Fact(
            id=new_id(),
            text=text,
            owner=owners[number % len(owners)],
            kind=rng.choice((FactKind.DECISION, FactKind.FACT, FactKind.CONVENTION)),
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
        part, verb, thing = (_frequent(rng, words) for words in (_PARTS, _VERBS, _THINGS))
        yield f"How does the {part} handle {thing}, and why did we want that it {verb} them?"


def _frequent(rng: random.Random, lexicon: str) -> str:
    """A word, the first ones more often, as in real talk."""
    words = lexicon.split()
    return words[int(len(words) * rng.random() ** 2)]


async def seed_home(
    home: Path, count: int, users: Sequence[str] = ("local",), seed: int = 7, more: Iterable[Fact] = ()
) -> None:
    """Write the facts, and ``more`` of them, and bring the index up to them. The folder must be there."""

    async def guard(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
        return await asyncio.wait_for(awaitable, timeout_seconds), ""

    memory = await open_memory(MemorySettings(), home, guard)
    assert memory is not None
    try:
        batch: list[Fact] = []
        for fact in chain(facts(count, seed, users), more):
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
    people = [f"user{number}" for number in range(int(sys.argv[3]))] if len(sys.argv) > 3 else ["local"]
    asyncio.run(seed_home(folder, int(sys.argv[2]) if len(sys.argv) > 2 else 10_000, people))
