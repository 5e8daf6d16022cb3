"""Put a file of tables in the place of the one that is there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def replace_tables(file: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays beside a file and put them in its place in one step: a server that has mapped the old file keeps
    it, where one whose file were written over would be killed (SIGBUS)."""
    beside = file.with_name(f"{file.name}.new")
    try:
        with beside.open("wb") as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]
        os.replace(beside, file)
    finally:
        beside.unlink(missing_ok=True)
