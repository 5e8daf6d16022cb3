"""What was read since a person last spoke, the least trusted of it."""

from __future__ import annotations

from itertools import permutations

import pytest

from memory.conversation import Message, Role, Text, ToolCall, ToolResult
from memory.fact import Origin
from memory.learning.taint import taint_of

ASKED = Message(Role.USER, (Text("Look."),), b"1", spoken="Look.")
SAID = Message(Role.ASSISTANT, (Text("I shall."),), b"2")
TOLD = Message(Role.USER, (Text("<task-notification>It is done.</task-notification>"),), b"3")


def called(tool: str) -> tuple[Message, Message]:
    """A call of a tool, and its result."""
    call = Message(Role.ASSISTANT, (ToolCall("1", tool, "{}"),), b"4")
    return call, Message(Role.TOOL, (ToolResult("1", (Text("x"),)),), b"5")


def test_the_least_trusted_counts_whatever_was_read_after_it() -> None:
    assert taint_of([ASKED, SAID]) is None
    assert taint_of([ASKED, *called("read_file")]) is Origin.TOOL
    assert taint_of([ASKED, *called("WebFetch"), *called("read_file")]) is Origin.WEB
    assert taint_of([ASKED, *called("Task"), *called("WebFetch"), *called("read_file")]) is Origin.SUBAGENT
    assert taint_of([ASKED, *called("Task"), ASKED]) is None


@pytest.mark.parametrize(
    ("tools", "least"),
    [
        (("read_file", "WebFetch"), Origin.WEB),
        (("read_file", "Task"), Origin.SUBAGENT),
        (("WebFetch", "Task"), Origin.SUBAGENT),
        (("read_file", "WebFetch", "Task"), Origin.SUBAGENT),
    ],
)
def test_in_whatever_order_it_was_read(tools: tuple[str, ...], least: Origin) -> None:
    for order in permutations(tools):
        assert taint_of([ASKED, *(message for tool in order for message in called(tool))]) is least


def test_what_is_read_on_is_added_to_what_was_read_before() -> None:
    assert taint_of(called("read_file"), Origin.WEB) is Origin.WEB
    assert taint_of(called("WebFetch"), Origin.TOOL) is Origin.WEB
    assert taint_of([SAID], Origin.WEB) is Origin.WEB
    assert taint_of([SAID, ASKED], Origin.WEB) is None


def test_what_a_runtime_says_behind_an_assistants_words_is_nobodys() -> None:
    assert taint_of([ASKED, SAID, TOLD]) is Origin.TOOL
    assert taint_of([TOLD, ASKED]) is None
    assert taint_of([ASKED, TOLD]) is None
