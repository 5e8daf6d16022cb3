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


SHEETS = (
    said("the rate sheet is where prices live", before="I typed the constant into billing.py."),
    said("look into the rate sheet for it", before="Another constant, in the chart."),
    said("no constant anywhere in here", before="The constant is 0.2 there."),
)


def test_what_the_clearest_leaves_open_is_told_behind_it_in_the_words_of_another_message() -> None:
    text = wording(SHEETS, whole)
    assert "constant" in text.lower() and "rate sheet" in text.lower()
    assert text.count(". ") == 1 and text[0].isupper()


def test_what_adds_little_or_stands_in_the_same_message_is_not_told_behind_it() -> None:
    little = [*TARIFFS, said("the sheet is on the shelf in the office of the harbour master, ask Ole")]
    assert wording(little, whole) == wording(TARIFFS, whole)
    one = said("no constant in the chart", "the rate sheet has the tariff", before="The constant is 0.2 there.")
    assert wording([one, said("thanks", before="A constant, a tariff.")], whole).lower().count("constant") == 1


def test_a_core_stands_for_a_stretch_only_with_all_that_recurs() -> None:
    long = "as I said on Monday when Kim was here, a tariff is never hard-coded, it comes from the rate sheet"
    sayings = [*TARIFFS[:2], said((long, 1.0), before="I hard-coded the tariff.")]
    core = "a tariff is never hard-coded, it comes from the rate sheet"
    assert wording(sayings, lambda text: core if text == long else "") == core.capitalize()
    assert wording(sayings, lambda text: "as I said on Monday") == f"A{long[1:]}"


def test_words_that_say_nothing_by_themselves_do_not_recur() -> None:
    assert recurring([said("das ist nicht der Tarif"), said("das ist nicht die Preisliste")]) == {}
