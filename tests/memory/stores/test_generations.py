"""The index can be deleted, damaged or outgrown, and is made again from the journal."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from memory.ports import Generation, Index, Lag, Lesson, Point, Query, Vector
from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.generations import FolderIndexes, Generations
from memory.stores.index_edge import EdgeIndex
from memory.stores.journal import SqlJournal
from tests.memory.stores.derived_facts import fact, open_journal, owner
from tests.sparse_files import read_written


class Flat:
    """An embedder for which all texts are alike."""

    def __init__(self, name: str = "static", dimensions: int = 4) -> None:
        self.name = name
        self.dimensions = dimensions
        self.quick = True

    def documents(self, texts: Sequence[str]) -> Vector:
        return np.stack([self.query(text) for text in texts])

    def query(self, text: str, idf: Callable[[str], float] | None = None) -> Vector:
        vector = np.zeros(self.dimensions, dtype=np.float32)
        vector[0] = 1.0
        return vector


def points(lag: Lag, embedder: Flat) -> list[Point]:
    return [Point(each.id, each.owner, "fact", 0.0, embedder.query(each.text), {}) for each in lag.facts]


async def take_in(journal: SqlJournal, generation: Generation, index: Index, embedder: Flat) -> None:
    while (lag := await journal.unindexed(3, generation.number)).ids:
        await index.upsert(points(lag, embedder))
        await journal.mark_indexed(lag.ids, generation.number)


async def texts(journal: SqlJournal, index: Index, embedder: Flat) -> set[str]:
    hits = await index.search(Query((owner(),), embedder.query(""), {}, 100))
    return {each.text for each in await journal.facts([hit.id for hit in hits])}


async def learn(journal: SqlJournal, *told: str) -> None:
    await journal.learn(Lesson(0, tuple(fact(text) for text in told)))


async def folders(home: Path) -> list[str]:
    return sorted(await asyncio.to_thread(lambda: [path.name for path in home.iterdir()]))


async def test_an_index_is_filled_once_and_opened_as_it_is_then(journal: SqlJournal, tmp_path: Path) -> None:
    await learn(journal, "a", "b", "c", "d")
    generations = Generations(journal, FolderIndexes(tmp_path / "index"))
    index, generation = await generations.open_current(Flat())
    await take_in(journal, generation, index, Flat())
    await index.close()
    again, same = await generations.open_current(Flat())
    assert same.number == generation.number
    assert await journal.waiting() == 0
    assert await texts(journal, again, Flat()) == {"a", "b", "c", "d"}
    await again.close()


@pytest.mark.parametrize("harm", ["deleted", "emptied", "damaged"])
async def test_an_index_that_is_gone_or_damaged_is_made_again(journal: SqlJournal, tmp_path: Path, harm: str) -> None:
    await learn(journal, "a", "b")
    home = tmp_path / "index"
    generations = Generations(journal, FolderIndexes(home))
    index, generation = await generations.open_current(Flat())
    await take_in(journal, generation, index, Flat())
    await index.close()
    (name,) = await folders(home)
    if harm == "damaged":
        for path in (home / name).rglob("*"):
            if path.is_file():
                path.write_bytes(b"\xff" * 100)
    else:
        shutil.rmtree(home / name)
        if harm == "emptied":
            (home / name).mkdir()
    fresh, newer = await generations.open_current(Flat())
    assert newer.number > generation.number
    assert await journal.waiting() == 2
    await take_in(journal, newer, fresh, Flat())
    assert await texts(journal, fresh, Flat()) == {"a", "b"}
    assert await folders(home) == [generations.name(newer)]
    await fresh.close()


async def test_another_embedder_gets_an_index_of_its_own(journal: SqlJournal, tmp_path: Path) -> None:
    await learn(journal, "a")
    generations = Generations(journal, FolderIndexes(tmp_path / "index"))
    index, generation = await generations.open_current(Flat())
    await take_in(journal, generation, index, Flat())
    await index.close()
    wider = Flat("Other: Embedder/v2", 8)
    index, generation = await generations.open_current(wider)
    assert await journal.waiting() == 1
    await take_in(journal, generation, index, wider)
    assert await texts(journal, index, wider) == {"a"}
    assert [each.embedder for each in await journal.generations()] == ["Other: Embedder/v2"]
    assert (await folders(tmp_path / "index"))[0].startswith("other-embedder-v2-8-")
    await index.close()


async def test_a_new_index_is_filled_beside_the_one_that_is_searched(journal: SqlJournal, tmp_path: Path) -> None:
    await learn(journal, "a", "b")
    generations = Generations(journal, FolderIndexes(tmp_path / "index"))
    old, current = await generations.open_current(Flat())
    await take_in(journal, current, old, Flat())
    wider = Flat("wider", 8)
    begun, new = await generations.begin(wider)
    lag = await journal.unindexed(1, begun.number)
    await new.upsert(points(lag, wider))
    await journal.mark_indexed(lag.ids, begun.number)
    # Something is learned in the middle of it; both indexes take it in.
    await learn(journal, "c")
    await take_in(journal, current, old, Flat())
    assert await texts(journal, old, Flat()) == {"a", "b", "c"}
    await take_in(journal, begun, new, wider)
    await old.close()
    await generations.switch(begun)
    assert await texts(journal, new, wider) == {"a", "b", "c"}
    assert await folders(tmp_path / "index") == [generations.name(begun)]
    await new.close()


async def test_a_rebuild_that_is_given_up_leaves_nothing(journal: SqlJournal, tmp_path: Path) -> None:
    await learn(journal, "a")
    generations = Generations(journal, FolderIndexes(tmp_path / "index"))
    index, current = await generations.open_current(Flat())
    begun, new = await generations.begin(Flat("wider", 8))
    await new.close()
    await generations.drop(begun)
    assert await folders(tmp_path / "index") == [generations.name(current)]
    assert [each.number for each in await journal.generations()] == [current.number]
    await index.close()


async def test_what_another_journal_left_behind_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    first = open_journal(tmp_path / "first")
    await learn(first, "a")
    index, generation = await Generations(first, FolderIndexes(tmp_path / "index")).open_current(Flat())
    await take_in(first, generation, index, Flat())
    await index.close()
    await first.close()
    second = open_journal(tmp_path / "second")
    generations = Generations(second, FolderIndexes(tmp_path / "index"))
    index, generation = await generations.open_current(Flat())
    assert await index.count() == 0
    await index.close()
    index, _ = await generations.open_current(Flat())
    assert await folders(tmp_path / "index") == [generations.name(generation)]
    await index.close()
    await second.close()


async def test_an_index_that_another_owner_holds_is_not_thrown_away(journal: SqlJournal, tmp_path: Path) -> None:
    generations = Generations(journal, FolderIndexes(tmp_path / "index"))
    index, _ = await generations.open_current(Flat())
    with pytest.raises(StoreFault, match="owns the index") as caught:
        await generations.open_current(Flat())
    assert caught.value.fault is StoreFaultKind.LOCKED
    assert len(await journal.generations()) == 1
    await index.close()


async def test_a_closed_index_says_so(tmp_path: Path) -> None:
    index = await EdgeIndex.open(tmp_path / "index", 4)
    await index.close()
    await index.close()
    with pytest.raises(StoreFault, match="closed"):
        await index.count()


async def test_a_deleted_vector_is_no_longer_in_the_files(tmp_path: Path) -> None:
    index = await EdgeIndex.open(tmp_path / "index", 4)
    vector = np.array([0.123, 0.456, 0.789, 0.3917], dtype=np.float32)
    one = fact("x")
    await index.upsert([Point(one.id, one.owner, "fact", 0.0, vector, {7: 1.0})])

    def stored() -> bytes:
        return b"".join(read_written(path) for path in (tmp_path / "index").rglob("*") if path.is_file())

    assert vector.tobytes() in await asyncio.to_thread(stored)
    await index.delete([one.id])
    await index.close()
    assert vector.tobytes() not in await asyncio.to_thread(stored)
