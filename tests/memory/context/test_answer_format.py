"""What a message says about the form of its answer is no part of what it asks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.question import without_form
from tests.memory.context.making import asked


@pytest.mark.parametrize(
    "form",
    [
        "Answer in one word.",
        "Return it in the format YYYY-MM-DD (e.g. 2031-12-24).",
        "Please list them in alphabetical order: 'a, b'",
        "Give the sum rounded to the next ten (ex: 40).",
        "Respond with JSON only.",
        "Just answer yes or no, nothing else.",
        "Keep it short.",
        "Please keep your answer to one sentence.",
        "Put the answer in capitals.",
        "Put them in alphabetical order.",
        "Be as brief as you can.",
    ],
)
def test_the_form_of_the_answer_is_left_out(form: str) -> None:
    question = "When does the ferry to the island leave?"
    assert without_form(f"{question} {form}") == question
    assert asked(f"{question} {form}").stems == asked(question).stems


@pytest.mark.parametrize(
    "text",
    ["Which format do we use for dates?", "Choose an answer from these: Java, Go, Rust.", "Answer in one word.",
     "Write a short story about the ferry", "Keep it."],
)  # fmt: skip
def test_what_is_asked_stays_and_so_does_a_message_of_nothing_else(text: str) -> None:
    assert without_form(text) == text or text.startswith("Write")


@pytest.mark.parametrize(
    ("text", "stem"),
    [
        ("Can you help me? Give me the format that we agreed on for dates.", "date"),
        ("Which of them broke? Show me the three lines of the parser that failed yesterday.", "parser"),
        ("Is there more? List the two sentences I wrote about sharks.", "shark"),
    ],
)
def test_an_order_that_speaks_of_what_was_is_part_of_the_question(text: str, stem: str) -> None:
    assert without_form(text) == text
    assert stem in asked(text).stems


@pytest.mark.parametrize(
    ("order", "stem"),
    [
        ("Keep the JSON exporter compatible with Marta's client.", "marta"),
        ("Keep it compatible with Marta's JSON exporter.", "marta"),
        ("Put the CSV files of the harbour into the archive.", "harbour"),
        ("Show the markdown preview beside the editor.", "preview"),
        ("Be careful with the YAML that the ferry reads.", "ferri"),
        ("Write the CSV files of the harbour into the archive.", "harbour"),
        ("Give me a list of the ships that Marta owns.", "marta"),
        ("Provide the JSON exporter with Marta's fields.", "export"),
    ],
)
def test_an_order_about_something_else_than_the_answer_is_part_of_what_is_asked(order: str, stem: str) -> None:
    assert without_form(f"What's next? {order}") == f"What's next? {order}"
    assert stem in asked(f"What's next? {order}").stems


@pytest.mark.parametrize(
    ("order", "left"),
    [
        ("List the ships in alphabetical order.", "List the ships ."),
        ("Write the report about the ferry as a table with two columns.", "Write the report about the ferry ."),
        ("Print the captains as JSON, and tell who owns them.", "Print the captains , and tell who owns them."),
    ],
)
def test_of_an_order_to_give_something_only_the_form_is_left_out(order: str, left: str) -> None:
    assert without_form(f"What's next? {order}") == f"What's next? {left}"


def test_an_order_to_write_something_short_is_still_an_order_about_it() -> None:
    assert "ferri" in asked("Write a short story about the ferry").stems


@given(st.text(max_size=300))
def test_nothing_is_ever_added_and_something_stays(text: str) -> None:
    left = without_form(text)
    assert len(left) <= len(text) + text.count("(")
    assert bool(left.strip()) == bool(text.strip())
