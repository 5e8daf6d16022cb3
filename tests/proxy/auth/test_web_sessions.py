"""Tickets of one use and a minute, sessions that end, and nothing that is kept could open a page."""

from __future__ import annotations

from proxy.auth.web_sessions import (
    IDLE_SECONDS,
    MAX_SESSION_SECONDS,
    MOST,
    TICKET_SECONDS,
    Visitors,
    cookie_name,
    holds_session,
)

HOST = "palimpsest.localhost:8484"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_ticket_is_good_once_and_for_a_minute() -> None:
    clock = Clock()
    visitors = Visitors(clock)
    first, second = visitors.ticket(), visitors.ticket()
    assert visitors.redeem(first) and not visitors.redeem(first)
    clock.now = TICKET_SECONDS + 0.1
    assert not visitors.redeem(second) and not visitors.redeem("") and not visitors.redeem("\udcff")


def test_a_session_ends_when_nobody_uses_it_and_at_last() -> None:
    clock = Clock()
    visitors = Visitors(clock)
    value = visitors.begin(HOST)
    while clock.now < MAX_SESSION_SECONDS - IDLE_SECONDS:
        clock.now += IDLE_SECONDS - 1
        assert visitors.session(value, HOST)
    clock.now = MAX_SESSION_SECONDS + 1
    assert visitors.session(value, HOST) is None
    value = visitors.begin(HOST)
    clock.now += IDLE_SECONDS + 1
    assert visitors.session(value, HOST) is None


def test_a_session_is_known_by_its_whole_value_and_its_host() -> None:
    visitors = Visitors()
    value, other = visitors.begin(HOST), visitors.begin(HOST)
    mine, theirs = visitors.session(value, HOST.upper()), visitors.session(other, HOST)
    assert mine and theirs and mine.form != theirs.form
    assert visitors.session(value[:-1], HOST) is None and visitors.session(value, "localhost:8484") is None
    visitors.leave(value)
    assert visitors.session(value, HOST) is None and visitors.session(other, HOST)


def test_there_are_never_many() -> None:
    visitors = Visitors()
    oldest = visitors.begin(HOST)
    values = [visitors.begin(HOST) for _ in range(MOST)]
    assert visitors.session(oldest, HOST) is None and all(visitors.session(each, HOST) for each in values)


def test_what_is_kept_opens_nothing() -> None:
    visitors = Visitors()
    ticket, value = visitors.ticket(), visitors.begin(HOST)
    kept = repr(vars(visitors))
    assert ticket not in kept and value not in kept


def test_a_session_is_known_in_any_text() -> None:
    value = Visitors().begin(HOST)
    assert holds_session(f"a=b; {cookie_name(HOST)}={value}") and not holds_session("palimpsest-page-short")
    assert cookie_name(HOST) == "palimpsest_page_8484" and cookie_name("palimpsest.localhost") != cookie_name(HOST)
