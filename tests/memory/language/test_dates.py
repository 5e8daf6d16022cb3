from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.dates import resolve

AT = datetime(2026, 11, 20, 13, 0, tzinfo=UTC)  # a Friday


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("I went there yesterday.", "I went there on 2026-11-19."),
        ("Yesterday I ran.", "On 2026-11-19 I ran."),
        ("the day before yesterday", "on 2026-11-18"),
        ("We met last Tuesday.", "We met on 2026-11-17."),
        ("last Friday", "on 2026-11-13"),
        ("next Friday", "on 2026-11-27"),
        ("It is due by Thursday.", "It is due by 2026-11-26."),
        ("Last year in May it flooded.", "In 2025 in May it flooded."),
        ("We ship in two weeks.", "We ship on 2026-12-04."),
        ("3 days ago it broke", "on 2026-11-17 it broke"),
        ("a year ago", "in 2025"),
        ("two months ago", "in 2026-09"),
        ("We move next month.", "We move in 2026-12."),
        ("last week was calm", "in the week of 2026-11-09 was calm"),
        ("I swam this morning", "I swam on the morning of 2026-11-20"),
        ("tomorrow evening", "on the evening of 2026-11-21"),
        ("due March 5", "due March 5 (2027-03-05)"),
        ("It is due on March 5.", "It is due on March 5 (2027-03-05)."),
        ("on 3rd of October", "on 3rd of October (2026-10-03)"),
        ("in force since yesterday", "in force since 2026-11-19"),
        ("gestern war es recht kalt bei uns", "am 2026-11-19 war es recht kalt bei uns"),
        ("vor drei Tagen ist es passiert", "am 2026-11-17 ist es passiert"),
        ("seit vorgestern ist der alte Server aus", "seit 2026-11-18 ist der alte Server aus"),
        ("Morgen früh kommt der Prüfer", "Am 2026-11-21 morgens kommt der Prüfer"),
        ("guten Morgen zusammen, am Morgen ist es still", "guten Morgen zusammen, am Morgen ist es still"),
        ("Morgen! Geht der Drucker?", "Morgen! Geht der Drucker?"),
        ("bis Mittwoch bleibt das Tor zu", "bis 2026-11-25 bleibt das Tor zu"),
        ("nächsten Montag bin ich weg", "am 2026-11-23 bin ich weg"),
        ("letzten Freitag waren wir fertig", "am 2026-11-13 waren wir fertig"),
        ("diese Woche nicht", "in der Woche vom 2026-11-16 nicht"),
        ("seit letztem Jahr ist sie im Team", "seit Jahr 2025 ist sie im Team"),
        ("in zwei Monaten ist Abnahme bei uns", "im Monat 2027-01 ist Abnahme bei uns"),
        ("ayer no estaba listo", "el 2026-11-19 no estaba listo"),
        ("Desde ayer va por el puerto 9", "Desde el 2026-11-19 va por el puerto 9"),
        ("mañana por la mañana", "el 2026-11-21 por la mañana"),
        ("esta tarde no estoy", "el 2026-11-20 por la tarde no estoy"),
        ("falló hace tres días, pero ya está", "falló el 2026-11-17, pero ya está"),
        ("la semana que viene entregamos", "la semana del 2026-11-23 entregamos"),
        ("hasta el lunes", "hasta el 2026-11-23"),
        ("el viernes pasado no había nadie", "el 2026-11-13 no había nadie"),
        ("el mes pasado no había tests", "en 2026-10 no había tests"),
        ("el informe del año pasado está en la raíz", "el informe de 2025 está en la raíz"),
        ("Frau Morgen leitet das Labor bei uns", "Frau Morgen leitet das Labor bei uns"),
        ("Tim Hoy owns the importer", "Tim Hoy owns the importer"),
        ("wir nutzen jetzt `npm run morgen` dafür", "wir nutzen jetzt `npm run morgen` dafür"),
        ("das liegt in docs/heute/liste.md bei uns", "das liegt in docs/heute/liste.md bei uns"),
        ("am frühen morgen ist es bei uns still", "am frühen morgen ist es bei uns still"),
        ("Hoy en día lo hacemos con esto", "Hoy en día lo hacemos con esto"),
        ("en una mañana está hecho todo esto", "en una mañana está hecho todo esto"),
        ("In der nächsten Woche sind wir weg", "In der Woche vom 2026-11-23 sind wir weg"),
    ],
)
def test_a_relative_date_becomes_absolute(said: str, written: str) -> None:
    assert resolve(said, AT).text == written


@pytest.mark.parametrize(
    "said",
    [
        "I may 3 times a day check it.",
        "yesterday's news",
        "every morning I run",
        "the day we met",
        "version 2026.11.3",
        "I read 12 books",
        "a few days ago",
        "Monday is fine",
        "The choir sings on the last Sunday of every month.",
        "Inventory is in the last week of the quarter.",
        "Die Wache wechselt am letzten Montag im Monat.",
        "The clinic replies within a day.",
        "Two hundred letters in one day is a lot.",
        "The ferry came two days earlier than planned.",
        'Write "tonight" in the banner.',
    ],
)
def test_what_is_no_single_date_stays(said: str) -> None:
    assert resolve(said, AT).text == said


def test_the_moment_is_the_first_date_that_is_named() -> None:
    assert resolve("On 2026-01-02 we began, yesterday we ended.", AT).moment == datetime(2026, 1, 2, tzinfo=UTC)
    assert resolve("Nothing dated here.", AT).moment is None


def test_today_is_the_very_moment_and_tomorrow_lies_ahead() -> None:
    assert resolve("I start today.", AT).moment == AT
    assert resolve("I start tomorrow.", AT).future


def test_the_day_is_the_speakers_day() -> None:
    tokyo = datetime(2026, 11, 20, 1, 0, tzinfo=timezone(timedelta(hours=9)))
    assert resolve("yesterday", tokyo).text == "on 2026-11-19"
    assert resolve("yesterday", tokyo).moment == datetime(2026, 11, 19, tzinfo=tokyo.tzinfo)


def test_the_last_day_of_a_month_has_a_month_after_it() -> None:
    assert resolve("next month", datetime(2026, 1, 31, tzinfo=UTC)).text == "in 2026-02"


def test_a_day_that_is_not_in_the_calendar_stays() -> None:
    assert resolve("on February 31", AT).text == "on February 31"


@given(
    st.lists(
        st.sampled_from(
            [
                "yesterday",
                "next",
                "last",
                "in",
                "999",
                "2",
                "weeks",
                "ago",
                "March",
                "31",
                "by",
                "Friday",
                "tag",
                "vor",
                "the",
            ]
        ),
        max_size=12,
    ),
    st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)),
)
def test_no_words_and_no_day_make_it_fail(words: list[str], at: datetime) -> None:
    resolve(" ".join(words), at.replace(tzinfo=UTC))


@pytest.mark.parametrize(
    "text",
    [
        "Put 5 May and not May 5 in the mails.",
        "Days in the report look like 12 June.",
        "Tage schreiben wir wie 12. Juni.",
    ],
)
def test_a_date_that_only_shows_how_dates_are_written_is_none(text: str) -> None:
    assert resolve(text, AT).text == text


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Open on 5 May, closed from 8 May.", "2027-05-05"),
        ("It seems like May 5 is when we open.", "2027-05-05"),
        ("I would like May 5 for the party.", "2027-05-05"),
        ("We open May 5th, that is on 5 May.", "2027-05-05"),
    ],
)
def test_a_date_that_is_meant_is_one(text: str, day: str) -> None:
    assert f"({day})" in resolve(text, AT).text
