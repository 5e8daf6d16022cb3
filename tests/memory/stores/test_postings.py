"""Postings give the product of a question with every row as it is now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.terms import product
from memory.stores import point_table
from memory.stores.point_table import Postings

SPARSE = st.dictionaries(st.sampled_from((0, 1, 5, 2**31, 2**32 - 1)), st.integers(1, 50).map(float), max_size=4)
STEPS = st.lists(st.tuples(st.integers(0, 6), st.one_of(st.none(), SPARSE)), max_size=60)


@pytest.mark.parametrize("late", [0, 7, 4096])
@given(steps=STEPS, asked=SPARSE)
def test_a_question_is_scored_against_what_the_rows_hold_now(
    late: int, steps: list[tuple[int, dict[int, float] | None]], asked: dict[int, float]
) -> None:
    kept, rows = Postings(), dict[int, dict[int, float]]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(point_table, "LATE", late)
        for row, sparse in steps:
            kept.drop([row])
            rows.pop(row, None)
            if sparse is not None:
                kept.put(row, sparse)
                rows[row] = sparse

    assert kept.scores(asked, 7).tolist() == [product(asked, rows.get(row, {})) for row in range(7)]
