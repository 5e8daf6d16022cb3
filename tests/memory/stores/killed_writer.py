"""A process that writes as fast as it can and says what was acknowledged, until it is killed.

Lines: ``e ID`` an exchange is in the journal, ``f ID`` a fact is learned, ``p ID`` it is in the index and so marked.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from pathlib import Path

import numpy as np

from memory.ports import Lesson, Point
from memory.stores.generations import FolderIndexes, Generations
from memory.stores.journal import SqlJournal
from tests.memory.stores.derived_facts import exchange, fact, open_journal, session, user

SESSIONS = 4


class OneDimension:
    """The embedder of this test."""

    name = "one"
    dimensions = 1
    quick = True


def say(kind: str, id: str) -> None:
    # One write call: a line is told whole or not at all.
    sys.stdout.write(f"{kind} {id}\n")
    sys.stdout.flush()


async def talk(journal: SqlJournal, life: int, number: int) -> None:
    """One session, whose requests grow by one message each."""
    of, history = session(f"{life}-{number}"), []
    for turn in range(10_000):
        history.append(user(f"{life} {number} {turn}"))
        id = f"{life}-{number}-{turn}"
        await journal.commit(exchange(id, history, f"answer {id}", of=of))
        say("e", id)


async def work(journal: SqlJournal, home: Path) -> None:
    """The worker: learns a fact from each exchange and puts it into the index."""
    index, generation = await Generations(journal, FolderIndexes(home / "index")).open_current(OneDimension())  # type: ignore[arg-type]
    while True:
        for told in await journal.unlearned(8):
            one = fact(f"learned from {told.id}", id=str(uuid.uuid5(uuid.NAMESPACE_OID, told.id)))
            await journal.learn(Lesson(told.number, (one,), (), {one.owner: 1}, {one.owner: {1: 1}}))
            say("f", one.id)
        lag = await journal.unindexed(8, generation.number)
        vector = np.ones(1, dtype=np.float32)
        await index.upsert([Point(each.id, each.owner, "fact", 0.0, vector, {1: 1.0}) for each in lag.facts])
        await journal.mark_indexed(lag.ids)
        for id in lag.ids:
            say("p", id)
        await asyncio.sleep(0)


async def main(home: Path, life: int) -> None:
    journal = open_journal(home)
    say("o", "pen")
    await asyncio.gather(work(journal, home), *(talk(journal, life, number) for number in range(SESSIONS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
