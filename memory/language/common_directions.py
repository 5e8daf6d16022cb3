"""What the vectors of all texts have in common, which hides what each of them is about.

The default embedder's table was made from an English model. Two German sentences are alike in it because both are
German: of two statements of one project their cosine is .39 on the average, of Spanish ones .51, of English ones .11.
Where texts are compared with a fixed threshold, as nights do, their mean and the directions in which they differ most
(the languages) are taken out first: then it is .04, .04 and .06 (Mu, Viswanath 2018, *All-but-the-Top*).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.language.static_embedding import DATA, StaticEmbedding

Floats = NDArray[np.float32]
COMMON: Final = "common.npy"


@lru_cache(maxsize=1)
def common_directions(folder: Path = DATA) -> Floats:
    """The mean of the table's vectors of many messages and, below it, unit directions: shape (1 + n, d). Raises
    FileNotFoundError."""
    return np.asarray(np.load(folder / COMMON), np.float32)


def without_common(vectors: Floats, common: Floats) -> Floats:
    """Unit vectors without the mean and the directions. What says nothing stays zero, and is like nothing."""
    apart = np.where(vectors.any(axis=1, keepdims=True), vectors - common[0], 0.0)
    apart -= (apart @ common[1:].T) @ common[1:]
    unit = apart / np.maximum(np.linalg.norm(apart, axis=1, keepdims=True), 1e-6)
    return np.asarray(unit, np.float32)


def topics(texts: Sequence[str]) -> Floats:
    """The shipped table's unit vectors of some texts, without what all texts have in common: shape (n, d)."""
    return without_common(StaticEmbedding.load().documents(texts), common_directions())
