"""Claims that hold in circumstances of their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.conditions import apart, circumstances, narrower
from memory.language.contradiction import compare


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("In staging we always run the slow tests", "In production we never run the slow tests"),
        ("We use tabs in Python", "We don't use tabs in Go"),
        ("I drink coffee in the morning", "I never drink coffee in the evening"),
        ("We use Redis for caching", "We don't use Memcached for caching"),
        ("The billing service listens on port 8080", "The login service listens on port 9090"),
        ("Always squash commits for features", "Never squash commits for releases"),
        ("We use PostgreSQL in staging", "We switched from PostgreSQL to MySQL in production"),
    ],
)
def test_each_in_its_own_scope_they_are_no_rivals(older: str, newer: str) -> None:
    assert compare(older, newer).clash == 0


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I live in Berlin", "I live in Lisbon"),
        ("I drink coffee in the morning", "I never drink coffee in the morning"),
        ("The meeting is on Friday", "The meeting is on Monday"),
        ("We deploy to staging on Fridays", "We never deploy to staging on Fridays"),
    ],
)
def test_a_value_is_no_scope_and_the_same_scope_keeps_them_rivals(older: str, newer: str) -> None:
    assert compare(older, newer).clash >= 0.6


def test_an_exception_contradicts_a_rule_and_does_not_end_it() -> None:
    assert narrower(circumstances("We use tabs"), circumstances("We no longer use tabs in Go"))
    assert compare("We use tabs", "We no longer use tabs in Go").change < 0.5
    assert compare("We use tabs", "We no longer use tabs in this project").change >= 0.5
    assert compare("We use npm", "We switched from npm to pnpm in March").change >= 0.5


def test_circumstances_are_named_by_their_kind() -> None:
    assert circumstances("We use tabs in Go") == {"place": frozenset({"go"})}
    assert circumstances("The staging timeout is short") == {"place": frozenset({"stage"})}
    assert circumstances("I live in Berlin") == {}


@given(st.text(max_size=120))
def test_a_claim_is_not_apart_from_itself(text: str) -> None:
    assert not apart(circumstances(text), circumstances(text))
    assert not narrower(circumstances(text), circumstances(text))
