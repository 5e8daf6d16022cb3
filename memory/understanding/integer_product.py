"""Products of matrices of small integers: exact, so that whoever multiplies gets the same.

Where numkong is installed, it multiplies with the processor's own instructions for small integers, several times as
fast as numpy with floats. Without it numpy multiplies the same integers as floats, whose sums are exact below 2^24.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

try:
    import numkong
except ImportError:
    numkong = None  # type: ignore[assignment]

Floats = NDArray[np.float32]

LARGEST: Final = 127
"""The largest of the integers; the smallest is as far below zero."""

EXACT: Final = 2**24
"""Below this every whole number is a float of 32 bits."""

Product = Callable[[Floats], Floats]
"""Multiplies rows of whole numbers, at most :data:`LARGEST` from zero, by a matrix: shape (rows, outputs)."""


def product(matrix: NDArray[np.int8], *, often: bool = True) -> Product:
    """What multiplies by a matrix (inputs by outputs). Without numkong a matrix that is used ``often`` is kept as
    floats, four times as large, and another is made floats with every use, which takes about a tenth of the use.

    Raises:
        ValueError: when a sum of products could be too large to be exact.
    """
    if np.abs(matrix).sum(axis=0, dtype=np.int64).max() * LARGEST >= EXACT:
        raise ValueError(f"a column of {matrix.shape[0]} whole numbers is too large for its products to be exact")
    return with_numpy(matrix, often=often) if numkong is None else with_numkong(matrix)


def with_numpy(matrix: NDArray[np.int8], *, often: bool) -> Product:
    """The same by numpy."""
    if not often:
        return lambda rows: np.asarray(rows @ matrix.astype(np.float32))
    floats = matrix.astype(np.float32)
    return lambda rows: np.asarray(rows @ floats)


def with_numkong(matrix: NDArray[np.int8]) -> Product:
    """The same by numkong. Raises AttributeError where that is not installed."""
    packed = numkong.dots_pack(np.ascontiguousarray(matrix.T))
    return lambda rows: np.asarray(numkong.dots_packed(rows.astype(np.int8), packed)).astype(np.float32)
