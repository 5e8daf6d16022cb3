"""Numbers of cards, accounts and people are taken out where it is asked for, and numbers that are none stay."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.learning.redact import also_redact, redact
from memory.learning.secrets import numbers
from memory.learning.secrets.numbers import NUMBERS
from memory.settings import NumberKind


@pytest.fixture(autouse=True)
def _all_asked_for() -> Iterator[None]:
    also_redact(NUMBERS)
    yield
    also_redact(())


# Test numbers that issuers and standards print in their documentation.
CARDS = (
    "4111 1111 1111 1111",
    "4012888888881881",
    "5555-5555-5555-4444",
    "2223003122003222",
    "378282246310005",
    "3782 822463 10005",
    "6011111111111117",
    "3530111333300000",
    "30569309025904",
)
IBANS = (
    "DE89 3704 0044 0532 0130 00",
    "GB82WEST12345698765432",
    "gb82 west 1234 5698 7654 32",
    "FR14 2004 1010 0505 0001 3M02 606",
    "NO93 8601 1117 947",
    "CH9300762011623852957",
)
NATIONAL = (
    "078-05-1120",
    "AB 12 34 56 C",
    "12345678Z",
    "X1234567L",
    "2 55 08 14 168 025 38",
    "86095742719",
    "RSSMRA85T10A562S",
)


@pytest.mark.parametrize("number", CARDS)
def test_a_card_is_taken_out_wherever_it_stands(number: str) -> None:
    assert redact(f"My card is {number}, thanks.").text == "My card is [secret: card number], thanks."
    assert redact(f'{{"card":"{number}"}}').text == '{"card":"[secret: card number]"}'
    assert redact(number).text == "[secret: card number]"


@pytest.mark.parametrize("number", IBANS)
def test_an_iban_is_taken_out_and_what_follows_it_stays(number: str) -> None:
    assert redact(f"Pay to {number} please.").text == "Pay to [secret: iban] please."
    assert redact(f"Pay to {number}.").text == "Pay to [secret: iban]."


@pytest.mark.parametrize("number", NATIONAL)
def test_the_number_of_a_person_is_taken_out(number: str) -> None:
    assert redact(f"Hers is {number}, his another.").text == "Hers is [secret: national number], his another."


@pytest.mark.parametrize(
    "text",
    [
        "Order 4111 1111 1111 1112 is late.",
        "It began at 1732613640123 and ended at 1732613649999.",
        "The id is 123456789012345678 in table 7.",
        "Version 4.1111.1111.1111.1111 is out.",
        "0000 0000 0000 0000",
        "commit 4012888888881881abcdef",
        "DE89 3704 0044 0532 0130 01 has a wrong digit.",
        "AB12 is a gate, and XX89370400440532013000 no country.",
        "Call 555-12-34567 or 000-12-3456.",
        "12345678A is a part, and 86095742718 a count.",
        "The port is 8484, the year 2026, and 10.0.0.1 an address.",
    ],
)
def test_a_number_that_is_none_of_them_stays(text: str) -> None:
    assert redact(text).text is text


def test_nothing_of_it_is_done_unless_asked_for() -> None:
    also_redact(())
    for number in (*CARDS, *IBANS, *NATIONAL):
        assert redact(f"It is {number}.").count == 0
    only: tuple[NumberKind, ...] = ("ibans",)
    also_redact(only)
    assert redact(f"{IBANS[0]} and {CARDS[0]}").text == f"[secret: iban] and {CARDS[0]}"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("4111 1111 1111 1111 123", "[secret: card number] 123"),
        ("4111 1111 1111 1111 12 27", "[secret: card number] 12 27"),
        ("4111-1111-1111-1111-123", "[secret: card number]-123"),
        ("4111111111111111 12/27 123", "[secret: card number] 12/27 123"),
        ("4111111111111111/12/27", "[secret: card number]/12/27"),
        ("3782 822463 10005 1234", "[secret: card number] 1234"),
        ("room 12 4111 1111 1111 1111", "room 12 [secret: card number]"),
        ("in 2026 4111 1111 1111 1111", "in 2026 [secret: card number]"),
        ("12-4111-1111-1111-1111", "12-[secret: card number]"),
        ("card-4111111111111111", "card-[secret: card number]"),
        ("no.4111111111111111", "no.[secret: card number]"),
        ("4111\u00a01111\u00a01111\u00a01111", "[secret: card number]"),
        ("4111\u202f1111\u202f1111\u202f1111 123", "[secret: card number] 123"),
        ("4111.1111.1111.1111.", "[secret: card number]."),
        ("4111 1111 1111 1111 5555 5555 5555 4444", "[secret: card number] [secret: card number]"),
    ],
)
def test_a_card_is_found_beside_other_numbers_and_with_any_marks(text: str, left: str) -> None:
    assert redact(text).text == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("FY24 invoice DE89 3704 0044 0532 0130 00", "FY24 invoice [secret: iban]"),
        ("eu01 DE89370400440532013000", "eu01 [secret: iban]"),
        ("GB12 DE89370400440532013000", "GB12 [secret: iban]"),
        ("DE89-3704-0044-0532-0130-00", "[secret: iban]"),
        ("DE 89 3704 0044 0532 0130 00", "[secret: iban]"),
        ("de89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000", "[secret: iban]"),
        ("iban-DE89.3704.0044.0532.0130.00.", "iban-[secret: iban]."),
    ],
)
def test_an_iban_is_found_behind_what_looks_like_one_and_with_any_marks(text: str, left: str) -> None:
    assert redact(text).text == left


@pytest.mark.parametrize(
    "number",
    [
        "ab123456c",
        "ab-12-34-56-c",
        "12345678z",
        "12.345.678-Z",
        "x1234567l",
        "rssmra85t10a562s",
        "RSS MRA 85T10 A562S",
        "078 05 1120",
        "078\u00a005\u00a01120",
        "86\u202f095\u202f742\u202f719",
        "2-55-08-14-168-025-38",
    ],
)
def test_the_number_of_a_person_is_found_in_small_letters_and_with_any_marks(number: str) -> None:
    for text in (f"Hers is {number}, his another.", f"id {number}", f"room 12 {number}"):
        assert redact(text).text == text.replace(number, "[secret: national number]")


def test_letters_that_only_fold_into_ascii_are_none() -> None:
    for text in ("1234567\u212a", "ab12345\u017f", "12345678\u017f", "r\u017fsmra85t10a562\u017f", "DE89\u0663704"):
        assert redact(text).text is text


def _luhn_fails(digits: str) -> bool:
    total = sum(sum(divmod(int(each) * (1 + at % 2), 10)) for at, each in enumerate(reversed(digits)))
    return total % 10 != 0


_NUMERIC = st.text("0123456789", min_size=16, max_size=16).filter(_luhn_fails)
_HARMLESS = st.one_of(
    _NUMERIC,
    _NUMERIC.map(lambda digits: " ".join(digits[at : at + 4] for at in range(0, 16, 4))),
    st.datetimes().map(lambda when: when.isoformat()),
    st.dates().map(str),
    st.tuples(*[st.integers(0, 9999)] * 3).map(lambda numbers: "v{}.{}.{}".format(*numbers)),
    st.tuples(*[st.integers(0, 255)] * 4).map(lambda numbers: "{}.{}.{}.{}".format(*numbers)),
    st.text("0123456789abcdef", min_size=40, max_size=40).filter(lambda text: not text.isdigit()),
    st.uuids().map(str),
    st.text("0123456789", min_size=32, max_size=32).map(
        lambda text: "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
    ),
    st.tuples(st.integers(200, 999), st.integers(200, 999), st.integers(0, 9999)).map(
        lambda numbers: "+1 {} {} {:04}".format(*numbers)
    ),
    st.tuples(st.integers(10, 99), st.integers(100, 999), st.integers(1_000_000, 99_999_999)).map(
        lambda numbers: "+{} {} {}".format(*numbers)
    ),
    st.integers(10**15, 10**16 - 1).map(lambda digits: f"0.{digits}"),
)


@given(_HARMLESS, st.sampled_from(("{}", "It is {}, of {}.", '{{"id":"{}"}}', "({})\n{}")))
def test_orders_dates_versions_hashes_and_phones_stay(number: str, sentence: str) -> None:
    text = sentence.replace("{}", number)
    found = [span for find in NUMBERS.values() for span in find(text, text.lower())]
    assert found == []


@pytest.mark.parametrize(
    "unit",
    [
        "4",
        "1 ",
        "4111 ",
        "4111-1111-1111-1111 ",
        "4111.",
        "DE89 ",
        "DE89",
        "no 93 8601 1117 94",
        "A1 ",
        "12-",
        "86 095 ",
    ],
)
def test_it_takes_steps_in_proportion_to_the_text(unit: str) -> None:
    text = (unit * 2**14)[: 2**14]
    assert _steps(text) <= STEPS * len(text)


STEPS = 40
"""Lines of code that one character may cost; what the patterns read from a place is bounded by their form."""


def _steps(text: str) -> int:
    count = 0

    def step(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        nonlocal count
        if frame.f_code.co_filename != numbers.__file__:
            return None
        count += event == "line"
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        for find in NUMBERS.values():
            for _ in find(text, text):
                pass
    finally:
        sys.settrace(before)
    return count
