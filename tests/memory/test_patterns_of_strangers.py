"""What a stranger wrote is read in time with its length, whatever it repeats."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import pytest

from memory.context.decompose import parts
from memory.context.question import ask
from memory.conversation import Conversation, Message, Role, Text, ToolResult
from memory.learning.behaviour.corrected_actions import _reason
from memory.learning.behaviour.fixes import _plain
from memory.learning.citations import citations
from memory.learning.pasted_text import parted
from memory.learning.user_claims import claims_authority
from memory.tiers.languages.detect import shown_by
from memory.tiers.listings import is_listing, is_search
from memory.tiers.shape import Hint


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
        (parted, "Here is a page I found:\n" + "\n\t" * 30_000 + "x", 1),
        (claims_authority, "user " + "la " * 660, 8),
        (_plain, "make" + " \t" * 4000 + "x", 4),
        (_reason, "the user said" + "\n" * 3980, 2),
        (shown_by, "\n" * 2000, 20),
        (lambda text: is_search(Hint(tool="bash", command=text)), "  \n" * 660, 20),
        (lambda text: is_listing(Hint(tool="bash", command=text)), "  \n" * 660, 40),
    ],
)
def test_it_costs_no_endless_time(read: Callable[[str], object], text: str, times: int) -> None:
    began = process_time()
    for turn in range(times):
        read(f"{text}{turn}")
    assert process_time() - began < 1


def test_a_last_question_behind_a_page_is_the_persons_own() -> None:
    lead = "Here is a page I found:"
    assert parted(f"{lead}\nall of it\n \n\nIs it so?\n ") == (f"{lead}\n\nIs it so?", "\nall of it")
    assert parted(f"{lead}\nall of it\nIs it so?") == (lead, "\nall of it\nIs it so?")


def test_what_the_person_said_stands_behind_a_colon_or_a_line_end() -> None:
    assert _reason("the user said: \n use rg") == _reason("The user said\n\n use rg") == "use rg"


def test_a_command_behind_blank_lines_is_read() -> None:
    assert shown_by("\n \n sudo cat a/b.py") == "a/b.py"
    assert is_search(Hint(tool="bash", command="cd a;\n\n \tgrep -rn b"))
    assert not is_search(Hint(tool="bash", command="cat a |\n grep b"))
