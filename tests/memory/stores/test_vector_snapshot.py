"""What is kept of an index's points in files is what the engine has, whatever has happened since it was written."""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import qdrant_edge as edge

from memory.ports import Point, Query
from memory.stores import index_edge, point_table, vector_snapshot
from memory.stores.index_edge import EdgeIndex
from memory.stores.point_table import PointTable
from memory.stores.vector_snapshot import VectorSnapshot, vectors_of
from tests.sparse_files import copy_tree

DIMENSIONS = 80
ANN, BOB = "up:/ann/mill", "up:/bob/mill"


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_snapshot, "MIN_POINTS", 20)
    monkeypatch.setattr(point_table, "MANY", 20)


def points(count: int, owner: str, seed: int) -> list[Point]:
    rng = np.random.default_rng(seed)
    return [
        Point(
            str(uuid.UUID(bytes=rng.bytes(16), version=4)),
            owner,
            "fact" if number % 2 else "turn",
            0.0,
            rng.normal(size=DIMENSIONS).astype(np.float32),
            {int(term): float(rng.integers(1, 9)) for term in rng.choice(30, 4, replace=False)},
        )
        for number in range(count)
    ]


def query(*owners: str, seed: int = 9) -> Query:
    rng = np.random.default_rng(seed)
    return Query(owners, rng.normal(size=DIMENSIONS).astype(np.float32), {3: 2.0, 11: 1.0}, 10)


async def at_hand(index: EdgeIndex, *owners: str) -> None:
    """Have the points of some owners at hand."""
    await index.search(query(*owners))
    while not set(owners) <= set(index._at_hand.whole()):
        await index.count()
    await index.count()  # behind what is done last


async def told(index: EdgeIndex, *owners: str) -> set[tuple[str, float, float]]:
    return {(hit.id, round(hit.cosine, 3), round(hit.lexical, 3)) for hit in await index.search(query(*owners))}


async def test_a_start_has_the_points_at_hand_as_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    await index.upsert([*points(50, ANN, 1), *points(40, BOB, 2)])
    await at_hand(index, ANN, BOB)
    before = await told(index, ANN, BOB)
    await index.close()

    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    monkeypatch.setattr(EdgeIndex, "_save_snapshot", None)
    await at_hand(index, ANN, BOB)
    assert await told(index, ANN, BOB) == before
    await index.close()


async def test_what_has_become_many_lies_in_files_too_and_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_snapshot, "MIN_POINTS", 400)  # many more than dimensions
    index, other = await EdgeIndex.open(tmp_path / "i", DIMENSIONS), await EdgeIndex.open(tmp_path / "o", DIMENSIONS)
    await at_hand(index, ANN)
    every = points(600, ANN, 1)
    for start in range(0, len(every), 50):
        await index.upsert(every[start : start + 50])
        assert index._snapshot.has(ANN) == (start + 50 >= vector_snapshot.MIN_POINTS)
    table = index._at_hand.table(ANN)
    assert table is not None and table.keys is not None and table.nearness is not None
    await other.upsert(every)
    await at_hand(other, ANN)
    assert await told(index, ANN) == await told(other, ANN)
    await index.close()
    await other.close()


async def test_what_cannot_lie_in_files_is_not_tried_with_each_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, tried = await EdgeIndex.open(tmp_path / "i", DIMENSIONS), list[int]()
    await at_hand(index, ANN)
    monkeypatch.setattr(index._snapshot, "save", lambda owner, table: tried.append(len(table.rows)))
    for each in points(90, ANN, 1):
        await index.upsert([each])
    assert tried == [20, 40, 80]
    await index.close()


@pytest.mark.parametrize("killed", [False, True])
async def test_what_has_changed_since_is_made_good(tmp_path: Path, killed: bool) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    first, new = points(50, ANN, 1), points(30, ANN, 3)
    await index.upsert([*first, *points(40, BOB, 2)])
    await at_hand(index, ANN, BOB)
    await index.upsert(new)  # more than there is room for in the files
    await index.delete([first[0].id, first[7].id, new[2].id])
    moved = Point(first[3].id, BOB, "turn", 0.0, first[4].dense, {3: 4.0})
    await index.upsert([*points(5, ANN, 4), moved])
    expected = await told(index, ANN), await told(index, BOB)
    if killed:
        await index._run(lambda: index._shard.flush())
        copy_tree(tmp_path / "i", tmp_path / "killed")
    await index.close()

    index = await EdgeIndex.open(tmp_path / ("killed" if killed else "i"), DIMENSIONS)
    assert index._snapshot.has(ANN) and index._snapshot.has(BOB)
    await at_hand(index, ANN, BOB)
    assert (await told(index, ANN), await told(index, BOB)) == expected
    await index.close()


async def test_what_a_kill_amid_its_deletion_left_blank_keeps_nobody_from_the_rest(tmp_path: Path) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    ann = points(50, ANN, 1)
    await index.upsert(ann)
    await at_hand(index, ANN)
    empty = edge.Point(ann[7].id, {"dense": [0.0] * DIMENSIONS, "lexical": index_edge._sparse({})}, {})
    blanking = edge.UpdateOperation.upsert_points([empty])
    index._snapshot.change([ann[7].id])
    await index._run(lambda: index._shard.update(blanking))
    await index._run(lambda: index._shard.flush())
    copy_tree(tmp_path / "i", tmp_path / "killed")
    await index.close()

    index = await EdgeIndex.open(tmp_path / "killed", DIMENSIONS)
    await index.search(query(ANN))
    await index.count()
    table = index._at_hand.table(ANN)
    assert table is not None and table.whole and len(table.rows) == 49
    assert ann[7].id not in table.rows
    await index.close()


async def test_what_is_forgotten_leaves_no_numbers_in_the_files(tmp_path: Path) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    ann, bob = points(50, ANN, 1), points(40, BOB, 2)
    await index.upsert([*ann, *bob])
    await at_hand(index, ANN, BOB)
    await index.close()

    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    await at_hand(index, ANN)
    await index.upsert(points(3, ANN, 5))
    await index.delete([ann[5].id, bob[5].id])  # of whom the one is at hand, the other is not
    held = {file.name: file.read_bytes() for file in index.snapshot_folder.glob("*/*.npy")}
    assert held
    assert not any(point.dense.tobytes() in each for point in (ann[5], bob[5]) for each in held.values())
    assert uuid.UUID(ann[5].id).bytes not in held["keys.npy"]
    assert ann[4].dense.tobytes() in held["vectors.npy"]
    assert not index._snapshot.has(BOB)
    (folder,) = {file.parent for file in index.snapshot_folder.glob("*/rows.npy")}
    assert (np.load(folder / "rows.npy") == -1).sum() == len(ann[5].sparse)
    await index.close()


async def test_what_has_changed_owners_is_forgotten_in_the_first_ones_files_too(tmp_path: Path) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    ann, bob = points(50, ANN, 1), points(40, BOB, 2)
    await index.upsert([*ann, *bob])
    await at_hand(index, ANN, BOB)
    await index.close()

    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    await at_hand(index, BOB)
    await index.upsert([Point(ann[3].id, BOB, "turn", 0.0, points(1, BOB, 7)[0].dense, {3: 4.0})])
    await index.delete([bob[5].id])
    assert index._snapshot.has(ANN)  # in whose files it does not stand
    await index.delete([ann[3].id])
    held = [file.read_bytes() for file in index.snapshot_folder.glob("*/*.npy")]
    assert held and not any(ann[3].dense.tobytes() in each for each in held)
    await index.close()


async def test_what_has_come_to_another_owner_stays_there_when_the_first_one_asks(tmp_path: Path) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    ann = points(50, ANN, 1)
    await index.upsert([*ann, *points(40, BOB, 2)])
    await at_hand(index, ANN, BOB)
    await index.close()

    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    await at_hand(index, BOB)
    await index.upsert([Point(ann[3].id, BOB, "turn", 0.0, ann[3].dense, {3: 4.0})])
    await at_hand(index, ANN)
    table = index._at_hand.table(BOB)
    assert table is not None and ann[3].id in table.rows
    await index.delete([ann[3].id])
    assert ann[3].id not in table.rows
    await index.close()


async def test_nothing_is_taken_from_files_that_a_failing_machine_left_behind(tmp_path: Path) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    await index.upsert(points(50, ANN, 1))
    await at_hand(index, ANN)
    await index._run(lambda: index._shard.flush())
    copy_tree(tmp_path / "i", tmp_path / "failed")
    await index.close()
    (tmp_path / "failed" / "at_hand" / "open").write_text("another start")

    index = await EdgeIndex.open(tmp_path / "failed", DIMENSIONS)
    assert not index._snapshot.has(ANN)
    await at_hand(index, ANN)
    assert index._snapshot.has(ANN)
    await index.close()


async def test_nobody_else_may_read_what_is_kept(tmp_path: Path) -> None:
    usual = os.umask(0o022)
    try:
        index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
        await index.upsert(points(50, ANN, 1))
        await at_hand(index, ANN)
        files = [file for file in index.snapshot_folder.rglob("*") if file.is_file()]
        assert len(files) > 10 and {file.stat().st_mode & 0o777 for file in files} == {0o600}
        await index.close()
    finally:
        os.umask(usual)


async def test_files_that_cannot_be_read_are_written_anew(tmp_path: Path) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    await index.upsert(points(50, ANN, 1))
    await at_hand(index, ANN)
    before = await told(index, ANN)
    await index.close()
    for file in (tmp_path / "i" / "at_hand").glob("*/first.npy"):
        file.write_bytes(b"\x93NUMPY nonsense")

    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    await at_hand(index, ANN)
    assert await told(index, ANN) == before
    assert index._snapshot.has(ANN)
    await index.close()


async def test_what_fails_on_the_way_is_tried_anew_without_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    await index.upsert(points(50, ANN, 1))
    await at_hand(index, ANN)
    before = await told(index, ANN)
    await index.close()

    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    with monkeypatch.context() as failing:
        failing.setattr(index._snapshot, "changes", lambda: 1 // 0)
        await told(index, ANN)
        await index.count()
    assert index._at_hand.table(ANN) is None and not index._snapshot.has(ANN)
    assert not index._at_hand.missing([ANN])  # not with every search
    assert await told(index, ANN)  # by the engine
    index._at_hand._refused.clear()
    await at_hand(index, ANN)
    assert await told(index, ANN) == before
    assert index._snapshot.has(ANN)
    await index.close()


async def test_after_much_has_changed_all_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory.stores.index_edge.LATE", 10)
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    await index.upsert(points(50, ANN, 1))
    await at_hand(index, ANN)
    await index.upsert(points(11, ANN, 2))
    assert len(index._snapshot.changes()) == 11
    before = await told(index, ANN)
    await index.close()

    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    assert not index._snapshot.changes() and index._snapshot.has(ANN)
    await at_hand(index, ANN)
    assert await told(index, ANN) == before
    await index.close()


async def test_vectors_are_read_beside_the_one_who_writes_them(tmp_path: Path) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    ann = points(50, ANN, 1)
    await index.upsert(ann)
    assert vectors_of(index.snapshot_folder, ANN, [ann[0].id]) is None
    await at_hand(index, ANN)
    new, other = points(2, ANN, 2), str(uuid.uuid4())
    await index.upsert(new)
    await index.delete([ann[1].id])
    read = vectors_of(index.snapshot_folder, ANN, [new[0].id, ann[1].id, other, ann[2].id])
    assert read is not None
    vectors, there = read
    assert there.tolist() == [False, False, False, True]
    assert vectors[3].tobytes() == ann[2].dense.tobytes()
    index._snapshot.drop(ANN)
    await index._run(lambda: index._save_snapshot(ANN))
    written = vectors_of(index.snapshot_folder, ANN, [new[0].id, ann[1].id])
    assert written is not None and written[1].tolist() == [True, False]
    assert written[0][0].tobytes() == new[0].dense.tobytes()
    await index.close()


async def test_no_vector_is_read_that_has_changed_while_its_owner_was_not_mapped(tmp_path: Path) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    ann = points(50, ANN, 1)
    await index.upsert(ann)
    await at_hand(index, ANN)
    await index.close()

    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    await index.upsert([Point(ann[3].id, ANN, "turn", 0.0, ann[4].dense, {3: 4.0})])
    read = vectors_of(index.snapshot_folder, ANN, [ann[2].id, ann[3].id])
    assert read is not None and read[1].tolist() == [True, False]
    await index.close()


async def test_the_files_of_two_versions_are_not_read_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    ann = points(50, ANN, 1)
    await index.upsert(ann)
    await at_hand(index, ANN)
    load = np.load

    def kept_meanwhile(file: Path, mmap_mode: Any) -> Any:
        if file.name == "vectors.npy":
            with monkeypatch.context() as itself:
                itself.setattr(np, "load", load)
                index._save_snapshot(ANN)
        return load(file, mmap_mode)

    with monkeypatch.context() as changing:
        changing.setattr(np, "load", kept_meanwhile)
        assert vectors_of(index.snapshot_folder, ANN, [ann[2].id]) is None
    assert vectors_of(index.snapshot_folder, ANN, [ann[2].id]) is not None
    await index.close()


async def test_files_that_an_owner_has_outgrown_go_where_there_is_no_room_for_larger_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    ann = points(50, ANN, 1)
    await index.upsert(ann)
    await at_hand(index, ANN)
    nearly_full = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: nearly_full)
    monkeypatch.setattr(index_edge, "RESERVE", 1000)
    await index.upsert(points(200, ANN, 2))
    assert not index._snapshot.has(ANN)
    before = await told(index, ANN)
    await index.delete([ann[5].id])  # its numbers would stay in files that are mapped no more
    assert not any(ann[5].dense.tobytes() in file.read_bytes() for file in index.snapshot_folder.glob("*/*.npy"))
    await index.close()

    index = await EdgeIndex.open(tmp_path / "i", DIMENSIONS)
    await at_hand(index, ANN)
    assert {each for each in before if each[0] != ann[5].id} <= await told(index, ANN)
    await index.close()


def test_a_change_that_was_written_by_halves_hides_no_later_one(tmp_path: Path) -> None:
    (tmp_path / "changed").write_bytes(uuid.uuid4().bytes + b"half")
    kept = VectorSnapshot(tmp_path)
    kept._begin()
    changed = str(uuid.uuid4())
    kept.change([changed])
    assert kept.changes()[1:] == [changed]
    kept.close()


def test_what_the_disk_takes_only_half_of_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = VectorSnapshot(tmp_path)
    kept._begin()
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    write = os.write
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda file, told: write(file, told[:20]))
        with pytest.raises(OSError, match="No space left"):
            kept.change([first, second])
    kept.change([second])
    assert kept.changes() == [first, second]
    kept.close()


def test_all_is_on_the_disk_before_the_files_are_said_to_be_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, written = VectorSnapshot(tmp_path), []
    kept._begin()
    monkeypatch.setattr(vector_snapshot, "write_out", lambda folder: written.append((folder / "open").exists()))
    kept.close()
    assert written == [True] and not (tmp_path / "open").exists()


def test_whose_numbers_they_were_is_known_until_they_are_gone() -> None:
    class Keys(np.ndarray):
        """Says what stands in the row whose key is taken out."""

        def __setitem__(self, row: Any, key: Any) -> None:
            assert key != 0 or not table.vectors[row].any()
            super().__setitem__(row, key)

    table = PointTable(DIMENSIONS, 0.0, 10)
    first, *others = points(10, ANN, 1)
    table.put({point.id: point for point in (first, *others)})
    table.keys = np.ones((20, point_table.KEY), dtype=np.uint8).view(Keys)
    table.drop([first.id])
    assert not table.keys[0].any() and table.keys[1].all()
