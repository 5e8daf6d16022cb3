"""What every index must do, whichever engine answers: embedded, Qdrant's own local mode, or a server.

A real server takes part where PALIMPSEST_TEST_QDRANT_URL names one.
"""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from memory.ports import Index, Point, Query
from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.index_edge import EdgeIndex
from memory.stores.index_server import ServerIndex, client_of
from tests.sparse_files import copy_tree

DIMENSIONS = 8
SERVER = os.environ.get("PALIMPSEST_TEST_QDRANT_URL")

# Local mode says that it takes no payload indexes, which is true and does no harm.
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect")


@pytest.fixture(scope="module")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty shard to copy: making one waits for the disk."""
    folder = tmp_path_factory.mktemp("blank") / "index"

    async def make() -> None:
        await (await EdgeIndex.open(folder, DIMENSIONS)).close()

    asyncio.run(make())
    return folder


@pytest_asyncio.fixture(
    params=["edge", "local", pytest.param("server", marks=pytest.mark.skipif(not SERVER, reason="no server named"))]
)
async def index(request: pytest.FixtureRequest, tmp_path: Path, blank: Path) -> AsyncIterator[Index]:
    if request.param == "edge":
        await asyncio.to_thread(copy_tree, blank, tmp_path / "index")
        edge = await EdgeIndex.open(tmp_path / "index", DIMENSIONS)
        yield edge
        await edge.close()
        return
    from qdrant_client import AsyncQdrantClient

    client = AsyncQdrantClient(":memory:") if request.param == "local" else AsyncQdrantClient(url=SERVER)
    served = await ServerIndex.open(client, f"test-{uuid.uuid4()}", DIMENSIONS)
    yield served
    await served.drop()
    await served.close()


def unit(*values: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    vector[: len(values)] = values
    length = float(np.linalg.norm(vector))
    return vector / length if length else vector


def point(
    number: int,
    *values: float,
    owner: str = "ann",
    sort: str = "fact",
    at: float = 0.0,
    sparse: Mapping[int, float] | None = None,
) -> Point:
    return Point(str(uuid.UUID(int=number)), owner, sort, at, unit(*values), sparse or {})


def query(*values: float, owners: tuple[str, ...] = ("ann",), limit: int = 10, **more: Any) -> Query:
    sparse = more.pop("sparse", {})
    return Query(owners, unit(*values) if values else None, sparse, limit, **more)


async def found(index: Index, asked: Query) -> dict[int, tuple[float, float]]:
    return {uuid.UUID(hit.id).int: (round(hit.cosine, 4), round(hit.lexical, 4)) for hit in await index.search(asked)}


async def test_an_empty_index_finds_nothing(index: Index) -> None:
    assert await index.search(query(1.0, sparse={1: 1.0})) == []
    assert await index.count() == 0


async def test_both_legs_are_searched_and_every_hit_has_its_cosine(index: Index) -> None:
    await index.upsert([point(1, 1.0, sparse={7: 1.0}), point(2, 0.0, 1.0, sparse={5: 0.5}), point(3, 0.0, 0.0, 1.0)])
    assert await found(index, query(1.0, sparse={5: 3.0, 9: 1.0}, limit=1)) == {1: (1.0, 0.0), 2: (0.0, 1.5)}


async def test_by_words_only_what_shares_some_is_found_and_has_its_cosine(index: Index) -> None:
    await index.upsert([point(1, 1.0), point(2, 1.0, 1.0, sparse={5: 0.5}), point(3, 1.0, sparse={7: 1.0})])
    assert await found(index, query(1.0, sparse={5: 3.0, 9: 1.0}, by_words=True)) == {2: (0.7071, 1.5)}
    assert await found(index, query(1.0, by_words=True)) == {}


async def test_a_hit_of_both_legs_is_found_once(index: Index) -> None:
    await index.upsert([point(1, 1.0, sparse={7: 2.0})])
    assert await found(index, query(1.0, sparse={7: 1.0})) == {1: (1.0, 2.0)}


async def test_term_ids_may_have_32_bits(index: Index) -> None:
    await index.upsert([point(1, 1.0, sparse={2**32 - 1: 1.0})])
    assert await found(index, query(sparse={2**32 - 1: 0.5})) == {1: (0.0, 0.5)}


async def test_a_query_without_a_dense_vector_searches_by_terms_only(index: Index) -> None:
    await index.upsert([point(1, 1.0, sparse={7: 1.0}), point(2, 1.0, sparse={8: 1.0})])
    assert await found(index, query(sparse={8: 1.0})) == {2: (0.0, 1.0)}


async def test_a_query_without_terms_searches_by_meaning_only(index: Index) -> None:
    await index.upsert([point(1, 1.0), point(2, 1.0, 1.0)])
    assert await found(index, query(1.0, limit=1)) == {1: (1.0, 0.0)}


async def test_a_text_of_which_nothing_is_known_has_a_zero_vector_and_no_terms(index: Index) -> None:
    await index.upsert([point(1)])
    assert await index.count() == 1
    assert await found(index, query(1.0)) == {1: (0.0, 0.0)}


async def test_only_the_owners_that_were_asked_for_are_seen(index: Index) -> None:
    await index.upsert(
        [point(n, 1.0, owner=owner, sparse={7: 1.0}) for n, owner in enumerate(("ann", "bob", "up:/ann/x"))]
    )
    assert set(await found(index, query(1.0, sparse={7: 1.0}))) == {0}
    assert set(await found(index, query(1.0, sparse={7: 1.0}, owners=("ann", "up:/ann/x")))) == {0, 2}
    assert set(await found(index, query(1.0, sparse={7: 1.0}, owners=("an",)))) == set()
    assert set(await found(index, query(1.0, sparse={7: 1.0}, owners=()))) == set()


async def test_sort_and_time_narrow_a_search(index: Index) -> None:
    await index.upsert([point(n, 1.0, sort="fact" if n % 2 else "turn", at=float(n)) for n in range(6)])
    assert set(await found(index, query(1.0, sort="turn"))) == {0, 2, 4}
    assert set(await found(index, query(1.0, since=2.0, until=4.0))) == {2, 3, 4}
    assert set(await found(index, query(1.0, sort="fact", since=4.0))) == {5}


async def test_the_limit_is_for_each_leg(index: Index) -> None:
    by_meaning = [point(n, 1.0, n / 100) for n in range(5)]
    by_terms = [point(10 + n, 0.0, 1.0, sparse={7: 1.0 + n}) for n in range(5)]
    await index.upsert(by_meaning + by_terms)
    assert set(await found(index, query(1.0, sparse={7: 1.0}, limit=2))) == {0, 1, 13, 14}


async def test_what_a_hit_tells_is_what_was_put_in(index: Index) -> None:
    await index.upsert([point(1, 1.0, owner="ann", sort="turn", at=1_700_000_000.25)])
    (hit,) = await index.search(query(1.0))
    assert (hit.id, hit.lexical) == (str(uuid.UUID(int=1)), 0.0)
    assert hit.cosine == pytest.approx(1.0)


async def test_upserting_a_point_again_replaces_it(index: Index) -> None:
    await index.upsert([point(1, 1.0, sparse={7: 1.0})])
    await index.upsert([point(1, 0.0, 1.0, owner="bob", sparse={8: 1.0})])
    assert await index.count() == 1
    assert await found(index, query(1.0, sparse={7: 1.0, 8: 1.0})) == {}
    assert await found(index, query(1.0, sparse={7: 1.0, 8: 1.0}, owners=("bob",))) == {1: (0.0, 1.0)}


async def test_deleted_points_are_gone_and_unknown_ones_are_ignored(index: Index) -> None:
    await index.upsert([point(1, 1.0, sparse={7: 1.0}), point(2, 1.0)])
    await index.delete([str(uuid.UUID(int=1)), str(uuid.UUID(int=99))])
    await index.delete([])
    assert await index.count() == 1
    assert set(await found(index, query(1.0, sparse={7: 1.0}))) == {2}


async def test_a_deleted_point_may_come_back(index: Index) -> None:
    await index.upsert([point(1, 1.0)])
    await index.delete([str(uuid.UUID(int=1))])
    await index.upsert([point(1, 0.0, 1.0)])
    assert await found(index, query(0.0, 1.0)) == {1: (1.0, 0.0)}


async def test_more_points_than_fit_into_one_call_all_arrive(index: Index) -> None:
    await index.upsert([point(n, 1.0, n / 1000) for n in range(600)])
    assert await index.count() == 600


async def test_a_vector_of_the_wrong_size_is_refused_before_anything_is_written(index: Index) -> None:
    wrong = Point(str(uuid.UUID(int=2)), "ann", "fact", 0.0, np.ones(3, dtype=np.float32), {})
    with pytest.raises(ValueError, match="dimensions"):
        await index.upsert([point(1, 1.0), wrong])
    assert await index.count() == 0


async def test_scores_equal_what_numpy_says(index: Index) -> None:
    rng = np.random.default_rng(7)
    points = [
        Point(
            str(uuid.UUID(int=n)), "ann", "fact", float(n), unit(*rng.standard_normal(DIMENSIONS)),
            {int(term): float(weight) for term, weight in zip(rng.integers(0, 30, 6), rng.random(6), strict=True)},
        )
        for n in range(200)
    ]  # fmt: skip
    await index.upsert(points)
    dense, sparse = unit(*rng.standard_normal(DIMENSIONS)), {int(term): 1.5 for term in rng.integers(0, 30, 4)}
    by_id = {each.id: each for each in points}
    hits = await index.search(Query(("ann",), dense, sparse, 12))
    by_terms = {
        each.id: product
        for each in points
        if (product := sum(each.sparse.get(term, 0.0) * weight for term, weight in sparse.items())) > 0
    }
    brought = set(sorted(by_terms, key=lambda each: -by_terms[each])[:12])
    for hit in hits:
        assert hit.cosine == pytest.approx(float(by_id[hit.id].dense @ dense), abs=1e-5)
        assert hit.lexical == pytest.approx(by_terms[hit.id] if hit.id in brought else 0.0, abs=1e-5)
    assert brought <= {hit.id for hit in hits}
    best = sorted(points, key=lambda each: -float(each.dense @ dense))[:12]
    assert {each.id for each in best} <= {hit.id for hit in hits}


async def test_a_server_that_does_not_answer_is_told_in_a_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(StoreFault, match="Qdrant server did not do"):
            await ServerIndex.open(client_of(address, None, timeout=1), "test", DIMENSIONS)


async def test_a_collection_of_another_size_has_to_be_made_again() -> None:
    from qdrant_client import AsyncQdrantClient

    client = AsyncQdrantClient(":memory:")
    await ServerIndex.open(client, "test", DIMENSIONS)
    with pytest.raises(StoreFault, match="has not 16 dimensions") as caught:
        await ServerIndex.open(client, "test", 16)
    assert caught.value.fault is StoreFaultKind.CORRUPT
    assert not (await ServerIndex.open(client, "test", DIMENSIONS)).created
    await client.close()
