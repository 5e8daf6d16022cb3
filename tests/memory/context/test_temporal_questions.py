"""Questions about the past, and what was known at a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.temporal_questions import TimeInterval, end_of, held_in, known_at, past_of
from memory.fact import State
from tests.memory.context.making import NOW, fact, passage, recalled

OLD = fact(
    "The billing service uses PostgreSQL",
    state=State.SUPERSEDED,
    recorded_at=NOW - timedelta(days=100),
    valid_from=NOW - timedelta(days=100),
    valid_until=NOW - timedelta(days=40),
    superseded_at=NOW - timedelta(days=30),
)
NEW = fact("The billing service uses SQLite", recorded_at=NOW - timedelta(days=30), valid_from=NOW - timedelta(days=40))


@pytest.mark.parametrize(
    "text",
    ["What did we use before?", "What did we use before that for the billing service?",
     "Which database was the billing service on until March?", "What did the staging host used to be called?",
     "Which bundler did we use in 2025?", "When did we switch to SQLite?", "Why did we move away from Jenkins?",
     "What was our previous port?", "What is the old staging host?", "Where did Ida live before she moved?",
     "Remind me what the service was called originally", "What did we deploy with before the migration?",
     "Which port was it on last year?", "What database did we use as of 2026-02-01?", "How was the API formerly named?",
     "What did SQLite replace?", "Where did she used to work?",
     "What did we use before MySQL for the billing service?", "What did we have before pnpm?",
     "Who owned the importer before Petra?", "Who was the release manager before Ida took over?",
     "What was in place before redis?", "What was the port before 8080?", "Where did I live before Berlin?"],
)  # fmt: skip
def test_a_question_about_the_past_is_one(text: str) -> None:
    assert past_of(text, NOW) is not None


@pytest.mark.parametrize(
    "text",
    ["Which database do we use?", "What is the billing service's port?", "Run the tests before you commit.",
     "What should I run before committing?", "Should I wait until March?", "Which tool is used to build the image?",
     "I used to live in Porto. Where is the nearest bakery?", "What did we decide about the database?",
     "Did the tests pass?", "May I rename the folder?", "What may we march for?", "How do I get used to vim?",
     "What was the error?", "Keep the old name until further notice.", "Which branch does it deploy from?",
     "What did we decide before lunch?", "What did we finish before Friday?", "Did we check that before deploying?",
     "What was on the list before 10:30 am?", "What has to run before MySQL starts?", "Who was here before dinner?",
     "What did we say before the tests ran?", "Which step comes before Deploy?",
     "What will we do in March?", "Do we need a backup before the release?"],
)  # fmt: skip
def test_any_other_question_is_none(text: str) -> None:
    assert past_of(text, NOW) is None


def test_a_time_that_is_named_is_the_one_that_is_meant() -> None:
    february = datetime(2026, 2, 1, tzinfo=UTC)
    march, april = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)
    assert past_of("What did we use in March?", NOW) == TimeInterval(march, april)
    assert past_of("What did we use until March?", NOW) == TimeInterval(None, april)
    assert past_of("What did we use before March?", NOW) == TimeInterval(None, march)
    assert past_of("What did we use in 2026-02?", NOW) == TimeInterval(february, march)
    assert past_of("What did we use on 1 March 2026?", NOW) == TimeInterval(march, march + timedelta(days=1))
    assert past_of("Which database was it in März?", NOW) == TimeInterval(march, april)
    # August has not come yet: the last one is meant.
    assert past_of("What did we use in August?", NOW) == TimeInterval(
        datetime(2025, 8, 1, tzinfo=UTC), datetime(2025, 9, 1, tzinfo=UTC)
    )


def test_a_fact_that_held_at_some_moment_of_a_time_held_in_it() -> None:
    assert held_in(OLD, TimeInterval())
    assert held_in(OLD, TimeInterval(NOW - timedelta(days=50), NOW))
    assert not held_in(OLD, TimeInterval(NOW - timedelta(days=20), NOW))
    assert not held_in(OLD, TimeInterval(None, NOW - timedelta(days=200)))


def test_what_was_known_is_told_by_both_clocks() -> None:
    def known(days: int) -> list[bool]:
        return [known_at(each, NOW - timedelta(days=days)) for each in (OLD, NEW)]

    assert known(200) == [False, False]
    assert known(60) == [True, False]
    # It was over by then, and nobody had said so yet.
    assert known(35) == [True, False]
    assert known(10) == [False, True]
    assert not known_at(fact("x", valid_until=NOW - timedelta(days=1)), NOW)
    assert not known_at(passage("x", at=NOW), NOW - timedelta(days=1))


def test_only_a_question_about_that_time_finds_what_was_superseded() -> None:
    both = [OLD, NEW]
    assert [each.id for each in recalled("Which database does the billing service use?", both)] == [NEW.id]
    past = past_of("Which database did the billing service use before?", NOW)
    asked = recalled("Which database did the billing service use before?", both, past=past)
    assert {each.id for each in asked} == {OLD.id, NEW.id}
    long_ago = TimeInterval(None, NOW - timedelta(days=200))
    assert [each.id for each in recalled("Which database did the billing service use?", both, past=long_ago)] == [
        NEW.id
    ]


def test_a_turn_does_not_say_what_was_superseded_as_if_it_held_still() -> None:
    turn = passage(OLD.text, source=OLD.source, at=OLD.valid_from)
    more = passage(f"{OLD.text}, and the invoices lie on the old disk of the accountant in Porto", source=OLD.source)
    question = "Which database does the billing service use?"
    assert turn.id not in {each.id for each in recalled(question, [OLD, NEW, turn, more])}
    assert more.id in {each.id for each in recalled(question, [OLD, NEW, turn, more])}


def test_as_of_a_moment_only_what_was_known_at_it_comes_through() -> None:
    asked = recalled("Which database does the billing service use?", [OLD, NEW], as_of=NOW - timedelta(days=60))
    assert [each.id for each in asked] == [OLD.id]


def test_a_day_a_month_and_a_year_last_to_their_end() -> None:
    assert end_of("2026-03-04", NOW).isoformat() == "2026-03-04T23:59:59.999999+00:00"
    assert end_of("2026-02", NOW).date().isoformat() == "2026-02-28"
    assert end_of("2025", NOW).date().isoformat() == "2025-12-31"
    assert end_of("2026-03-04T10:00:00+02:00", NOW).hour == 10
    for wrong in ("2026-02-30", "yesterday", "2026-13", ""):
        with pytest.raises(ValueError, match=r"."):
            end_of(wrong, NOW)


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    past_of(text, NOW)
    past_of(f"What did we use in {text}?", NOW)
