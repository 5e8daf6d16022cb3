"""The fields by which Qdrant's engine filters are indexed once there are many points, and it answers alike before."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import qdrant_edge as edge

from memory.ports import Point, Query
from memory.stores import index_edge
from memory.stores.index_edge import FIELDS_FROM, EdgeIndex

DIMENSIONS = 8
FIELDS = {"owner", "sort", "at"}
NOTHING_AT_HAND = 0
"""So that the engine itself answers."""


def points(count: int, begin: int = 0) -> list[Point]:
    """Points of three owners, of two sorts, at times of their own."""
    rng = np.random.default_rng(5)
    dense = rng.standard_normal((begin + count, DIMENSIONS)).astype(np.float32)
    return [
        Point(
            str(uuid.UUID(int=number + 1)), ("ann", "bob", "up:/ann/x")[number % 3],
            "fact" if number % 2 else "turn", float(number), dense[number], {number % 7: 1.0 + number / 100},
        )
        for number in range(begin, begin + count)
    ]  # fmt: skip


async def opened(folder: Path) -> EdgeIndex:
    return await EdgeIndex.open(folder, DIMENSIONS, at_hand=NOTHING_AT_HAND)


def indexed(index: EdgeIndex) -> set[str]:
    """The fields that the engine has indexed."""
    return set(index._shard.info().payload_schema)


async def answers(index: EdgeIndex) -> list[dict[str, tuple[float, float]]]:
    """What is found by meaning and by words, of one owner and of several, with each of the filters."""
    asked = np.ones(DIMENSIONS, dtype=np.float32)
    ways: list[dict[str, Any]] = [
        {}, {"sort": "turn"}, {"since": 40.0}, {"until": 90.0}, {"sort": "fact", "since": 40.0, "until": 90.0},
    ]  # fmt: skip
    told = []
    for owners in (("ann",), ("ann", "up:/ann/x"), ("an",), ("ann", "bob", "up:/ann/x")):
        for way in ways:
            hits = await index.search(Query(owners, asked, {3: 1.0, 5: 0.5}, 20, **way))
            told.append({hit.id: (round(hit.cosine, 4), round(hit.lexical, 4)) for hit in hits})
    return told


async def test_from_the_border_on_fields_are_indexed_also_after_a_restart(tmp_path: Path) -> None:
    index = await opened(tmp_path / "index")
    await index.upsert(points(FIELDS_FROM - 1))
    assert indexed(index) == set()
    await index.close()
    index = await opened(tmp_path / "index")
    assert indexed(index) == set()
    await index.upsert(points(1, begin=FIELDS_FROM - 1))
    assert indexed(index) == FIELDS
    await index.delete([point.id for point in points(FIELDS_FROM // 2)])
    await index.close()
    index = await opened(tmp_path / "index")
    assert indexed(index) == FIELDS
    await index.close()


async def test_a_bulk_of_points_indexes_them(tmp_path: Path) -> None:
    index = await opened(tmp_path / "index")
    await index.upsert(points(3 * FIELDS_FROM))
    assert indexed(index) == FIELDS and await index.count() == 3 * FIELDS_FROM
    await index.close()


async def test_what_a_kill_has_left_unindexed_is_indexed_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as killed:
        killed.setattr(index_edge, "FIELDS_FROM", 10 * FIELDS_FROM)
        index = await opened(tmp_path / "index")
        await index.upsert(points(FIELDS_FROM))
        index._shard.update(edge.UpdateOperation.create_field_index("sort", edge.KeywordIndexParams()))
        expected = await answers(index)
        await index.close()
    index = await opened(tmp_path / "index")
    assert indexed(index) == FIELDS
    assert await answers(index) == expected
    await index.close()


@pytest.mark.parametrize("count", [FIELDS_FROM - 1, FIELDS_FROM, FIELDS_FROM + 200])
async def test_indexed_and_unindexed_fields_answer_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    told = []
    for border in (1, 10 * count):
        monkeypatch.setattr(index_edge, "FIELDS_FROM", border)
        index = await opened(tmp_path / f"from-{border}")
        await index.upsert(points(count))
        await index.delete([point.id for point in points(20)])
        await index.upsert(points(10))
        assert indexed(index) == (FIELDS if border == 1 else set())
        told.append(await answers(index))
        await index.close()
    assert told[0] == told[1] and sum(map(bool, told[0])) == 15
