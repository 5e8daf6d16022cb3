from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Message, Role, Text, digest
from memory.learning.lesson import conversation_time, stated_time

NOW = datetime(2026, 11, 20, 13, 5, tzinfo=UTC)


def said(role: Role, text: str, spoken: str = "") -> Message:
    parts = (Text(text),)
    return Message(role, parts, digest(role, parts), spoken)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Current date: 1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("Today's date: 2024-02-03", datetime(2024, 2, 3, 12, 0, tzinfo=UTC)),
        ("Today's date is Sat Feb 3, 2024", datetime(2024, 2, 3, 12, 0, tzinfo=UTC)),
        ("The current time is 2024-05-15 15:00:00 EST.", datetime(2024, 5, 15, 15, 0, tzinfo=UTC)),
        ("<current_date>2024-02-03</current_date>", datetime(2024, 2, 3, 12, 0, tzinfo=UTC)),
        ("Today is Monday, July 1st, 2024.", datetime(2024, 7, 1, 12, 0, tzinfo=UTC)),
        ("current date and time: 12:30 am 3 March 2024", datetime(2024, 3, 3, 0, 30, tzinfo=UTC)),
    ],
)
def test_a_stated_date_is_read(text: str, meant: datetime) -> None:
    assert stated_time(text, NOW) == meant


@pytest.mark.parametrize(
    "text",
    [
        "Released on 2024-02-03",
        "Today is a good day",
        "The date picker shows 2024-02-03",
        "Current date: 2024-13-45",
        "",
    ],
)
def test_other_dates_are_no_clock(text: str) -> None:
    assert stated_time(text, NOW) is None


def test_the_system_message_tells_the_conversations_own_time() -> None:
    messages = (said(Role.SYSTEM, "You help.\nCurrent date: 8 May, 2023"), said(Role.USER, "hi", "hi"))
    assert conversation_time(messages, NOW).date().isoformat() == "2023-05-08"


def test_our_own_clock_is_finer_than_the_same_day() -> None:
    assert conversation_time((said(Role.SYSTEM, "Today's date: 2026-11-20"),), NOW) == NOW


def test_the_newest_statement_holds() -> None:
    old, new = said(Role.SYSTEM, "Today's date: 2024-01-01"), said(Role.DEVELOPER, "Today's date: 2024-06-01")
    assert conversation_time((old, new), NOW).month == 6


def test_a_runtimes_block_in_a_human_message_is_read_and_what_the_person_says_is_not() -> None:
    block = said(Role.USER, "<env>\nToday's date: 2024-02-03\n</env>\nhello", "hello")
    person = said(Role.USER, "Today's date: 2024-02-03", "Today's date: 2024-02-03")
    assert conversation_time((block,), NOW).year == 2024
    assert conversation_time((person,), NOW) == NOW
    assert conversation_time((said(Role.ASSISTANT, "Today's date: 2024-02-03"),), NOW) == NOW


def test_instructions_outside_the_messages_are_read_last() -> None:
    assert conversation_time((), NOW, instructions="Today's date: 2024-02-03").year == 2024


def test_the_zone_is_the_fallbacks() -> None:
    zone = timezone(timedelta(hours=-5))
    assert conversation_time((said(Role.SYSTEM, "Today's date: 2024-02-03"),), NOW.astimezone(zone)).tzinfo == zone


@given(st.text(max_size=300))
def test_no_text_makes_it_fail(text: str) -> None:
    conversation_time((said(Role.SYSTEM, "Current date: " + text),), NOW)
