"""Tables that a server has mapped are replaced, and never written over."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memory.models.training.replacing import replace_tables
from memory.understanding.packaged_weights import arrays_in


def test_who_has_mapped_the_old_tables_can_still_read_them(tmp_path: Path) -> None:
    file = tmp_path / "tables.npz"
    replace_tables(file, {"rows": np.full((4096, 64), 7, np.int8), "scale": np.array([0.5], np.float32)})
    mapped, before = arrays_in(file)["rows"], file.stat().st_ino
    assert isinstance(mapped.base, np.memmap)
    replace_tables(file, {"rows": np.full((2, 64), 9, np.int8)})
    assert file.stat().st_ino != before
    assert mapped.shape == (4096, 64) and (mapped == 7).all()
    assert (arrays_in(file)["rows"] == 9).all()
    assert list(tmp_path.iterdir()) == [file]


def test_what_cannot_be_written_leaves_the_old_tables_where_they_are(tmp_path: Path) -> None:
    file = tmp_path / "tables.npz"
    replace_tables(file, {"rows": np.ones((2, 2), np.int8)})
    with pytest.raises(TypeError):
        replace_tables(file, {"rows": np.zeros(2, np.int8), "file": np.zeros(2, np.int8)})  # NumPy's own name
    assert (arrays_in(file)["rows"] == 1).all()
    assert list(tmp_path.iterdir()) == [file]
