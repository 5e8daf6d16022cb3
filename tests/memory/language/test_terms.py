"""Texts as sparse vectors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.terms import document_terms, product, rarity, term, words_of


def test_a_terms_number_never_changes() -> None:
    assert term("sextant") == 3492365823
    assert 0 <= term("\ud800") < 2**32


def test_inflections_meet_and_stop_words_leave_no_trace() -> None:
    assert words_of("the boats were repaired") == words_of("repairing a boat")
    assert document_terms("and so it was") == {}


def test_the_speaker_is_indexed_like_a_word_of_the_text() -> None:
    assert term("carolin") in document_terms("I went home.", "Caroline")


def test_a_word_said_again_counts_less_each_time_and_a_long_text_less_for_each_word() -> None:
    once, twice, thrice = (document_terms("boat " * n + "sea " * (9 - n))[term("boat")] for n in (1, 2, 3))
    assert once < twice < thrice
    assert thrice - twice < twice - once
    assert document_terms("boat " + "sea wind " * 40)[term("boat")] < once


def test_rarity_falls_with_frequency_and_stays_positive() -> None:
    assert rarity(100, 0) > rarity(100, 1) > rarity(100, 50) > rarity(100, 100) > 0.0
    assert rarity(10, 99) == rarity(10, 10)


def test_a_product_is_over_common_terms_only() -> None:
    assert product({1: 2.0, 2: 3.0}, {2: 4.0, 3: 5.0}) == 12.0
    assert product({}, {1: 1.0}) == 0.0


@given(st.text(max_size=200))
def test_any_text_has_positive_weights_below_the_saturation(text: str) -> None:
    vector = document_terms(text)
    assert all(0.0 < weight < 2.2 for weight in vector.values())
    assert set(vector) == words_of(text)


@given(st.dictionaries(st.integers(0, 20), st.floats(-9, 9)), st.dictionaries(st.integers(0, 20), st.floats(-9, 9)))
def test_a_product_has_no_direction(left: dict[int, float], right: dict[int, float]) -> None:
    assert product(left, right) == pytest.approx(product(right, left))
