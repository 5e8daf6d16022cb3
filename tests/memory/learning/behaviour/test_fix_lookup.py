"""Which results of tools show that something has failed: those are searched for, and no others."""

from __future__ import annotations

import pytest

from memory.conversation import Conversation, Message
from memory.learning.behaviour.fixes import failing
from tests.memory.learning.behaviour.making import called, person, ran

SOURCE = "def parse(row):\n    if len(row) != 7:\n        raise ValueError('short')\n    return None  # error: none"
TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 3, in parse\nValueError: short'


@pytest.mark.parametrize(
    "came",
    [
        ran("cat orders/parse.py", SOURCE),
        ran("sed -n 1,40p orders/parse.py", f"{SOURCE}\n{TRACEBACK}"),
        called("read", {"file_path": "orders/parse.py"}, SOURCE),
        ran("pytest -q", "tests/test_errors.py .....\n5 passed in 0.2s"),
        ran("make lint", "0 errors, 0 warnings"),
    ],
)
def test_what_only_names_an_error_has_not_failed(came: list[Message]) -> None:
    assert failing(Conversation("chat", "m", (*person("Go."), *came))) == []


@pytest.mark.parametrize(
    ("came", "tells"),
    [
        (ran("python a.py", TRACEBACK), True),
        (ran("pytest -q", "FAILED tests/test_rows.py::test_short - AssertionError: 3 != 7\n1 failed"), True),
        (ran("cat nowhere.py", "cat: nowhere.py: No such file or directory", failed=True), True),
        (called("edit", {"file_path": "a.py"}, "<tool_use_error>String to replace not found in file."), True),
        (ran("make", "exit code 1", failed=True), False),
    ],
)
def test_what_failed_is_told_with_its_error_where_it_has_one(came: list[Message], tells: bool) -> None:
    [each] = failing(Conversation("chat", "m", (*person("Go."), *came)))
    assert each.result == came[-1].results[0]
    assert (each.failure is not None) is tells
