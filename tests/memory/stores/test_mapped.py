"""Pages that were let go are read again from their files."""

from __future__ import annotations

import mmap
import sys
from pathlib import Path

import pytest

from memory.stores.mapped import let_go, write_out

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is mapped")


@linux
def test_what_was_written_into_a_shared_mapping_is_there_afterwards(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "file"
    file.parent.mkdir()
    file.write_bytes(bytes(mmap.PAGESIZE * 4))
    with file.open("r+b") as stream, mmap.mmap(stream.fileno(), 0) as mapped:
        mapped[:5] = b"words"

        assert let_go(tmp_path / "folder") == 1
        assert let_go(tmp_path / "other") == 0
        assert mapped[:5] == b"words"
    assert file.read_bytes().startswith(b"words")


@linux
def test_a_private_mapping_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(mmap.PAGESIZE))
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_COPY) as mapped:
        mapped[:5] = b"words"

        assert let_go(tmp_path) == 0
        assert mapped[:5] == b"words"


def test_files_below_a_folder_are_written_out(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(b"said")
    assert write_out(tmp_path) == 1 and write_out(tmp_path / "nowhere") == 0
