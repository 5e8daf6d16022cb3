"""How long something is said to hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.language.dates import resolve
from memory.language.validity import holds_until, is_over, lasts, only_then, time_is_over

AT = datetime(2026, 11, 20, 13, 0, tzinfo=UTC)  # a Friday


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("We deploy on Mondays, until November 27 that is.", (2026, 11, 28)),
        ("We freeze the schema until November 27.", (2026, 11, 28)),
        ("The test server is down until tomorrow.", (2026, 11, 22)),
        ("I'm on leave until next Tuesday.", (2026, 11, 25)),
        ("I'm on leave until Friday.", (2026, 11, 28)),
        ("Use the old key until 2026-12-05.", (2026, 12, 6)),
        ("The office is closed until next week.", (2026, 11, 30)),
        ("We use staging till the end of the month.", (2026, 12, 1)),
        ("We pair through the end of the year.", (2027, 1, 1)),
        ("Bo is the release manager until March.", (2027, 4, 1)),
        ("The flag stays until December 2026.", (2027, 1, 1)),
    ],
)
def test_an_end_that_is_told_is_the_moment_after_it(text: str, end: tuple[int, int, int]) -> None:
    assert holds_until(resolve(text, AT).text, AT) == datetime(*end, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    ["The office is open from Monday until Friday.", "We work every day until 2026-12-05.",
     "We used Jest until March 2026.", "Keep it until further notice.", "I stayed there until 2026-11-01.",
     "Wait until the tests pass.",
     "We deploy on Fridays.", "It runs until 2026-13-45."],
)  # fmt: skip
def test_what_has_no_end_ahead_has_none(text: str) -> None:
    assert holds_until(resolve(text, AT).text, AT) is None


@pytest.mark.parametrize(
    "text",
    ["I'm allergic to nuts, and I am in Ghent until Friday.", "My wife works at Acme and is on leave until Friday.",
     "Our port is 8080 until 2026-12-05 and 9090 afterwards.", "The importer is owned by Bo until May, then by Ida.",
     "Never deploy until Friday's demo is done."],
)  # fmt: skip
def test_what_says_more_than_what_ends_has_no_end(text: str) -> None:
    assert holds_until(resolve(text, AT).text, AT) is None


@pytest.mark.parametrize("text", ["My passport is valid until 2031-08-14.", "The old API is supported until June."])
def test_an_end_that_is_itself_what_is_told_is_no_end_of_telling_it(text: str) -> None:
    assert holds_until(text, AT) is None
    assert holds_until("Bo and Ida are on leave until 2026-12-05.", AT) is not None


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("In the week of 2026-11-16 we deploy to the spare host.", (2026, 11, 23)),
        ("Mo is away on 2026-11-25 and on 2026-11-27.", (2026, 11, 28)),
        ("The credits last for 2026-12.", (2027, 1, 1)),
        ("Since 2026-11-02 we use the spare host.", (2026, 12, 4)),
        ("We use the spare host for now, ticket 2026-99.", (2026, 12, 4)),
    ],
)
def test_what_holds_for_a_while_is_over_behind_the_last_day_it_names(text: str, end: tuple[int, int, int]) -> None:
    over = is_over(text, AT, timedelta(days=14))
    assert over is not None and over.date() == datetime(*end, tzinfo=UTC).date()


@pytest.mark.parametrize(
    "text",
    ["Until I say otherwise, answer in German.", "Keep the flag until we have CI.", "We deploy every day for now."],
)
def test_what_no_day_ends_is_over_by_no_day(text: str) -> None:
    assert is_over(text, AT, timedelta(days=14)) is None


@pytest.mark.parametrize(
    ("said", "hours"),
    [
        ("nobody touches the sluice for the next three days", 72),
        ("die nächsten 2 Wochen bleibt das Tor zu", 2 * 7 * 24),
        ("no se toca la bomba durante los próximos cinco días", 120),
        ("for the next 48 hours the pump stays off", 48),
        ("over the coming month the lock keeper signs off", 30 * 24),
    ],
)
def test_a_span_from_now_on_ends(said: str, hours: int) -> None:
    assert lasts(said, AT) == AT + timedelta(hours=hours)


@pytest.mark.parametrize(
    "said",
    [
        "the next lock is closed",
        "next week we open the lock",
        "the lock holds for days",
        "it comes in the next two weeks",
    ],
)
def test_what_comes_next_is_no_span(said: str) -> None:
    assert lasts(said, AT) is None


@pytest.mark.parametrize(
    "said",
    [
        "keep what was deleted for the next 30 days before you purge it",
        "new locks stay closed during the next two weeks after they are hung",
    ],
)
def test_a_span_that_begins_anew_each_time_ends_nothing(said: str) -> None:
    assert lasts(said, AT) is None


@pytest.mark.parametrize(
    ("said", "end"),
    [
        ("For today the ferry leaves from pier 3.", (2026, 11, 21)),
        ("nur heute fährt die Fähre von Steg 3", (2026, 11, 21)),
        ("solo esta semana el barco sale del muelle 3", (2026, 11, 23)),
        ("only tomorrow the ferry leaves from pier 3", (2026, 11, 22)),
        ("just this weekend the ferry leaves from pier 3", (2026, 11, 23)),
    ],
)
def test_what_is_said_to_hold_then_only_is_over_behind_it(said: str, end: tuple[int, int, int]) -> None:
    assert only_then(resolve(said, AT).text, AT) == datetime(*end, tzinfo=UTC)


@pytest.mark.parametrize(
    "said",
    [
        "We agreed today that the ferry leaves from pier 3.",
        "We agreed just this morning that the ferry leaves from pier 3.",
        "Just this week the ferry moved to pier 3.",
        "Nicht nur heute, sondern immer: Steg 3.",
        "No solo hoy: siempre muelle 3.",
        "This is not just for today.",
        "We planned the trip for tomorrow.",
        "The ferry was late this week.",
        "Only the ferry.",
    ],
)
def test_a_time_that_only_dates_something_limits_nothing(said: str) -> None:
    assert only_then(resolve(said, AT).text, AT) is None


@pytest.mark.parametrize(
    "said",
    ["From today on the ferry leaves from pier 3.", "Ab heute von Steg 3.", "desde hoy del muelle 3",
     "By Friday, please.", "Last week it was pier 3.", "every day this week",
     "After tomorrow the ferry leaves from pier 3.",
     "Diese Woche sind wir auf Steg 3 umgezogen.", "Never sail over the weekend.", "Read report-2026-12-05.csv."],
)  # fmt: skip
def test_a_time_from_which_on_something_holds_ends_nothing(said: str) -> None:
    assert time_is_over(resolve(said, AT).text, AT) is None


@pytest.mark.parametrize(
    "said", ["Over the weekend the ferry rests.", "übers Wochenende ruht die Fähre", "este fin de semana no hay barco"]
)
def test_a_weekend_is_over_on_monday(said: str) -> None:
    assert time_is_over(said, AT) == datetime(2026, 11, 23, tzinfo=UTC)
