"""Paging in: what the talk turns to comes back, and nothing else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.context.paging import Absent, question, rendered, words

CODE = "\n".join(f"def step_{n}(queue):\n    return queue.pop({n})\n" for n in range(40))
LOG = "\n".join(f"2026-11-0{n % 9 + 1} worker {n} settled invoice {n * 7919}" for n in range(60))


def absent() -> Absent:
    held = Absent()
    held.add("aa.0", "src/queue/steps.py", CODE)
    held.add("bb.0", "tail worker.log", LOG)
    return held


STANDING = {"aa.0": "[a stub]", "bb.0": "[a stub]"}


def test_the_lines_that_a_message_names_come_back_under_their_handle() -> None:
    found = absent().excerpts(question([("Why does step_17 fail?", 1.0)]), 800, STANDING, floor=2.0)
    assert [excerpt.handle for excerpt in found] == ["aa.0"]
    text = rendered(found)
    assert "def step_17(queue):\n    return queue.pop(17)" in text
    assert "[aa.0] src/queue/steps.py" in text


def test_a_message_about_something_else_brings_nothing() -> None:
    assert absent().excerpts(question([("Please write a haiku about autumn.", 1.0)]), 800, STANDING, floor=2.0) == []
    assert rendered([]) == ""


def test_what_is_no_longer_absent_is_left_alone() -> None:
    asked = question([("step_17", 1.0)])
    assert absent().excerpts(asked, 800, {"bb.0": ""}, floor=2.0) == []


def test_lines_that_still_stand_in_the_stub_are_not_given_again() -> None:
    standing = STANDING | {"aa.0": "def step_17(queue):"}
    (found,) = absent().excerpts(question([("step_17", 1.0)]), 800, standing, floor=2.0, most=1)
    assert "def step_17(queue):" not in [line for _, line in found.lines]


def test_a_word_that_stands_everywhere_leads_nowhere() -> None:
    assert absent().excerpts(question([("queue", 1.0)]), 800, STANDING, floor=0.5) == []


def test_compound_names_are_found_by_their_parts() -> None:
    assert set(words("src/parseInvoice.py")) >= {"src/parseinvoice.py", "parse", "invoice"}


@given(st.text(max_size=400), st.text(max_size=400), st.integers(0, 500))
def test_any_text_is_searched_within_the_budget(content: str, asked: str, characters: int) -> None:
    held = Absent()
    held.add("aa.0", "", content)
    held.add("aa.0", "", content)
    found = held.excerpts(question([(asked, 1.0)]), characters, {"aa.0": ""}, floor=0.0)
    assert sum(len(line) + 1 for excerpt in found for _, line in excerpt.lines) <= characters
    lines = content.splitlines()
    assert all(line == lines[number][: len(line)] for excerpt in found for number, line in excerpt.lines)
