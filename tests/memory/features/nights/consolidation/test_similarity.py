"""Which facts are alike, compared a block at a time."""

from __future__ import annotations

import numpy as np

from memory.features.nights.consolidation.similarity import BLOCK, MOST, likenesses


def test_the_pairs_of_which_one_side_is_new_each_once() -> None:
    vectors = np.asarray([[1, 0], [1, 0], [0, 1], [0.8, 0.6]], dtype=np.float32)
    pairs = likenesses(["a", "b", "c", "d"], vectors, [0, 1], 0.7)
    assert [(pair.one, pair.other, round(pair.cosine, 2)) for pair in pairs] == [
        ("a", "b", 1.0),
        ("a", "d", 0.8),
        ("b", "d", 0.8),
    ]
    assert likenesses(["a", "b"], vectors[:2], [], 0.0) == []


def test_more_than_a_block_is_compared_and_of_each_only_the_best_are_kept() -> None:
    count = BLOCK + 40
    vectors = np.ones((count, 1), dtype=np.float32)
    pairs = likenesses([f"{number:04}" for number in range(count)], vectors, [count - 1], 0.5)
    assert len(pairs) == MOST and {pair.other for pair in pairs} == {f"{count - 1:04}"}
    everything = likenesses([f"{number:04}" for number in range(count)], vectors, range(count), 0.5)
    assert {pair.one for pair in everything} | {pair.other for pair in everything} == {
        f"{number:04}" for number in range(count)
    }


def test_nothing_is_like_what_has_no_known_word() -> None:
    assert likenesses(["a", "b"], np.zeros((2, 4), dtype=np.float32), [0, 1], 0.5) == []
