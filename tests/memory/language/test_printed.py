"""What a tool printed is read line by line, in whatever a runtime wraps it."""

from __future__ import annotations

import json

import pytest

from memory.language.printed import MAX_CHARS, printed

PRINTED = "make: checking\nerror: libwombat.so.3 not found\n"


def test_lines_in_json_are_lines_again() -> None:
    told = json.dumps(
        [{"query": "make check", "result": PRINTED, "error": "Command exited with code 2", "success": False}]
    )
    assert printed(told).splitlines()[1:3] == PRINTED.splitlines()
    assert printed(json.dumps({"answer": {"output": PRINTED}})) == PRINTED


@pytest.mark.parametrize(
    "text",
    [
        PRINTED,
        '{"error": "not found"}',
        "[1/3] compiling\\n",
        '{"cut": "in the middle\\n',
        '{"lone": "\\ud800\\n"}',
        "[" * 5000 + "\\n",
        json.dumps({"output": "a line\n" * MAX_CHARS}),
    ],
)
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert printed(text) == text


def test_what_stands_deep_inside_is_left_and_costs_little() -> None:
    deep = "[" * 1000 + '"a\\nb"' + "]" * 1000
    assert printed(deep) == deep
