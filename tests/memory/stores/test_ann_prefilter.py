"""Looking at a few dimensions first finds the rows that looking at all of them finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.stores.ann_prefilter import FIRST, Matrix, NearestPrefilter, highest, nearest

DIMENSIONS = 2 * FIRST
LIMIT = 20


def vectors(count: int, seed: int) -> Matrix:
    """Vectors of which some dimensions weigh more than others, as those of texts do."""
    rng = np.random.default_rng(seed)
    turned = np.linalg.qr(rng.normal(size=(DIMENSIONS, DIMENSIONS)))[0]
    found = (rng.normal(size=(count, DIMENSIONS)) * np.arange(1, DIMENSIONS + 1) ** -0.7) @ turned
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), dtype=np.float32)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_nearest_are_found_among_thousands(seed: int) -> None:
    rows = vectors(5000, seed)
    nearness = NearestPrefilter(rows, len(rows))
    for asked in vectors(20, seed + 10):
        near, wrong = nearness.look(asked, len(rows))

        found = nearest(rows, asked, near, wrong, LIMIT)

        assert set(found.tolist()) == set(np.argsort(rows @ asked)[-LIMIT:].tolist())


def test_rows_that_are_put_later_or_anew_are_found_and_those_at_minus_infinity_are_not() -> None:
    rows = vectors(500, 1)
    nearness = NearestPrefilter(rows[:400], 400)
    asked = vectors(1, 5)[0]
    rows[7] = asked
    for row in (7, *range(400, 500)):
        nearness.put(row, rows[row])
    near, wrong = nearness.look(asked, 500)
    gone = np.argsort(rows @ asked)[-40:-1:2]
    near[gone] = -np.inf

    found = nearest(rows, asked, near, wrong, LIMIT)

    scores = rows @ asked
    scores[gone] = -np.inf
    assert set(found.tolist()) == set(np.argsort(scores)[-LIMIT:].tolist()) and 7 in found
    assert nearest(rows, asked, np.full_like(near, -np.inf), wrong, LIMIT).tolist() == []


def test_few_rows_are_all_found() -> None:
    rows = vectors(30, 3)

    assert sorted(nearest(rows, rows[0], rows @ rows[0], None, LIMIT)) == sorted(highest(rows @ rows[0], LIMIT))
    near, wrong = NearestPrefilter(rows, 30).look(rows[0], 30)
    assert set(nearest(rows, rows[0], near, wrong, LIMIT)) == set(np.argsort(rows @ rows[0])[-LIMIT:])


@given(st.lists(st.integers(-1000, 1000), max_size=400), st.integers(1, 6))
def test_the_highest_are_the_highest(numbers: list[int], limit: int) -> None:
    scores = np.array(numbers, dtype=np.float32)

    found = highest(scores, limit)

    assert len(set(found.tolist())) == len(found) == min(limit, len(numbers))
    assert sorted(scores[found].tolist()) == sorted(numbers)[-limit:]
