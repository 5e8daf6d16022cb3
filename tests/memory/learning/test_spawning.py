"""Which calls send a sub-agent out, and which opening is whose."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Message, Role, Text, ToolCall
from memory.learning.spawning import COMPARED, candidates, errands, opening, taken
from memory.research import Errand

PROMPT = "Explore the hook system and report which hooks fire on a stop event."


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall("c1", name, orjson.dumps(arguments).decode())


@pytest.mark.parametrize(
    ("made", "agent"),
    [
        (call("task", description="Hooks", prompt=PROMPT, subagent_type="explore"), "explore"),
        (call("Agent", description="Hooks", prompt=PROMPT, run_in_background=True), ""),
        (call("multi_agent_v1__spawn_agent", message=PROMPT), ""),
        (call("spawn_agent", items=[{"type": "text", "text": PROMPT}]), ""),
        (call("subagent", agent="scout", task=PROMPT), "scout"),
        (call("subagent", tasks=[{"agent": "scout", "task": PROMPT}]), "scout"),
        (call("spawn_agent", systemPrompt="You are careful.", task=PROMPT), ""),
        (call("tool_call", id="sessions_spawn", args={"task": PROMPT, "label": "Hooks"}), ""),
        (call("delegate", input=PROMPT), ""),
    ],
)
def test_the_tools_of_the_known_runtimes_are_read(made: ToolCall, agent: str) -> None:
    [errand] = errands([made])
    assert errand.prompt == PROMPT
    assert errand.agent == agent


def test_other_tools_send_nobody_out_unless_they_were_seen_to() -> None:
    made = call("look_into", matter=PROMPT)
    assert errands([made]) == []
    assert [each.prompt for each in candidates([made])] == [PROMPT]
    assert [each.prompt for each in errands([made], frozenset({"look_into"}))] == [PROMPT]


def test_an_opening_fits_whatever_stands_around_the_prompt() -> None:
    errand = Errand("c1", "task", PROMPT)
    framed = Message(
        Role.USER,
        (Text("<system-reminder>Be brief.</system-reminder>"), Text(f"[Fri 2026-11-20] Task:\n  {PROMPT}\nBegin.")),
        b"1" * 16,
    )
    assert taken(errand, opening([framed]), known=True)
    assert not taken(errand, opening([framed]), known=False)
    assert taken(errand, opening([Message(Role.USER, (Text(PROMPT),), b"2" * 16)]), known=False)


def test_nothing_opens_where_an_assistant_has_spoken() -> None:
    said = Message(Role.ASSISTANT, (Text("Yes."),), b"3" * 16)
    assert opening([Message(Role.USER, (Text(PROMPT),), b"4" * 16), said]) == []


@given(st.text(max_size=300), st.sampled_from(["task", "bash", "tool_call"]))
def test_no_arguments_make_it_fail(arguments: str, name: str) -> None:
    errands([ToolCall("c", name, arguments)])
    candidates([ToolCall("c", name, arguments)])


@pytest.mark.parametrize("text", [f"{'a b' * COMPARED} {PROMPT}", f"{PROMPT} {'a b' * COMPARED}"])
def test_an_errand_is_found_at_either_end_of_megabytes(text: str) -> None:
    begins = opening([Message(Role.USER, (Text(text),), b"")])
    assert max(map(len, begins)) <= COMPARED
    assert taken(Errand("c1", "task", PROMPT), begins, known=True) > 0
