"""The times that a question names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.time_spans import Span, spans

NOW = datetime(2026, 5, 20, 15, 0, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "begin", "end", "rest"),
    [
        ("What did Bo say on 3 June, 2025?", "2025-06-03", "2025-06-04", "What did Bo say ?"),
        ("What did Bo say on June 3rd, 2025?", "2025-06-03", "2025-06-04", "What did Bo say ?"),
        ("What did we fix on 2026-05-04?", "2026-05-04", "2026-05-05", "What did we fix ?"),
        ("What broke in Mai 2025?", "2025-05-01", "2025-06-01", "What broke ?"),
        ("What broke in März 2026?", "2026-03-01", "2026-04-01", "What broke ?"),
        ("Where was Ida last Summer?", "2025-06-01", "2025-09-01", None),
        ("What broke in March 2026?", "2026-03-01", "2026-04-01", "What broke ?"),
        ("Where was Ida during the summer of 2024?", "2024-06-01", "2024-09-01", None),
        ("What did we ship in 2024?", "2024-01-01", "2025-01-01", "What did we ship ?"),
        ("What did we decide last Tuesday?", "2026-05-19", "2026-05-20", "What did we decide ?"),
        ("What did we do last Wednesday?", "2026-05-13", "2026-05-14", "What did we do ?"),
        ("What did we do last week?", "2026-05-11", "2026-05-18", "What did we do ?"),
        ("What was it that I said two days ago?", "2026-05-18", "2026-05-19", "What was it that I said ?"),
        ("Where was Tim the week before 16 November 2025?", "2025-11-09", "2025-11-16", "Where was Tim ?"),
        ("Where was Tim between August 11 and August 15, 2025?", "2025-08-11", "2025-08-16", "Where was Tim ?"),
        ("What did we plan between March and May 2025?", "2025-03-01", "2025-06-01", "What did we plan ?"),
    ],
)
def test_a_time_has_a_beginning_and_an_end_and_its_words_are_known(
    text: str, begin: str, end: str, rest: str | None
) -> None:
    timed = spans(text, NOW)
    assert [(f"{span.begin:%F}", f"{span.end:%F}") for span in timed.spans] == [(begin, end)]
    assert rest is None or timed.rest == rest


def test_a_part_of_a_day_has_its_hours() -> None:
    [morning] = spans("What did we do this morning?", NOW).spans
    assert (morning.begin, morning.end) == (NOW.replace(hour=4), NOW.replace(hour=12))
    [night] = spans("What did I start last night?", NOW).spans
    assert night.begin == NOW.replace(day=19, hour=18)


@pytest.mark.parametrize(
    "text",
    [
        "What may go wrong with it?",
        "We march on, what next?",
        "Did James like Cyberpunk 2077?",
        "The 5 tests of v3 failed, why?",
        "What do you recommend for the 2026 laptops?",
        "What did Bo say on 31 February, 2025?",
        "",
    ],
)
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert spans(text, NOW).spans == ()
    assert spans(text, NOW).rest == text


def test_a_month_without_a_year_is_that_month_of_any_year() -> None:
    [june] = spans("When did Ida go camping in June?", NOW).spans
    assert june.yearly
    assert june.distance(datetime(2019, 6, 30, tzinfo=UTC)) == 0
    assert june.distance(datetime(2023, 7, 3, tzinfo=UTC)) == 2
    assert june.distance(datetime(2024, 2, 29, tzinfo=UTC)) > 31


def test_before_and_since_leave_a_side_open() -> None:
    [before] = spans("What did we use before March 2026?", NOW).spans
    assert before.distance(datetime(2001, 1, 1, tzinfo=UTC)) == 0
    assert before.distance(datetime(2026, 3, 2, tzinfo=UTC)) == 1
    [since] = spans("What have we done since Monday, no, since 2026-05-18?", NOW).spans
    assert since.distance(NOW) == 0
    assert since.distance(datetime(2026, 5, 17, tzinfo=UTC)) == -1


@given(st.text(alphabet="in last week ago on 0123456789-,may june 2024 before between and", max_size=60))
def test_any_text_is_read(text: str) -> None:
    timed = spans(text, NOW)
    assert all(span.begin < span.end for span in timed.spans)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)), st.booleans())
def test_the_distance_is_nothing_within_a_time_alone(at: datetime, yearly: bool) -> None:
    span = Span(NOW, NOW + timedelta(days=10), yearly)
    if not yearly:
        assert (span.distance(at) == 0) == (span.begin <= at <= span.end)
    else:
        assert abs(span.distance(at)) < 370
