"""Pages that were let go are read again from their files."""

from __future__ import annotations

import mmap
import sys
import uuid
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from memory.ports import Point, Query
from memory.stores import index_edge
from memory.stores.disk import drop_page_cache, write_out
from memory.stores.errors import StoreFault, StoreFaultKind

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is mapped")


@linux
def test_what_was_written_into_a_shared_mapping_is_there_afterwards(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "file"
    file.parent.mkdir()
    file.write_bytes(bytes(mmap.PAGESIZE * 4))
    with file.open("r+b") as stream, mmap.mmap(stream.fileno(), 0) as mapped:
        mapped[:5] = b"words"

        assert drop_page_cache(tmp_path / "folder") == 1
        assert drop_page_cache(tmp_path / "other") == 0
        assert mapped[:5] == b"words"
    assert file.read_bytes().startswith(b"words")


@linux
def test_a_private_mapping_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(mmap.PAGESIZE))
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY) as mapped:
        mapped[:5] = b"words"

        assert drop_page_cache(tmp_path) == 0
        assert mapped[:5] == b"words"


def resident(folder: Path) -> int:
    """KiB that the mappings of files below a folder hold in memory."""
    inside, found = False, 0
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, _, told = line.partition(":")
        if "-" in name and " " in line and not told.strip().endswith("kB"):
            inside = f" {folder}/" in line
        elif inside and name == "Rss":
            found += int(told.split()[0])
    return found


@linux
async def test_the_engine_keeps_little_in_memory_of_what_it_has_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_edge, "FLUSH_EVERY", 1000)
    index = await index_edge.EdgeIndex.open(tmp_path / "index", 256)
    rng = np.random.default_rng(1)
    points = [
        Point(str(uuid.UUID(int=number + 1)), "ann", "turn", 0.0, dense, {number: 1.0})
        for number, dense in enumerate(rng.normal(size=(1024, 256)).astype(np.float32))
    ]
    await index.upsert(points[:900])
    before = resident(tmp_path / "index" / "segments")
    await index.upsert(points[900:])
    assert before >= 900 and resident(tmp_path / "index" / "segments") < before / 2
    assert [hit.id for hit in await index.search(Query(("ann",), points[3].dense, {}, 1))] == [points[3].id]
    await index.close()


async def test_nothing_is_written_into_mapped_files_while_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = index_edge.RESERVE - 1
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=free))
    with pytest.raises(StoreFault, match="disk is full"):
        await index_edge.EdgeIndex.open(tmp_path / "home" / "index", 2)
    assert not (tmp_path / "home").exists()
    free = index_edge.RESERVE
    index = await index_edge.EdgeIndex.open(tmp_path / "index", 2)
    one = Point(str(uuid.UUID(int=1)), "ann", "turn", 0.0, np.array([1, 0], dtype=np.float32), {})
    free = 0
    with pytest.raises(StoreFault) as refused:
        await index.upsert([one])
    assert refused.value.fault is StoreFaultKind.FULL and refused.value.passing
    free = index_edge.RESERVE
    await index.upsert([one])
    free = 0
    with pytest.raises(StoreFault, match="disk is full"):
        await index.delete([one.id])
    assert await index.count() == 1
    await index.close()


def test_files_below_a_folder_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(b"said")
    assert write_out(tmp_path) == 1 and write_out(tmp_path / "nowhere") == 0
