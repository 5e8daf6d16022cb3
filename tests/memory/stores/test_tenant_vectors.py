"""Points at hand say what a search among an owner's points would say, and nothing of anybody else's."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ports import IndexHit, Point, Query
from memory.stores import tenant_vectors
from memory.stores.index_edge import EdgeIndex
from memory.stores.tenant_vectors import TenantVectors

OWNERS = ("ann", "bob")

POINTS = st.tuples(
    st.sampled_from(OWNERS),
    st.sampled_from("abcdefgh"),
    st.integers(-3, 3),
    st.integers(-3, 3),
    st.dictionaries(st.integers(0, 3), st.integers(1, 9), max_size=3),
    st.sampled_from(("fact", "turn")),
)


def vector(x: float, y: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.array([x, y], dtype=np.float32)


def point(
    owner: str, id: str, x: float = 1.0, y: float = 0.0, words: dict[int, int] | None = None, sort: str = "turn"
) -> Point:
    return Point(id, owner, sort, 0.0, vector(x, y), {term: float(weight) for term, weight in (words or {}).items()})


def gathered(*owners: str, room: int = 100, clock: Callable[[], float] = lambda: 0.0) -> TenantVectors:
    points = TenantVectors(2, room, clock)
    for owner in owners:
        assert points.begin(owner, 0)
        points.finish(owner)
    return points


def ids(points: TenantVectors, *owners: str) -> set[str] | None:
    found = points.search(Query(owners, vector(1, 0), {}, 9))
    return None if found is None else {hit.id for hit in found}


@given(
    st.lists(st.one_of(POINTS, st.sampled_from("abcdefgh")), max_size=40),
    st.integers(1, 5),
    st.sampled_from((None, "fact", "turn")),
    st.booleans(),
)
def test_the_best_are_those_of_the_owners_points_as_they_are_now(
    steps: list[tuple[str, str, int, int, dict[int, int], str] | str], limit: int, sort: str | None, by_words: bool
) -> None:
    points = gathered(*OWNERS)
    told: dict[str, Point] = {}
    for step in steps:
        if isinstance(step, str):
            points.drop([step])
            told.pop(step, None)
        else:
            told[step[1]] = point(*step)
            points.put([told[step[1]]])

    asked = {1: 1.0, 2: 10.0, 7: 1.0}
    for owners in (("ann",), ("bob",), OWNERS):
        theirs = [each for each in told.values() if each.owner in owners and sort in (None, each.sort)]
        near = {each.id: float(each.dense @ vector(2, 1)) for each in theirs}
        words = {each.id: sum(asked.get(term, 0.0) * weight for term, weight in each.sparse.items()) for each in theirs}
        found = points.search(Query(owners, vector(2, 1), asked, limit, sort, by_words=by_words))
        assert found is not None
        assert len({hit.id for hit in found}) == len(found)
        assert all(hit.cosine == near[hit.id] and hit.lexical in (0.0, words[hit.id]) for hit in found)
        assert by_words or highest((hit.cosine for hit in found), limit) == highest(near.values(), limit)
        assert not by_words or all(hit.lexical for hit in found)
        shared = [weight for weight in words.values() if weight]
        assert highest((hit.lexical for hit in found if hit.lexical), limit) == highest(shared, limit)


def highest(scores: Iterable[float], limit: int) -> list[float]:
    return sorted(scores, reverse=True)[:limit]


def test_of_those_with_as_many_words_the_nearest_are_found() -> None:
    points = gathered("ann")
    points.put(point("ann", str(number), number, 0, {1: 1}) for number in range(5))
    points.put([point("ann", "far", -9, 0, {1: 2})])

    found = points.search(Query(("ann",), vector(1, 0), {1: 1.0}, 3))

    assert found is not None
    assert {hit.id for hit in found if hit.lexical} == {"far", "4", "3"}


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3)), min_size=321, max_size=400))
def test_among_many_those_with_the_most_of_the_words_are_found(told: list[tuple[int, int]]) -> None:
    """Many are told apart by the best of some of them: those that have equally much stay equal."""
    points = gathered("ann")
    points.room = len(told)
    points.put(
        point("ann", str(number), x, words={1: shared} if shared else {}) for number, (shared, x) in enumerate(told)
    )
    found = points.search(Query(("ann",), vector(1, 0), {1: 1.0}, 5, by_words=True))
    assert found is not None
    best = sorted(((shared, x) for shared, x in told if shared), reverse=True)[:5]
    assert sorted(((hit.lexical, hit.cosine) for hit in found), reverse=True) == best


def test_without_a_vector_the_words_alone_are_searched() -> None:
    points = gathered("ann")
    points.put([point("ann", "a", 1, 0, {1: 2}), point("ann", "b", 1, 0, {2: 2})])

    assert points.search(Query(("ann",), None, {1: 3.0}, 5)) == [IndexHit("a", 0.0, 6.0)]
    assert points.search(Query(("ann",), None, {}, 5)) == []


def test_what_is_not_whole_is_not_answered_from() -> None:
    points = gathered("ann")
    points.put([point("ann", "a"), point("bob", "b")])

    assert ids(points, "ann") == {"a"}
    assert ids(points, "ann", "bob") is None
    assert points.missing(OWNERS) == ["bob"]
    assert points.begin("bob", 1)
    assert ids(points, "bob") is None


def test_a_search_in_a_time_is_left_to_the_engine() -> None:
    points = gathered("ann")

    assert points.search(Query(("ann",), vector(1, 0), {}, 5, since=1.0)) is None
    assert points.search(Query(("ann",), vector(1, 0), {}, 5, until=1.0)) is None


def test_who_asked_longest_ago_makes_room_for_what_is_new() -> None:
    times = itertools.count()
    points = gathered("bob", "ann", room=3, clock=lambda: float(next(times)))
    points.put([point("ann", "a"), point("bob", "b")])
    assert ids(points, "ann") == {"a"}

    points.put([point("ann", "c"), point("ann", "d")])

    assert ids(points, "bob") is None
    assert ids(points, "ann") == {"a", "c", "d"}


def test_two_owners_who_ask_in_turns_do_not_drive_each_other_out() -> None:
    now = [0.0]
    points = gathered("ann", room=3, clock=lambda: now[0])
    points.put([point("ann", "a"), point("ann", "b")])

    assert not points.begin("bob", 2)
    assert points.missing(OWNERS) == []
    now[0] = 100.0
    assert points.missing(OWNERS) == ["bob"]
    assert points.begin("bob", 2)
    assert points.missing(OWNERS) == ["ann"]
    assert not points.begin("carol", 4)


def test_what_is_forgotten_leaves_no_numbers_behind() -> None:
    points = gathered("ann")
    points.put([point("ann", "a", 3, 4, {1: 2}), point("ann", "b", 5, 6, {1: 3})])

    points.drop(["a", "b"])

    table = points._tables["ann"]
    assert not table.vectors.any() and not any(table.ids)
    assert not table.postings.scores({1: 1.0}, 2).any()


def test_of_very_many_owners_those_who_asked_last_are_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenant_vectors, "MOST", 3)
    times = itertools.count()
    points = gathered("ann", "bob", "cyd", clock=lambda: float(next(times)))
    assert ids(points, "ann") == set()
    points.put([point("bob", "b"), point("ann", "a")])
    assert points.begin("dan", 0)
    points.finish("dan")
    assert ids(points, "bob") is None and points.missing(["bob", "dan"]) == ["bob"]
    assert ids(points, "ann", "cyd", "dan") == {"a"}


async def test_the_index_finds_the_same_with_points_at_hand_as_without(tmp_path: Path) -> None:
    index, rng = await EdgeIndex.open(tmp_path / "index", 8), np.random.default_rng(3)
    points = [
        Point(
            str(uuid.UUID(int=number)),
            OWNERS[number % 2],
            "fact" if number % 3 else "turn",
            0.0,
            dense,
            {number % 5: 1.0 + number / 100, 7: 2.0 - number / 1000},
        )
        for number, dense in enumerate(rng.normal(size=(300, 8)).astype(np.float32))
    ]
    await index.upsert(points[:250])

    async def same() -> None:
        """Searched with what is at hand, and by the engine alone."""
        for owners, sort in ((("ann",), None), (OWNERS, None), (OWNERS, "fact"), (("bob",), "turn")):
            asked = Query(owners, rng.normal(size=8).astype(np.float32), {3: 1.0, 7: 0.3}, 20, sort)
            near = index._at_hand.search(asked)
            assert near is not None and len(near) >= 20
            alone = index._search(asked)
            assert scores(near) == about(alone) and scores(await index.search(asked)) == about(alone)
            asked = replace(asked, by_words=True)
            assert scores(await index.search(asked)) == about(index._search(asked))

    asked = Query(OWNERS, points[0].dense, {}, 5)
    await index.search(asked)
    while index._at_hand.search(asked) is None:
        await index.count()
    await same()
    await index.upsert(points[240:])
    await index.delete([point.id for point in points[:40]])
    await same()
    await index.upsert([replace(points[50], owner="ann" if points[50].owner == "bob" else "bob")])
    await same()
    await index.close()


def scores(found: list[IndexHit]) -> dict[str, float]:
    """The scores of each leg."""
    legs = {"cosine": {hit.id: hit.cosine for hit in found}, "lexical": {hit.id: hit.lexical for hit in found}}
    return {f"{id} {leg}": score for leg, by_id in legs.items() for id, score in by_id.items()}


def about(found: list[IndexHit]) -> Any:
    """The same, but for the order in which they were added up."""
    return pytest.approx(scores(found), abs=1e-3)
