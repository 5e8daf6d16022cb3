"""Vectors at hand say what a search among an owner's points would say, and nothing of anybody else's."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memory.ports import Found, Point, Query
from memory.stores.index_edge import EdgeIndex
from memory.stores.vectors import OwnVectors

OWNERS = ("ann", "bob")

POINTS = st.tuples(st.sampled_from(OWNERS), st.integers(0, 9), st.integers(-3, 3), st.integers(-3, 3))


def vector(x: float, y: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array([x, y], dtype=np.float32)


def gathered(*owners: str, room: int = 100, clock: Callable[[], float] = lambda: 0.0) -> OwnVectors:
    vectors = OwnVectors(2, room, clock)
    for owner in owners:
        assert vectors.begin(owner, 0)
        vectors.finish(owner)
    return vectors


@given(st.lists(st.one_of(POINTS, st.integers(0, 9)), max_size=40), st.integers(1, 5))
def test_the_best_are_those_of_the_owners_points_as_they_are_now(
    steps: list[tuple[str, int, int, int] | int], limit: int
) -> None:
    vectors = gathered(*OWNERS)
    told: dict[int, tuple[str, float]] = {}
    for step in steps:
        if isinstance(step, int):
            vectors.drop([step])
            told.pop(step, None)
        else:
            owner, id, x, y = step
            vectors.put([(owner, id, vector(x, y))])
            told[id] = owner, 2.0 * x + y

    for owners in (("ann",), ("bob",), OWNERS):
        theirs = {id: score for id, (owner, score) in told.items() if owner in owners}
        found = vectors.best(owners, vector(2, 1), limit, ())
        assert found is not None
        assert sorted(found.values()) == sorted(theirs.values())[-limit:]
        assert all(theirs[id] == score for id, score in found.items())
        assert vectors.best(owners, vector(2, 1), limit, range(10)) == {**theirs, **found}


def test_what_is_not_whole_is_not_answered_from() -> None:
    vectors = gathered("ann")
    vectors.put([("ann", 1, vector(1, 0)), ("bob", 2, vector(1, 0))])

    assert vectors.best(["ann"], vector(1, 0), 5, [2]) == {1: 1.0}
    assert vectors.best(["ann", "bob"], vector(1, 0), 5, ()) is None
    assert vectors.missing(OWNERS) == ["bob"]
    assert vectors.begin("bob", 1)
    assert vectors.best(["bob"], vector(1, 0), 5, ()) is None


def test_who_asked_longest_ago_makes_room_for_what_is_new() -> None:
    times = itertools.count()
    vectors = gathered("bob", "ann", room=3, clock=lambda: float(next(times)))
    vectors.put([("ann", 1, vector(1, 0)), ("bob", 2, vector(1, 0))])
    assert vectors.best(["ann"], vector(1, 0), 5, ()) == {1: 1.0}

    vectors.put([("ann", 3, vector(1, 0)), ("ann", 4, vector(1, 0))])

    assert vectors.best(["bob"], vector(1, 0), 5, ()) is None
    assert vectors.best(["ann"], vector(1, 0), 5, ()) == {1: 1.0, 3: 1.0, 4: 1.0}


def test_two_owners_who_ask_in_turns_do_not_drive_each_other_out() -> None:
    now = [0.0]
    vectors = gathered("ann", room=3, clock=lambda: now[0])
    vectors.put([("ann", 1, vector(1, 0)), ("ann", 2, vector(1, 0))])

    assert not vectors.begin("bob", 2)
    assert vectors.missing(OWNERS) == []
    now[0] = 100.0
    assert vectors.missing(OWNERS) == ["bob"]
    assert vectors.begin("bob", 2)
    assert vectors.missing(OWNERS) == ["ann"]
    assert not vectors.begin("carol", 4)


def test_what_is_forgotten_leaves_no_numbers_behind() -> None:
    vectors = gathered("ann")
    vectors.put([("ann", 1, vector(3, 4)), ("ann", 2, vector(5, 6))])

    vectors.drop([1, 2])

    assert not vectors._tables["ann"].vectors.any()


async def test_the_index_finds_the_same_with_vectors_at_hand_as_without(tmp_path: Path) -> None:
    index, rng = await EdgeIndex.open(tmp_path / "index", 8), np.random.default_rng(3)
    points = [
        Point(str(uuid.UUID(int=number)), OWNERS[number % 2], "turn", 0.0, dense, {number % 5: 1.0})
        for number, dense in enumerate(rng.normal(size=(300, 8)).astype(np.float32))
    ]
    await index.upsert(points[:250])

    async def same() -> None:
        """Searched with what is at hand, and by the engine alone."""
        for owners in (("ann",), OWNERS):
            asked = Query(owners, rng.normal(size=8).astype(np.float32), {3: 1.0}, 20)
            near = index._at_hand(asked, ())
            assert near is not None and len(near) == 20
            found = rounded(await index.search(asked))
            index._vectors, kept = OwnVectors(8, room=0), index._vectors
            assert rounded(await index.search(asked)) == found
            await index.count()
            index._vectors = kept

    await index.search(Query(OWNERS, points[0].dense, {}, 5))
    while index._at_hand(Query(OWNERS, points[0].dense, {}, 5), ()) is None:
        await index.count()
    await same()
    await index.upsert(points[240:])
    await index.delete([point.id for point in points[:40]])
    await same()
    await index.upsert([replace(points[50], owner="ann" if points[50].owner == "bob" else "bob")])
    await same()
    await index.close()


def rounded(found: list[Found]) -> dict[str, tuple[float, float]]:
    return {hit.id: (round(hit.cosine, 4), round(hit.lexical, 4)) for hit in found}
