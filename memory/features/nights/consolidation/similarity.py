"""Which facts are alike: those that are new against all of them, a block at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory.features.nights.consolidation.snapshot import SimilarPair
from memory.ports import Vector

BLOCK = 512
"""Rows that are compared at once at most."""
PRODUCTS = 20_000_000
"""Products that are held at once: 80 MB."""
MOST = 12
"""Likenesses that are kept of one new fact."""
GROUP = 64
"""Cosines of which first only the highest is looked at: the rest of most groups need not be."""


def likenesses(ids: Sequence[str], vectors: Vector, new: Sequence[int], least: float) -> list[SimilarPair]:
    """The pairs of which one side is new and whose cosine is ``least`` or more; of each new fact the best.

    ``vectors`` has a row of length one (or zero) for each of ``ids``; ``new`` are the rows of what is new.
    """
    found: dict[tuple[int, int], float] = {}
    block = max(1, min(BLOCK, PRODUCTS // max(len(ids), 1)))
    for start in range(0, len(new), block):
        rows = np.asarray(new[start : start + block])
        cosines = vectors[rows] @ vectors.T
        cosines[np.arange(len(rows)), rows] = -1.0
        enough = cosines >= np.maximum(_reached(cosines), least)[:, None]
        near, others = np.divmod(np.flatnonzero(enough), len(ids))
        places = np.searchsorted(near, np.arange(len(rows) + 1))
        for row in np.unique(near):
            own = others[places[row] : places[row + 1]]
            if len(own) > MOST:
                scores = cosines[row, own]
                own = own[scores >= np.partition(scores, -MOST)[-MOST]]
                own = own[np.lexsort((own, -cosines[row, own]))[:MOST]]
            one = int(rows[row])
            for other in own.tolist():
                found[min(one, other), max(one, other)] = float(cosines[row, other])
    return [SimilarPair(ids[one], ids[other], cosine) for (one, other), cosine in sorted(found.items())]


def _reached(cosines: Vector) -> NDArray[np.float32]:
    """Of each row a cosine that as many as are kept reach, whatever else they are."""
    groups = cosines.shape[1] // GROUP
    if groups < MOST:
        return np.full(len(cosines), -1.0, dtype=np.float32)
    highest = cosines[:, : groups * GROUP].reshape(len(cosines), GROUP, groups).max(axis=1)
    reached: NDArray[np.float32] = np.partition(highest, -MOST, axis=1)[:, -MOST]
    return reached
