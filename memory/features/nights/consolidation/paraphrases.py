"""Which rules say the same in other words: what shares hardly a word is read by the encoder, pair by pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from memory.fact import Fact, FactKind, State
from memory.features.nights.consolidation.snapshot import SimilarPair
from memory.language.polarity import without_aside
from memory.understanding.encoder import Encoder

LEAST: Final = 0.3
"""Cosine from which on two rules may say the same."""
SAME: Final = 0.9
"""How likely they must be to say the same: of a store's many pairs hardly any does, so that a lower mark would find
mostly others. What only adds to another may be its exception."""
MOST: Final = 4
"""Pairs that are read of one rule at most, the likest."""
RULES: Final = (FactKind.CORRECTION, FactKind.CONVENTION, FactKind.DECISION, FactKind.PREFERENCE, FactKind.ANTI_PATTERN)
BATCH: Final = 32


def paraphrases(facts: Mapping[str, Fact], near: Sequence[SimilarPair], encoder: Encoder) -> list[SimilarPair]:
    """Of some pairs those that say the same; what stands for their cosine is how likely that is."""
    read = []
    counted = Counter[str]()
    for pair in sorted(near, key=lambda each: (-each.cosine, each.one, each.other)):
        both = pair.one, pair.other
        if all(_may_be(facts.get(id)) and counted[id] < MOST for id in both):
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
