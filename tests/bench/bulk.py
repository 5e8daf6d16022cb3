"""A data folder with very many facts, in a minute or three: some are learned as always, the rest are copies of them.

Copies are written straight into the store, and into the index with the vectors of what they were copied from. Nights
have seen all of it.
"""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import TypeVar

from memory.bootstrap import open_memory
from memory.fact import Fact, State
from memory.provenance import quarantined
from memory.scope import Layer, Scope
from memory.services.lessons.indexing import points_of
from memory.settings import MemorySettings
from tests.bench.seed import NOW, PROJECT, facts, seed_home

T = TypeVar("T")

LEARNED = 5000
"""Facts that are learned; the others are copies of them."""

BATCH = 5000

DOUBTED = 0.5
"""The confidence of a draft."""

DRAFTED = 9
"""The seed of the drafts, which say other things than the facts do."""


async def bulk_home(home: Path, count: int, drafts: int = 0) -> None:
    """Fill a data folder, which must be there, with so many facts that hold, and so many that were read with doubt."""
    await seed_home(home, min(count, LEARNED), more=_doubted(drafts))
    if count > LEARNED:
        copies = await asyncio.to_thread(copied, home / "journal.db", count - LEARNED)
        await _index(home, copies)


def _doubted(count: int) -> Iterator[Fact]:
    """Drafts of the last days: a night puts old ones away."""
    later = datetime.now(UTC) - NOW
    for each in facts(count, seed=DRAFTED):
        at = each.recorded_at + later
        yield replace(each, state=State.DRAFT, confidence=DOUBTED, recorded_at=at, valid_from=at)


def copied(journal: Path, more: int) -> list[tuple[str, str]]:
    """Write the copies; of each the id of what it was copied from, and its own."""
    with closing(sqlite3.connect(journal)) as connection, connection:
        connection.row_factory = sqlite3.Row
        rows = connection.execute("SELECT * FROM facts WHERE state = ? ORDER BY number", (State.ACTIVE,)).fetchall()
        columns = [name for name in rows[0].keys() if name != "number"]  # noqa: SIM118 - a row has no names by itself
        pairs = [(str(row["id"]), str(uuid.uuid4())) for row in islice(cycle(rows), more)]
        values = (
            tuple(id if name == "id" else row[name] for name in columns)
            for row, (_, id) in zip(cycle(rows), pairs, strict=False)
        )
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO facts ({', '.join(columns)}) VALUES ({marks})", values)
        connection.execute("CREATE TEMP TABLE copies (original TEXT, copy TEXT)")
        connection.executemany("INSERT INTO copies VALUES (?, ?)", pairs)
        connection.execute(
            "INSERT INTO named SELECT named.name, copies.copy FROM copies JOIN named ON named.memory = copies.original"
        )
        connection.execute("DELETE FROM graph_due")
        times = 1 + more // len(rows)
        connection.execute("UPDATE terms SET texts = texts * ?", (times,))
        connection.execute("UPDATE owners SET texts = texts * ?", (times,))
        last = connection.execute("SELECT max(number) AS last FROM facts").fetchone()["last"]
        person = Scope(user="local", project=PROJECT)
        connection.executemany(
            "INSERT INTO night_cursors (owner, fact, passage, unread, plain, at) VALUES (?, ?, 0, 0, 0, ?)",
            [(person.owner(layer), last, NOW.isoformat()) for layer in (Layer.USER_PROJECT, Layer.USER)],
        )
    return pairs


def let_wait(journal: Path, each: int) -> None:
    """Let so many candidates and as many contradictions wait, put as many facts of one session into quarantine, and say
    that as many candidates more are decided. What is active is taken for it, the newest first."""
    owner = Scope(user="local", project=PROJECT).owner(Layer.USER_PROJECT) or ""
    with closing(sqlite3.connect(journal)) as connection, connection:
        found = "SELECT id, text FROM facts WHERE state = 'active' AND owner = ? ORDER BY number DESC LIMIT ?"
        rows = connection.execute(found, (owner, 4 * each)).fetchall()
        pairs = [(one[0], other[0]) for one, other in pairwise(rows[: 2 * each])][::2]
        contradicts = "UPDATE facts SET contradicts = json_array(?) WHERE id = ?"
        connection.executemany(contradicts, [side for one, other in pairs for side in ((other, one), (one, other))])
        put_away = "UPDATE facts SET owner = ?, session = 'an import' WHERE id = ?"
        away, *_ = quarantined([owner])
        connection.executemany(put_away, [(away, row[0]) for row in rows[2 * each : 3 * each]])
        at = NOW.isoformat()
        for number, (_, text) in enumerate(rows[3 * each :] * 2):
            held, id = number >= len(rows[3 * each :]), str(uuid.uuid4())
            connection.execute(
                "INSERT INTO candidates (id, owner, kind, mark, layer, title, text, what, sources, sessions, state,"
                " made_at, decided_at, reason, sources_then, sessions_then, fact)"
                " VALUES (?, ?, 'knowledge', ?, 'project', ?, ?, 'correction', 3, 3, ?, ?, ?, '', 0, 0, '')",
                (id, owner, id, text, text, "rejected" if held else "waiting", at, at if held else None),
            )
            evidence = [(id, row[0]) for row in rows[number % each : number % each + 3]]
            connection.executemany("INSERT INTO candidate_evidence VALUES (?, ?)", evidence)


async def _index(home: Path, copies: Sequence[tuple[str, str]]) -> None:
    async def guard(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
        return await asyncio.wait_for(awaitable, timeout_seconds), ""

    memory = await open_memory(MemorySettings(), home, guard)
    assert memory is not None
    try:
        async with memory.learner.resting():
            known: list[Fact] = await memory.journal.facts(list(dict.fromkeys(original for original, _ in copies)))
            points = {point.id: point for point in await asyncio.to_thread(points_of, known, memory.recall.embedder)}
            for begin in range(0, len(copies), BATCH):
                some = copies[begin : begin + BATCH]
                await memory.recall.index.upsert([replace(points[original], id=copy) for original, copy in some])
    finally:
        await memory.close()
