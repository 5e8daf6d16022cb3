"""What is left for recall beside a page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.context.budget import beside_page


def test_without_a_page_recall_has_its_own_budget() -> None:
    assert beside_page(600, 0) == 600


def test_a_full_page_leaves_less() -> None:
    assert beside_page(600, 400) == 220
    assert beside_page(600, 600) == 200


@given(st.integers(0, 2000), st.integers(0, 2000))
def test_recall_never_gets_more_than_its_own(recall: int, page: int) -> None:
    assert 0 <= beside_page(recall, page) <= recall
