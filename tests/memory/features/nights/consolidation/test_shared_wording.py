"""A rule that was given in ever other words is worded by what recurs on both sides of the talk."""

from __future__ import annotations

from memory.features.nights.consolidation.shared_wording import Saying, UserClause, recurring, wording


def said(*clauses: str | tuple[str, float], before: str = "") -> Saying:
    return Saying(tuple(UserClause(*((each, 0.9) if isinstance(each, str) else each)) for each in clauses), before)


def whole(text: str) -> str:
    return ""


TARIFFS = (
    said("take the tariff from the rate sheet", before="I hard-coded the tariff."),
    said("a tariff has nothing to do in here", before="The tariff is hard-coded in billing.py."),
    said(
        ("nice colours", 0.0),
        ("and a tariff is never hard-coded, it comes from the rate sheet", 0.7),
        before="I hard-coded the tariff for the chart.",
    ),
)


def test_what_has_both_sides_is_chosen_without_what_stands_beside_it() -> None:
    assert wording(TARIFFS, whole) == "A tariff is never hard-coded, it comes from the rate sheet"


def test_what_the_agent_did_again_and_again_counts_where_the_person_speaks_of_it() -> None:
    weights = recurring(TARIFFS)
    assert weights["tariff"] > weights["sheet"] > 0
    assert "bill" not in weights and "colour" not in weights


def test_a_question_and_what_was_hardly_meant_to_last_word_nothing() -> None:
    asked = said("would you take the tariff from the rate sheet?", before="I hard-coded the tariff.")
    doubted = said(("take the tariff from the rate sheet", 0.3), before="I hard-coded the tariff.")
    assert wording([asked, doubted], whole) == ""


def test_where_nothing_recurs_nothing_is_worded() -> None:
    assert wording([said("take the tariff from the rate sheet")], whole) == ""


def test_a_core_stands_for_a_stretch_only_with_all_that_recurs() -> None:
    long = "as I said on Monday when Kim was here, a tariff is never hard-coded, it comes from the rate sheet"
    sayings = [*TARIFFS[:2], said((long, 1.0), before="I hard-coded the tariff.")]
    core = "a tariff is never hard-coded, it comes from the rate sheet"
    assert wording(sayings, lambda text: core if text == long else "") == core.capitalize()
    assert wording(sayings, lambda text: "as I said on Monday") == f"A{long[1:]}"


def test_words_that_say_nothing_by_themselves_do_not_recur() -> None:
    assert recurring([said("das ist nicht der Tarif"), said("das ist nicht die Preisliste")]) == {}
