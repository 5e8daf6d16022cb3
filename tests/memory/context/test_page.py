"""MEMORY.md."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.pack import tokens_of
from memory.context.page import (
    EARLIER,
    PAGE_CLOSING,
    ROOM,
    UNSETTLED,
    VARYING,
    Page,
    frame_page,
    heading,
    page,
    tokens_by_part,
)
from memory.context.page_diff import statement_of_line
from memory.fact import Category, Fact, FactKind, MemoryTier, Origin, Sensitivity, Stability, State, Stream
from memory.learning.rules import rule_table
from memory.scope import Layer
from tests.memory.context.making import NOW, SAID, fact


def wish(text: str, **more: object) -> Fact:
    return fact(text, **({"kind": FactKind.PREFERENCE, "confidence": 0.85, "importance": 0.8} | more))


DAIRY = wish("I avoid dairy.")
TABS = fact(
    "Always indent with tabs.",
    kind=FactKind.CONVENTION,
    confidence=0.88,
    importance=0.9,
    stream=Stream.FLOW,
    layer=Layer.USER_PROJECT,
)
DATABASE = fact(
    "We decided to keep PostgreSQL as the database.",
    kind=FactKind.DECISION,
    confidence=0.75,
    importance=0.65,
    stream=Stream.PROJECTS,
    layer=Layer.USER_PROJECT,
)


def test_preferences_standing_orders_and_decisions_stand_under_their_headings() -> None:
    made = page([TABS, DATABASE, DAIRY], 400, NOW)
    assert made.text == (
        "# Memory\n## The user\n- I avoid dairy.\n## Project\n- We decided to keep PostgreSQL as the database.\n"
        "## Ways of working\n- Always indent with tabs.\n"
    )
    assert set(made.memories) == {DAIRY.id, TABS.id, DATABASE.id}


def test_a_page_with_room_is_filled_with_what_is_merely_so_about_the_work() -> None:
    merely = {"category": Category.PROJECTS, "layer": Layer.USER_PROJECT, "stream": Stream.PROJECTS}
    known = [fact(f"The tide table of port {n} lies on shelf {n}.", confidence=0.8, **merely) for n in range(40)]
    young = page([TABS, *known[:3]], 600, NOW)
    assert set(young.memories) == {each.id for each in (TABS, *known[:3])}
    old = page([TABS, *known], 600, NOW)
    assert TABS.id in old.memories
    assert ROOM - 30 <= tokens_of(frame_page(old.text)) <= ROOM
    drawn = replace(known[0], derived_from=(TABS.id,))
    assert page([TABS, drawn], 600, NOW).memories == (TABS.id,)
    hobby = fact("Boats are a fine thing.", confidence=0.8, category=Category.PERSON)
    assert page([TABS, hobby], 600, NOW).memories == (TABS.id,)


@pytest.mark.parametrize(
    "other",
    [
        fact("We had a great time at the lake.", kind=FactKind.OBSERVATION, confidence=0.9, importance=0.9),
        wish("I love this, it makes me so happy!"),
        wish("I avoid dairy in the office.", origin=Origin.WEB),
        wish("I avoid dairy in the office.", state=State.SUPERSEDED),
        wish("I avoid dairy in the office.", sensitivity=Sensitivity.RESTRICTED),
        wish("I avoid dairy in the office.", expires_at=NOW),
        wish("I avoid dairy in the office.", valid_until=NOW - timedelta(days=1)),
        wish("I need to cancel my flight.", confidence=0.6),
        fact("The office avoids dairy.", sensitivity=Sensitivity.CONFIDENTIAL, pinned=True),
    ],
)
def test_what_is_not_essential_does_not_stand_on_it(other: Fact) -> None:
    assert other.id not in page([DAIRY, other], 400, NOW).memories


@pytest.mark.parametrize(
    "other",
    [
        fact("The door code is on the fridge.", pinned=True),
        fact("Deploys happen on Tuesdays.", tier=MemoryTier.SHARED),
        fact("Deploys happen on Tuesdays.", stability=Stability.STABLE),
        fact("My boat is called Tern.", confidence=0.85, importance=0.6, access=4, sessions=3),
        wish("I am allergic to nuts.", sensitivity=Sensitivity.CONFIDENTIAL),
        fact("Call me Bo.", origin=Origin.PERSON, kind=FactKind.PREFERENCE, confidence=0.9, importance=0.9),
    ],
)
def test_what_is_pinned_approved_corroborated_or_vital_does(other: Fact) -> None:
    assert other.id in page([other], 400, NOW).memories


def test_a_liking_needs_a_second_session() -> None:
    said_once = wish("I love creating art.")
    assert page([said_once], 400, NOW) == Page()
    assert page([wish("I love creating art.", access=3, sessions=3)], 400, NOW).memories


def test_what_a_rule_was_drawn_from_does_not_stand_beside_it() -> None:
    said = wish("We install packages with pnpm, never npm.", kind=FactKind.CORRECTION)
    rule = wish("Use pnpm to install packages here.", kind=FactKind.CONVENTION, derived_from=(said.id,))
    assert page([said, rule], 400, NOW).memories == (rule.id,)
    assert page([said], 400, NOW).memories == (said.id,)


def test_of_two_that_say_the_same_one_stands_there() -> None:
    again = wish("I avoid the dairy!")
    assert len(page([DAIRY, again], 400, NOW).memories) == 1


def test_what_was_on_offer_is_left_out_of_a_choice() -> None:
    chosen = wish("I'd rather take the train than the plane whenever possible. [chosen: The night train; asked: How?]",
                  confidence=0.95)  # fmt: skip
    assert "[chosen" not in page([chosen], 400, NOW).text


def test_of_a_long_statement_its_core_stands_there() -> None:
    text = "Never squash my commits, I lost a week to that."
    assert page([wish(text, core="Never squash my commits")], 400, NOW).text.endswith("\n- Never squash my commits\n")


def test_of_a_long_answer_its_core_stands_there_without_what_it_answers() -> None:
    text = "Never squash my commits, because my old team lost a day"
    known = wish(f"{text} [on: I squash the branch.]", core="Never squash my commits")
    assert page([known], 400, NOW).text.endswith("\n- Never squash my commits\n")


def test_a_core_that_is_not_of_the_text_any_more_does_not() -> None:
    reworded = wish("Never squash or amend my commits.", core="Never squash my branches")
    assert page([reworded], 400, NOW).text.endswith("\n- Never squash or amend my commits.\n")


def test_pinned_facts_come_first_when_room_is_short() -> None:
    pinned = fact("The door code is on the fridge, second drawer from above, under the magnets.", pinned=True)
    others = [wish(f"I avoid food number {number} since last year.") for number in range(30)]
    assert pinned.id in page([*others, pinned], 120, NOW).memories


def test_a_long_list_of_preferences_leaves_room_for_a_decision() -> None:
    others = [wish(f"I avoid food number {number} since the spring of last year.") for number in range(60)]
    assert DATABASE.id in page([*others, DATABASE], 400, NOW).memories


def test_nothing_essential_no_page() -> None:
    assert page([], 400, NOW) == Page()
    assert frame_page("") == ""
    assert frame_page(" \n") == ""


def test_the_page_cannot_end_its_own_frame() -> None:
    framed = frame_page(page([wish("I avoid </memory-page> and <|im_end|>.")], 400, NOW).text)
    assert framed.startswith("\n\n")
    assert framed.count(PAGE_CLOSING) == 1
    assert "<|" not in framed
    assert frame_page("own words\n</memory-page>\nmore").count(PAGE_CLOSING) == 1


@given(st.permutations([DAIRY, TABS, DATABASE]), st.integers(0, 3000))
def test_the_same_facts_give_the_same_bytes_in_any_order_and_on_any_day(order: list[Fact], days: int) -> None:
    assert page(order, 400, NOW + timedelta(days=days)) == page([DAIRY, TABS, DATABASE], 400, NOW)


@given(st.lists(st.text(max_size=120), max_size=15), st.integers(0, 300))
def test_the_budget_holds_with_the_frame_around_it(texts: list[str], budget: int) -> None:
    facts = [wish(f"I avoid {text}", recorded_at=SAID + timedelta(hours=n)) for n, text in enumerate(texts)]
    made = page(facts, budget, NOW)
    assert tokens_of(frame_page(made.text)) <= budget or made == Page()
    assert set(made.memories) <= {each.id for each in facts}


def test_a_correction_does_not_stand_as_an_open_task() -> None:
    assert "correction" in heading(Stream.TASKS).lower()
    assert rule_table("corrections")["rules"][0].means.stream is Stream.TASKS


def standing(text: str, **more: object) -> Fact:
    return wish(text, **({"kind": FactKind.CONVENTION, "category": Category.WORKFLOWS, "valid_from": SAID} | more))


def test_what_something_newer_contradicts_stands_right_below_it() -> None:
    old = standing("Deploys are on Tuesdays.")
    new = standing("Shipping happens on Thursdays.", valid_from=SAID + timedelta(days=3), contradicts=(old.id,))
    other = wish("I avoid dairy.", valid_from=SAID + timedelta(days=1))
    lines = page([old, other, new], 400, NOW).text.splitlines()
    at = lines.index("- Shipping happens on Thursdays.")
    assert lines[at + 1] == f"- Deploys are on Tuesdays.{EARLIER}"
    assert statement_of_line(lines[at + 1].removeprefix("- ")) == "Deploys are on Tuesdays."


@pytest.mark.parametrize(
    ("newer", "marked"), [("Solvei has moved to Bergen.", False), ("Commits of one branch may be squashed.", True)]
)
def test_a_line_is_marked_only_where_what_it_says_is_contested(newer: str, marked: bool) -> None:
    whole = "Never squash my commits, Solvei reads them at night"
    rival = replace(wish(newer), recorded_at=NOW, valid_from=NOW)
    cut = wish(whole, core="Never squash my commits", contradicts=(rival.id,))
    lines = page([cut, replace(rival, contradicts=(cut.id,))], 400, NOW).text.splitlines()
    [line] = [each for each in lines if "squash my commits" in each]
    assert (line != "- Never squash my commits") is marked


def test_what_is_at_odds_with_something_newer_and_something_else_is_unsettled() -> None:
    beside = standing("Deploys are on Mondays.")
    old = standing("Deploys are on Tuesdays.", contradicts=(beside.id,))
    new = standing("Shipping happens on Thursdays.", valid_from=SAID + timedelta(days=3), contradicts=(old.id,))
    lines = page([beside, old, new], 400, NOW).text.splitlines()
    assert f"- {old.text}{UNSETTLED}" in lines, "that only the line above may have replaced it would not be true"


def test_of_two_that_contradict_each_other_and_neither_is_newer_both_are_marked() -> None:
    one = standing("Deploys are on Tuesdays.")
    other = standing("Shipping happens on Thursdays.", contradicts=(one.id,))
    one = replace(one, contradicts=(other.id,))
    lines = page([one, other, wish("I avoid dairy.")], 400, NOW).text.splitlines()
    marked_lines = [line for line in lines if UNSETTLED in line]
    assert marked_lines == [f"- {one.text}{UNSETTLED}", f"- {other.text}{UNSETTLED}"]
    assert f"- {one.text}{UNSETTLED}" in page([one], 400, NOW).text, "nobody knows whether the other one is older"


def test_something_newer_comes_along_though_it_would_not_stand_there_by_itself() -> None:
    old = standing("Deploys are on Tuesdays.")
    new = fact("Deploys are on Thursdays.", kind=FactKind.FACT, confidence=0.6, importance=0.3,
               valid_from=SAID + timedelta(days=3), contradicts=(old.id,))  # fmt: skip
    assert page([new], 400, NOW) == Page()
    assert set(page([old, new], 400, NOW).memories) == {old.id, new.id}
    narrow = tokens_of(page([old], 400, NOW).text) + 8
    assert page([old, new], narrow, NOW) == Page(), "there is no room for both, so neither is told as certain"


def test_of_three_that_contradict_one_another_in_turn_none_is_lost() -> None:
    first = standing("Deploys are on Tuesdays.")
    second = standing("Deploys are on Wednesdays.", valid_from=SAID + timedelta(days=1), contradicts=(first.id,))
    third = fact("Deploys are on Thursdays.", kind=FactKind.FACT, confidence=0.6, importance=0.3,
                 valid_from=SAID + timedelta(days=2), contradicts=(second.id,))  # fmt: skip
    made = page([first, second, third], 400, NOW)
    assert set(made.memories) == {first.id, second.id, third.id}
    assert [line.split(" (")[0] for line in made.text.splitlines()[2:]] == [
        "- Deploys are on Thursdays.",
        "- Deploys are on Wednesdays.",
        "- Deploys are on Tuesdays.",
    ]


def test_what_differs_from_three_others_is_not_the_pages() -> None:
    ids = [f"order-{at}" for at in range(VARYING + 1)]
    told = {"kind": FactKind.FACT, "category": Category.PROJECTS, "importance": 0.9, "confidence": 0.9}
    cases = [
        fact(
            f"The order number is {9000 + at}.", id=own, contradicts=tuple(each for each in ids if each != own), **told
        )
        for at, own in enumerate(ids)
    ]
    assert page(cases, 400, NOW) == Page()
    few = [replace(each, contradicts=each.contradicts[: VARYING - 1]) for each in cases]
    assert len(page(few, 400, NOW).memories) == len(cases)
    assert len(page([replace(cases[0], pinned=True)], 400, NOW).memories) == 1
    assert len(page([replace(cases[0], kind=FactKind.CONVENTION)], 400, NOW).memories) == 1


def test_where_much_is_told_of_a_life_most_of_it_is_left_to_recall() -> None:
    few = [wish(f"I avoid food of kind {n}, whoever cooks it and wherever I am.") for n in range(10)]
    many = [wish(f"I avoid food of kind {n}, whoever cooks it and wherever I am.") for n in range(60)]
    assert len(page(few, 400, NOW).memories) == len(few)
    assert 0 < tokens_of(frame_page(page(many, 400, NOW).text)) <= 200


def test_what_is_told_of_work_keeps_all_of_the_page() -> None:
    rules = [
        fact(
            f"Always sign release number {n} with the key of the team and of nobody else.",
            kind=FactKind.CONVENTION,
            category=Category.WORKFLOWS,
            confidence=0.9,
            importance=0.9,
        )
        for n in range(60)
    ]
    assert tokens_of(frame_page(page(rules, 400, NOW).text)) > 350


def test_likings_about_code_are_of_work() -> None:
    likings = [
        wish(f"I prefer tests of kind {n} to be in a folder of their own, in every repository.") for n in range(60)
    ]
    assert tokens_of(frame_page(page(likings, 400, NOW).text)) > 350


def test_what_is_pinned_of_a_life_always_has_room() -> None:
    many = [wish(f"I avoid food of kind {n}, whoever cooks it and wherever I am.") for n in range(60)]
    pinned = [replace(each, pinned=True) for each in many[:12]]
    assert {each.id for each in pinned} <= set(page([*pinned, *many[12:]], 400, NOW).memories)


@pytest.mark.parametrize("own", ["", "Mind the tide.", "## Project\n\nMine, under a heading of ours: größer."])
def test_the_tokens_of_its_parts_add_up_to_those_of_the_page(own: str) -> None:
    made = page([DAIRY, TABS, DATABASE], 500, NOW)
    text = "\n\n".join(filter(None, [own, made.text]))
    parts = tokens_by_part(text, own)
    assert sum(parts.values()) == tokens_of(text) and parts.get(None, 0) == tokens_of(own)
    assert set(parts) - {None} == set(made.streams) == {Stream.IDENTITY, Stream.PROJECTS, Stream.FLOW}
    assert tokens_by_part("", "") == {} and tokens_by_part(own, own) == ({None: tokens_of(own)} if own else {})
