"""What a call tells of its result, and how long an overview may be."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.tiers.shape import MAX_OVERVIEW_CHARS, budget_of, hint_of


@pytest.mark.parametrize("key", ["path", "file_path", "filePath", "filename", "file", "AbsolutePath", "notebook_path"])
def test_the_path_is_read_whatever_a_runtime_calls_it(key: str) -> None:
    assert hint_of("Read", json.dumps({key: "src/a.py"})).path == "src/a.py"


def test_a_command_may_be_a_list() -> None:
    assert hint_of("shell", '{"command": ["bash", "-lc", "ls"]}').command == "bash -lc ls"


def test_an_overview_has_a_fifth_at_most() -> None:
    assert budget_of("x" * 1000) == 200
    assert budget_of("x" * 1_000_000) == MAX_OVERVIEW_CHARS


@given(st.text(max_size=200))
def test_no_arguments_are_a_fault(text: str) -> None:
    assert hint_of("tool", text).tool == "tool"
    assert hint_of("tool", "[" * 50_000).path == ""
