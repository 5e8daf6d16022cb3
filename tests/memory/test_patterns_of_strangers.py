"""What a stranger wrote is read in time with its length, whatever it repeats."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from time import process_time

import pytest

from memory.context.broad_questions import whole
from memory.context.question import ask, parts
from memory.conversation import Conversation, Message, Role, Text, ToolResult
from memory.features.checkouts.declared import _go_mod
from memory.learning.behaviour.corrected_actions import _reason_of_refusal
from memory.learning.behaviour.fixes import _plain
from memory.learning.citations import citations
from memory.learning.reports import unframed
from memory.learning.taint import split_pasted
from memory.learning.user_claims import claims_authority
from memory.tiers.languages import shown_by
from memory.tiers.listings import is_listing, is_search
from memory.tiers.logs import is_log
from memory.tiers.shape import Hint

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)


def failing(text: str) -> object:
    result = ToolResult("1", (Text(text),))
    return ask(Conversation("chat", "model", (Message(Role.TOOL, (result,), b"t"),)), None, [result])


@pytest.mark.parametrize(
    ("read", "text", "times"),
    [
        (failing, "a." * 1000, 20),
        (lambda text: parts(text + " what?"), "both X" + "-O" * 990, 40),
        (citations, "+" * 4000, 5),
        (citations, "+." * 2000, 5),
        (split_pasted, "Here is a page I found:\n" + "\n\t" * 30_000 + "x", 1),
        (claims_authority, "user " + "la " * 660, 8),
        (_plain, "make" + " \t" * 4000 + "x", 4),
        (_reason_of_refusal, "the user said" + "\n" * 3980, 2),
        (shown_by, "\n" * 2000, 20),
        (lambda text: is_search(Hint(tool="bash", command=text)), "  \n" * 660, 20),
        (lambda text: is_listing(Hint(tool="bash", command=text)), "  \n" * 660, 40),
        (shown_by, "cat " + "a" * 2000, 100),
        (lambda text: is_log([text], Hint()), ":" * 60_000, 1),
        (unframed, "\ntotal_tokens:" * 8000 + "\nx", 1),
        (_plain, "make" + " " * 60_000 + "x", 1),
        (_go_mod, "a/" * 30_000, 1),
        (lambda text: whole(text, NOW), "who is Anna" + " " * 60_000 + "x", 1),
    ],
)
def test_it_costs_no_endless_time(read: Callable[[str], object], text: str, times: int) -> None:
    began = process_time()
    for turn in range(times):
        read(f"{text}{turn}")
    assert process_time() - began < 1


def test_a_last_question_behind_a_page_is_the_persons_own() -> None:
    lead = "Here is a page I found:"
    assert split_pasted(f"{lead}\nall of it\n \n\nIs it so?\n ") == (f"{lead}\n\nIs it so?", "\nall of it")
    assert split_pasted(f"{lead}\nall of it\nIs it so?") == (lead, "\nall of it\nIs it so?")


def test_what_the_person_said_stands_behind_a_colon_or_a_line_end() -> None:
    assert _reason_of_refusal("the user said: \n use rg") == _reason_of_refusal("The user said\n\n use rg") == "use rg"


def test_a_command_behind_blank_lines_is_read() -> None:
    assert shown_by("\n \n sudo cat a/b.py") == "a/b.py"
    assert is_search(Hint(tool="bash", command="cd a;\n\n \tgrep -rn b"))
    assert not is_search(Hint(tool="bash", command="cat a |\n grep b"))


def test_a_row_of_a_test_run_is_a_logs_in_time_with_its_length() -> None:
    run = ["a/test_b.py::test_c[d::e] PASSED", "::x PASSED", "x:: PASSED", "a::b::c FAILED", "a b::c PASSED"]
    assert [is_log([row], Hint()) for row in run] == [True, False, False, True, False]


def test_the_footer_of_a_report_is_taken_from_its_end_alone() -> None:
    footer = "\nagentId: a1\n  <usage>total_tokens: 8\n\n\ntool_uses: 3</usage>"
    assert unframed(f"Found it.{footer}\n \n") == "Found it."
    assert unframed(f"First.{footer}\nThen this.") == f"First.{footer}\nThen this."
    assert unframed(f"First.{footer}\nThen this.{footer}") == f"First.{footer}\nThen this."


def test_what_only_shortens_the_output_of_a_command_is_no_part_of_it() -> None:
    assert _plain("make  test 2>&1 | head -5 | tail -3 && ls") == _plain("make test&& ls") == "make test&& ls"


def test_what_a_go_module_requires_is_read() -> None:
    text = "module a/b\n\ngo 1.22\n\nrequire x.org/y/z v1.2.3\nrequire (\n\tw/ v2\n\n  r/s v0.1 // indirect\n)\n"
    assert _go_mod(text) == {"z": "1.2.3", "s": "0.1", "go": "1.22"}
