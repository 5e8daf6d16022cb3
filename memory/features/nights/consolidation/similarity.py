"""Which facts are alike: those that are new against all of them, a block at a time.

Which rules say the same in other words: what shares hardly a word is read by the encoder, pair by pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.fact import Fact, FactKind, State
from memory.features.nights.consolidation.snapshot import SimilarPair
from memory.language.polarity import without_aside
from memory.ports import Vector
from memory.understanding.encoder import Encoder

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
        enough = cosines >= np.maximum(_kth_cosines(cosines), least)[:, None]
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


def _kth_cosines(cosines: Vector) -> NDArray[np.float32]:
    """Of each row a cosine that as many as are kept reach, whatever else they are."""
    groups = cosines.shape[1] // GROUP
    if groups < MOST:
        return np.full(len(cosines), -1.0, dtype=np.float32)
    highest = cosines[:, : groups * GROUP].reshape(len(cosines), GROUP, groups).max(axis=1)
    reached: NDArray[np.float32] = np.partition(highest, -MOST, axis=1)[:, -MOST]
    return reached


LEAST: Final = 0.25
"""Cosine from which on two rules may say the same."""
SAME: Final = 0.9
"""How likely they must be to say the same: of a store's many pairs hardly any does, so that a lower mark would find
mostly others. What only adds to another may be its exception."""
MOST_PARAPHRASES: Final = 4
"""Pairs that are read of one rule at most, the likest."""
RULES: Final = (FactKind.CORRECTION, FactKind.CONVENTION, FactKind.DECISION, FactKind.PREFERENCE, FactKind.ANTI_PATTERN)
BATCH: Final = 32


def paraphrases(facts: Mapping[str, Fact], near: Sequence[SimilarPair], encoder: Encoder) -> list[SimilarPair]:
    """Of some pairs those that say the same; what stands for their cosine is how likely that is."""
    read = []
    counted = Counter[str]()
    for pair in sorted(near, key=lambda each: (-each.cosine, each.one, each.other)):
        both = pair.one, pair.other
        if all(_may_be(facts.get(id)) and counted[id] < MOST_PARAPHRASES for id in both):
            counted.update(both)
            read.append(pair)
    found = []
    for start in range(0, len(read), BATCH):
        batch = read[start : start + BATCH]
        for pair, relation in zip(batch, encoder.relations([_texts(facts, pair) for pair in batch]), strict=True):
            if relation.same >= SAME:
                found.append(SimilarPair(pair.one, pair.other, round(relation.same, 3)))
    return found


def _texts(facts: Mapping[str, Fact], pair: SimilarPair) -> tuple[str, str]:
    older, newer = sorted((facts[pair.one], facts[pair.other]), key=lambda fact: (fact.valid_from, fact.id))
    return without_aside(older.text), without_aside(newer.text)


def _may_be(fact: Fact | None) -> bool:
    return fact is not None and fact.state is State.ACTIVE and fact.kind in RULES and fact.origin.trusted
