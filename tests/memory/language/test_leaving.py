"""Somebody who has left does nothing any more."""

from __future__ import annotations

import pytest

from memory.language.contradiction import CLASH, compare
from memory.language.leaving import TABLE, leavers


@pytest.mark.parametrize("line", TABLE["yes"])
def test_who_has_left_is_known(line: str) -> None:
    text, name = line.split(" ~ ")
    assert leavers(text) == {name}


@pytest.mark.parametrize("text", TABLE["no"])
def test_who_only_seems_to_is_not(text: str) -> None:
    assert leavers(text) == frozenset()


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Odile signs off what goes into the crane module.", "Odile left the company."),
        ("ask bram before you touch the invoices", "Bram has quit, by the way"),
        ("Freigaben macht Nele", "Nele hat gekündigt"),
        ("Las facturas las aprueba Inés", "Inés ya no trabaja aquí"),
    ],
)
def test_what_they_did_is_at_odds_with_it_and_not_ended(older: str, newer: str) -> None:
    verdict = compare(older, newer)
    assert verdict.clash >= CLASH
    assert verdict.change < 0.5


def test_what_others_do_is_not() -> None:
    assert compare("Yara signs off what goes into the crane module.", "Odile left the company.").clash < CLASH
    assert compare("Odile quit in spring.", "Odile left the company.").clash < CLASH
