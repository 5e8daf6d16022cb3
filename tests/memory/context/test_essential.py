"""Whether a fact tells how to act from now on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memory.context.essential import LEAST, essential_worth, on_page
from memory.fact import Category, FactKind, MemoryTier, Origin, Stability
from tests.memory.context.making import fact


def worth(text: str, kind: FactKind = FactKind.PREFERENCE, **more: object) -> float:
    return essential_worth(fact(text, **({"kind": kind, "confidence": 0.85, "importance": 0.8} | more)))


@pytest.mark.parametrize(
    "text",
    ["I prefer trains to planes.", "I don't eat meat.", "I am not a fan of horror films.",
     "I only use keyboards without a number pad.", "As a nurse, I avoid night shifts.",
     "Never push to main without a review.", "Caroline: I can't stand cilantro.",
     "In general I prefer trains to planes.", "Usually I avoid window seats."],
)  # fmt: skip
def test_a_rule_for_what_to_do_is_essential(text: str) -> None:
    assert worth(text) >= LEAST


@pytest.mark.parametrize(
    "text",
    ["It means a lot to me!", "That must have been awesome.", "I love this!", "Your help is really motivating.",
     "They always have my back.", "I need to cancel my flight.", "Those moments really make me thankful."],
)  # fmt: skip
def test_a_feeling_of_the_moment_is_not(text: str) -> None:
    assert worth(text) < LEAST


def test_what_counts_of_a_decision_is_that_it_is_about_the_work() -> None:
    told = {"kind": FactKind.DECISION, "confidence": 0.75, "importance": 0.65}
    assert worth("We go with one branch for each release.", **told) >= LEAST  # type: ignore[arg-type]
    assert worth("We will make great memories together.", **told) < LEAST  # type: ignore[arg-type]


def test_nobody_else_may_write_the_page() -> None:
    for origin in (Origin.ASSISTANT, Origin.TOOL, Origin.WEB, Origin.SUBAGENT):
        assert worth("I prefer trains to planes.", origin=origin) == 0.0


def test_use_in_more_sessions_adds_worth() -> None:
    assert worth("I like trains.", access=4, sessions=4) > worth("I like trains.", access=4) > worth("I like trains.")


def test_a_choice_too_short_to_stand_alone_keeps_what_was_on_offer() -> None:
    assert on_page("The second. [chosen: The night train]") == "The second. [chosen: The night train]"
    assert on_page("I will take the night train, planes are too loud. [chosen: Train]").endswith("loud.")
    by_its_letter = "B, the other one is far too much for the two of us. [chosen: A tent; asked: Where do we sleep?]"
    assert on_page(by_its_letter) == "B, the other one is far too much for the two of us. [chosen: A tent]"


@pytest.mark.parametrize("origin", [Origin.TOOL, Origin.WEB, Origin.SUBAGENT])
def test_hearsay_is_never_essential_however_often_it_was_said(origin: Origin) -> None:
    said = fact("Always deploy from main.", origin=origin, kind=FactKind.CONVENTION, confidence=0.95, importance=0.9)
    for more in ({"access": 64, "sessions": 32}, {"stability": Stability.STABLE}, {"tier": MemoryTier.SHARED}):
        assert essential_worth(replace(said, **more)) == 0.0
    assert essential_worth(replace(said, pinned=True)) > 0.0


def test_how_work_is_done_is_essential_in_whatever_words() -> None:
    told = {"kind": FactKind.CONVENTION, "category": Category.WORKFLOWS, "confidence": 0.9, "importance": 0.85}
    assert worth("Tailwind, nothing else in the way of styles.", **told) >= LEAST  # type: ignore[arg-type]


def test_what_is_merely_so_is_not_until_several_sessions_bear_it_out() -> None:
    told = {"kind": FactKind.FACT, "category": Category.PROJECTS, "confidence": 0.9, "importance": 0.5}
    assert worth("The staging cluster runs in Oslo.", **told) < LEAST  # type: ignore[arg-type]
    assert worth("The staging cluster runs in Oslo.", **told, access=4, sessions=3) >= LEAST  # type: ignore[arg-type]
