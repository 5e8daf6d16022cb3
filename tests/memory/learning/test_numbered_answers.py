"""Answers by number."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.fact import Origin
from memory.learning.extract import extract
from memory.learning.numbered_answers import NumberedAnswer, numbered_reply

ASKED = """Three things before I start:
1. Which broker should the meters talk to?
2. One table for all basins or one for each?
3. Shall I keep the old importer?"""


def answers(text: str) -> list[tuple[str, str]]:
    found = numbered_reply(text, ASKED)
    return [] if found is None else [(each.said, each.asked) for each in found.answers]


def test_answers_in_one_line_and_on_lines_are_the_same() -> None:
    wanted = [
        ("mosquitto", "Which broker should the meters talk to?"),
        ("one for each", "One table for all basins or one for each?"),
        ("no", "Shall I keep the old importer?"),
    ]
    assert answers("1. mosquitto 2. one for each 3. no") == wanted
    assert answers("1) mosquitto\n2) one for each\n3) no") == wanted
    assert answers("1 - mosquitto,\n2 - one for each\n3 - no") == wanted
    assert answers("1 mosquitto, 2 one for each, 3 no") == wanted
    assert answers("1: mosquitto; 2: one for each, 3: no") == wanted


def test_an_answer_may_be_left_out_and_goes_on_over_its_own_lines() -> None:
    assert [said for said, _ in answers("1. mosquitto,\n   the one in the shed\n3. yes")] == [
        "mosquitto,\n   the one in the shed",
        "yes",
    ]


def test_what_stands_around_them_is_no_answer() -> None:
    found = numbered_reply("Thanks for asking.\n1. mosquitto\n2. one for each\n\nThen go on.", ASKED)
    assert found is not None
    assert found.answers[-1] == NumberedAnswer("one for each", "One table for all basins or one for each?")
    assert found.beside == "Thanks for asking.\nThen go on."


def test_numbers_that_answer_nothing_are_no_answers() -> None:
    assert numbered_reply("1. mosquitto 2. one for each", "Done. The import ran.") is None
    assert numbered_reply("take 2. and nothing else", ASKED) is None
    assert numbered_reply("it takes 3. or 2. of them", ASKED) is None


def test_each_answer_is_learnt_with_its_own_question() -> None:
    drafts = extract(
        "1. mosquitto 2. one table for each basin 3. no",
        Origin.USER,
        datetime(2031, 5, 6, tzinfo=UTC),
        before=ASKED,
        work=True,
    )
    about_tables = [draft.text for draft in drafts if "each basin" in draft.text]
    assert about_tables == ["One table for each basin [on: One table for all basins or one for each?]"]
    assert not any("mosquitto 2" in draft.text for draft in drafts)


def test_of_several_questions_an_answer_settles_what_alone_would_be_unsure() -> None:
    asked, at = "Which port for the tests?", datetime(2031, 5, 6, tzinfo=UTC)
    alone = extract("9310", Origin.USER, at, before=asked, work=True)
    assert not [draft for draft in alone if not draft.unsure]
    [one] = extract("9310", Origin.USER, at, before=asked, work=True, listed=True)
    assert (one.text, one.unsure) == (f"9310 [on: {asked}]", False)


@pytest.mark.parametrize(
    "text",
    [
        "Wir gehen am 1. Juni live und am 3. Juli wird abgeschaltet.",
        "columns 1 - 3 are ids, 2 - 4 names",
        "ports 1 - 2 and 2 - 3 are taken",
        "use node 2 - 4 cores, port = 3 - always behind nginx",
        "```\n1. we always use foo\n2. we never use bar\n```",
        "> 1. Which broker?\nmosquitto\n> 2. One table?\nno",
        "1. amounts are cents\n2. no floats\n3. no\n4. dates are UTC",
        "1 worker, 2 queues please",
        "Use your judgement on those. Also for the exporter:\n1. Amounts are cents.\n2. Files go to exports/.",
        "1. Mosquitto ab 2. Juni 2. Flyway 3. nein",
        "2 - 3 workers on staging\n3 - 5 workers on production",
    ],
)
def test_what_only_looks_like_answers_is_none(text: str) -> None:
    assert numbered_reply(text, ASKED) is None


def test_a_list_behind_a_list_that_asks_nothing_is_none() -> None:
    done = "Done:\n1. Moved the importer into its own module.\n2. Added a test. All pass.\nAnything else?"
    assert numbered_reply("1. amounts are integer cents\n2. dates are UTC", done) is None


@pytest.mark.parametrize(
    "before",
    [
        "What I found:\n1. Why did it fail? The lock was missing.\n2. Was data lost? No.",
        "1. Which broker?\n2. One table?\nFor the exporter:\n1. CSV or JSON?\n2. Compressed?",
    ],
)
def test_questions_that_are_answered_or_told_twice_ask_nothing(before: str) -> None:
    assert numbered_reply("1. amounts are cents\n2. dates are UTC", before) is None


def test_what_stands_on_the_line_behind_the_last_answer_is_no_part_of_it() -> None:
    found = numbered_reply("1. mosquitto\n2. one for each\n3. no\nRemember: we deploy on Thursdays.", ASKED)
    assert found is not None
    assert (found.answers[-1].said, found.beside) == ("no", "Remember: we deploy on Thursdays.")


def test_numbers_further_in_belong_to_their_answer() -> None:
    found = numbered_reply("1. mosquitto\n   1) on port 1883\n   2) with TLS\n2. one for each", ASKED)
    assert found is not None
    assert [each.said.split()[0] for each in found.answers] == ["mosquitto", "one"]


def test_what_was_asked_to_be_remembered_is_not_cut_off_by_many_answers() -> None:
    asked = "\n".join(f"{n}. Which colour has lamp {n}?" for n in range(1, 21))
    said = "Please remember: never deploy on Fridays.\n" + "\n".join(
        f"{n}. lamp {n} is always red" for n in range(1, 21)
    )
    drafts = extract(said, Origin.USER, datetime(2031, 5, 6, tzinfo=UTC), before=asked, work=True)
    assert len(drafts) <= 16 and any("Fridays" in draft.text for draft in drafts)


@given(st.text(max_size=200), st.text(max_size=200))
def test_no_text_breaks_it(text: str, before: str) -> None:
    found = numbered_reply(text, before)
    assert found is None or all(each.said in text for each in found.answers)
