"""What stands behind an answer is no part of what was said."""

import pytest

from memory.language.answered import chosen, in_words, stands_alone, without_answered


@pytest.mark.parametrize(
    ("text", "said", "choice"),
    [
        ("The second [chosen: Drop the mapper; asked: Which way?]", "The second", "Drop the mapper"),
        ("Yes, but not on Fridays [on: Shall I release?]", "Yes, but not on Fridays", ""),
        ("B, cheaper [chosen: Two [small] hosts]", "B, cheaper", "Two [small] hosts"),
        ("Write [on: off] into the switch", "Write [on: off] into the switch", ""),
    ],
)
def test_it_is_told_from_what_was_said(text: str, said: str, choice: str) -> None:
    assert without_answered(text) == said
    assert chosen(text) == choice


def test_a_long_answer_needs_nothing_beside_it() -> None:
    assert not stands_alone("Yes, but not on Fridays")
    assert stands_alone("Yes, but not on Fridays, when the shop is full")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("The second [chosen: Two [small] hosts]", "The second (chosen: Two [small] hosts)"),
        ("Yes [on: Shall I?; asked: May it?]", "Yes (answering: Shall I?; the question was: May it?)"),
        ("Take the list [1, 2]", "Take the list [1, 2]"),
    ],
)
def test_a_reader_is_given_it_in_words(text: str, read: str) -> None:
    assert in_words(text) == read
