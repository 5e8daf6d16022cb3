"""Numbers of cards, accounts and people are taken out where it is asked for, and numbers that are none stay."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from memory.learning.redact import also_redact, redact
from memory.learning.secrets.numbers import NUMBERS, NumberKind


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


@pytest.mark.parametrize("text", ["1 " * 20_000, "4" * 40_000, "DE89 " * 8_000, "A1 " * 12_000, "12-" * 12_000])
def test_it_takes_time_in_step_with_the_text(text: str) -> None:
    began = time.process_time()
    redact(text)
    assert time.process_time() - began < 2
