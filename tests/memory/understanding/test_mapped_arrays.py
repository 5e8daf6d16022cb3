"""Arrays that are mapped out of an archive are those that were put into it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory.language.static_embedding import DATA
from memory.understanding.packaged_weights import ENCODER, RELEVANCE, WEIGHTS, arrays_in

ARRAYS: dict[str, Any] = {
    "rows": np.arange(-60, 60, dtype=np.int8).reshape(20, 6),
    "columns": np.asfortranarray(np.arange(12, dtype=np.uint8).reshape(3, 4)),
    "none": np.zeros((0, 6), dtype=np.int8),
    "floats": np.linspace(0, 1, 7, dtype=np.float16),
    "scale": np.float32(0.25),
}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_each_array_is_what_was_saved(save: Any, tmp_path: Path) -> None:
    save(tmp_path / "all.npz", **ARRAYS)
    read = arrays_in(tmp_path / "all.npz")
    assert list(read) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert read[name].dtype == array.dtype
        assert read[name].shape == array.shape
        assert (read[name] == array).all()
        assert not read[name].flags.writeable


def test_tables_of_bytes_are_mapped_and_nothing_else(tmp_path: Path) -> None:
    np.savez(tmp_path / "all.npz", **ARRAYS)
    mapped = {name for name, array in arrays_in(tmp_path / "all.npz").items() if isinstance(array.base, np.memmap)}
    assert mapped == {"rows", "columns"}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no descriptors to count")
@pytest.mark.parametrize("file", [WEIGHTS, RELEVANCE, ENCODER])
def test_a_file_takes_one_descriptor_however_many_arrays_it_has(file: str) -> None:
    before = len(os.listdir("/dev/fd"))
    arrays = arrays_in(DATA / file)
    assert len(arrays) > 1
    assert len(os.listdir("/dev/fd")) <= before + 1


@pytest.mark.parametrize(
    ("file", "table"),
    [(WEIGHTS, "says"), (WEIGHTS, "around"), (RELEVANCE, "requests"), (ENCODER, "pieces.rows")],
)
def test_the_large_tables_in_the_package_are_mapped(file: str, table: str) -> None:
    assert isinstance(arrays_in(DATA / file)[table].base, np.memmap)
