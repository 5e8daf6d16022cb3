"""The same error is the same after weeks; another one is another; what says nothing is no key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.learning.behaviour.signature import NONE, key_of, shows_error, signature


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", "ModuleNotFoundError: No module named 'yaml'  "),
        ("/home/a/x.py:12: error: name 'foo_bar' unknown", "/srv/b/x.py:99: error: name 'foo_bar' unknown"),
        ("2026-01-02T10:11:12Z connect to billing-db refused", "2027-05-06T01:02:03Z connect to billing-db refused"),
        ("\x1b[31merror\x1b[0m: relation users_v2 lacks at 0xdead12", "error: relation users_v2 lacks at 0xbeef99"),
        ("FileNotFoundError: '/tmp/run-1/rates.csv'", "FileNotFoundError: '/var/run-22/rates.csv'"),
        ("Output: tool[7]: error: lacks eur_usd", "tool[81]: error: lacks eur_usd"),
        ("bash: line 1: poetry: command not found", "sh: poetry: command not found"),
        ("src/a.ts:1:2 - error TS2345: Argument of widget", "src/a.ts:91:12 - error TS2345: Argument of widget"),
    ],
)
def test_what_differs_between_runs_is_taken_out(one: str, other: str) -> None:
    assert key_of(one) is not None
    assert key_of(one) == key_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("No module named 'yaml'", "No module named 'toml'"),
        ("error TS2345: bad widget", "error TS2322: bad widget"),
        ("No such file: '/tmp/a/rates.csv'", "No such file: '/tmp/a/users.csv'"),
    ],
)
def test_another_error_is_another(one: str, other: str) -> None:
    assert key_of(one) != key_of(other)


@pytest.mark.parametrize("line", ["Exit code 1", "AssertionError: assert 3 == 4", "FAIL", "npm ERR! code ELIFECYCLE"])
def test_what_says_only_that_something_failed_is_no_key(line: str) -> None:
    assert key_of(line) is None


def test_an_output_without_an_error_has_no_signature() -> None:
    assert signature("12 passed in 0.3s\n0 errors", failed=False) is NONE
    assert signature("def f():\n    raise ValueError('cannot open the frobnicator')\n\nok", failed=False) is NONE


def test_the_last_lines_show_an_error_where_nobody_says_that_it_failed() -> None:
    shown = signature("Traceback (most recent call last):\n  …\nValueError: cannot open the frobnicator", failed=False)
    assert shown.label == "ValueError"
    assert [key.specific for key in shown.keys] == [True]


@pytest.mark.parametrize("text", ["run.sh[7]: error: it lacks eur_usd", "Output: x\nError: (none)\nExit Code: 3"])
def test_a_failure_is_seen_however_a_runtime_frames_it(text: str) -> None:
    assert shows_error(text)


def test_a_frame_around_a_success_is_no_error() -> None:
    assert not shows_error("Output: fine\nError: (none)\nExit Code: 0\n12 passed, 0 errors: 0")


def test_a_huge_output_is_read_at_its_ends() -> None:
    text = "x\n" * 400_000 + "RuntimeError: the frobnicator jammed badly"
    assert len(signature(text, failed=True).keys) == 1


@given(st.text(max_size=400), st.booleans())
def test_any_text_has_a_signature_or_none(text: str, failed: bool) -> None:
    assert len(signature(text, failed).keys) <= 4


def test_lone_surrogates_are_read() -> None:
    assert signature("Error: \ud83d frobnicator jammed_here", failed=True).keys
