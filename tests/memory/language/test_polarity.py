"""What a sentence stands for, and what it rejects."""

from __future__ import annotations

from itertools import permutations

import pytest

from memory.language.contradiction import compare
from memory.language.polarity import on_one_side, sides, unsaid, without_aside

ONE_SIDE = [
    "No, use pnpm to install packages here, not npm.",
    "Use pnpm to install packages, not npm!",
    "That's wrong, we install packages with pnpm instead of npm.",
    "Stop using npm, use pnpm for installing packages.",
    "I told you: always use pnpm to install packages, never npm.",
    "Don't use npm.",
]


@pytest.mark.parametrize(("one", "other"), list(permutations(ONE_SIDE, 2)))
def test_the_same_correction_in_other_words_contradicts_nothing(one: str, other: str) -> None:
    assert on_one_side(sides(one), sides(other)) and compare(one, other).clash == 0.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never push to main", "Push to main directly"),
        ("We deploy on Fridays", "We do not deploy on Fridays"),
        ("I like hiking", "I don't like hiking any more"),
        ("Use tabs for indentation", "Never use tabs for indentation"),
        ("Don't use npm", "Use npm for this project after all"),
        ("We use MySQL", "We no longer use MySQL"),
        ("Ann likes hiking in the mountains", "Ann no longer likes hiking"),
    ],
)
def test_what_one_stands_for_and_the_other_rejects_does(one: str, other: str) -> None:
    assert not on_one_side(sides(one), sides(other)) and compare(one, other).clash >= 0.6


def test_what_is_rejected_is_not_what_it_is_rejected_for() -> None:
    assert sides("Never use tabs for indentation") == (frozenset({"indent"}), frozenset({"tab"}))
    assert sides("The boat is blue")[1] == frozenset()


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("No. Install packages with pnpm", "Install packages with pnpm"),
        ("That's wrong, use tabs", "Use tabs"),
        ("No tabs in Makefiles", "No tabs in Makefiles"),
        ("No.", "No."),
    ],
)
def test_an_aside_is_no_part_of_the_sentence(said: str, left: str) -> None:
    assert without_aside(said) == left


def test_the_other_side_is_named_where_the_sentence_does_not_reject_it() -> None:
    assert unsaid("a museum", "We run depots, not a museum.") == ""
    assert unsaid("tabs", "Indent with spaces instead of tabs.") == ""
    assert unsaid("with make.py test", "Run it with `pnpm test`, not with make.py test.") == ""
    assert unsaid("npm", "Use pnpm.") == "npm"
    order = "Deploy staging after production"
    assert unsaid(order, "Deploy production after staging.") == order
    assert unsaid("", "Use pnpm.") == ""
