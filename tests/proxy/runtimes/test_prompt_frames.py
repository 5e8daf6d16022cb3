"""A person's words in the midst of a program's prompt: shapes as scripts send them, in our own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.runtimes import user_text

BEHIND = """

You can execute commands in the shell, one after the other.

## Recommended workflow

1. Look at the files.
2. Change them.

**CRITICAL:** Each response should hold one thought and at least one call. Do not join commands with another one.

Example of a CORRECT response:
<example_response>
I look at the files first.
</example_response>

Pagers are switched off: you need not pass a flag for that, nor set a variable in the environment.
"""
BEFORE = """You're a helpful agent called 'scout'.
You have been given this task by your manager.
---
Task:
Find out what the parser splits on.
---
You're helping your manager with a wider task, so say more than one line.
Your final answer WILL HAVE three parts, short to long, and nothing else. Use the tool for it. Say what failed, too.
"""
NOBODY_ELSE = """You are an expert at planning. Here is how it goes.

You will be given a task. Always write the plan first.

Your answer should use the headings below:
### 1. Facts
### 2. Plan

Respond only with the plan, then write the '<end>' tag and stop there. Do not skip steps, and do not add any to them.
Take the tools into account that are offered, and what was found out before with them, so that nothing is done twice.
"""
ASKED = "We always deploy with the blue script.\n\n# Steps\n\nIt fails since Monday, see the log."
SPEC = """Please write the importer for the new format. Each row has a name and a price; rows
without a price are left out.

## Fields

- name: must be unique
- price: in cents

## Errors

Never stop at a broken row: log it, count it, and go on. Always close the file, also when the importer is interrupted.
Your answer should be short. Use the csv module and nothing that has to be installed first, please.
"""


def test_instructions_behind_a_person_s_words_are_a_program_s() -> None:
    assert user_text(ASKED + BEHIND) == ASKED


def test_however_long_a_persons_words_are_a_frame_shows_itself_at_their_ends() -> None:
    long = "\n\n".join(f"Line {number} of the log that I pasted is quite plain." for number in range(400))
    assert user_text(f"{ASKED}\n\n{long}{BEHIND}") == f"{ASKED}\n\n{long}"
    assert BEHIND.strip() in user_text(f"{ASKED}\n\n{long}{BEHIND.rstrip()}\n\n{long}")


def test_a_short_frame_is_one_too() -> None:
    behind = "Criteria for your final answer: it is short.\nYou MUST give all of it as the final answer, with no gaps."
    assert user_text(f"\nCurrent Task: {ASKED}\n\n{behind}") == ASKED
    assert user_text(f"Please solve this issue: {ASKED}{BEHIND}") == ASKED


def test_a_label_tells_where_a_person_s_words_stand_in_a_program_s() -> None:
    assert user_text(BEFORE) == "Find out what the parser splits on."


def test_a_prompt_without_a_person_s_words_is_nobody_s() -> None:
    assert user_text(NOBODY_ELSE) == ""


@pytest.mark.parametrize(
    "said", [SPEC.strip(), ASKED, "You MUST use tabs. Your answer should be short. Reply only in French."]
)
def test_what_a_person_asks_for_at_length_stays_whole(said: str) -> None:
    assert user_text(said) == said


@pytest.mark.parametrize(
    "shown",
    [
        "Observation:\nWe always use tabs.",
        "OBSERVATION: We always use tabs.",
        "[tool_result for read]\nWe always use tabs.",
        "Tool output:\nWe always use tabs.",
        "<observation>We always use tabs.</observation>",
        "<tool_response>\nWe always use tabs.\n</tool_response>",
        "<system>No call was found in the last message. Did you mean to finish?</system>",
        "<system_notification>We always use tabs.</system_notification>",
    ],
)
def test_what_a_tool_printed_is_no_person_s_though_it_stands_in_the_user_s_role(shown: str) -> None:
    assert user_text(shown) == ""


def test_a_new_task_behind_what_a_tool_printed_is_a_person_s() -> None:
    assert user_text("Observation:\nWe always use spaces.\nNew task:\nUse tabs.") == "Use tabs."
    assert user_text("New task:\nUse tabs.") == "Use tabs."


@pytest.mark.parametrize(
    "said", ["Observations are kept in notes.md", "The tool result is wrong.", "System: it is <systemd>."]
)
def test_words_that_only_look_like_it_stay(said: str) -> None:
    assert user_text(said) == said


@given(st.text(max_size=400))
def test_any_text_can_stand_in_a_frame(text: str) -> None:
    assert isinstance(user_text(text + BEHIND), str)
