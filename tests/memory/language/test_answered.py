"""What stands behind an answer is no part of what was said."""

import pytest

from memory.language.answered import chooses, stands_alone, without_answered


@pytest.mark.parametrize(
    ("text", "said", "choice"),
    [
        ("The second [chosen: Drop the mapper; asked: Which way?]", "The second", True),
        ("Yes, but not on Fridays [on: Shall I release?]", "Yes, but not on Fridays", False),
        ("Write [on: off] into the switch", "Write [on: off] into the switch", False),
    ],
)
def test_it_is_told_from_what_was_said(text: str, said: str, choice: bool) -> None:
    assert without_answered(text) == said
    assert chooses(text) is choice


def test_a_long_answer_needs_nothing_beside_it() -> None:
    assert not stands_alone("Yes, but not on Fridays")
    assert stands_alone("Yes, but not on Fridays, when the shop is full")
