"""What a memory says gives a terminal no orders."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.text import Text

from proxy.cli.terminal import Harmless, guard_terminal, harmless


@pytest.mark.parametrize(
    "order",
    ["\x1b]0;title\x07", "\x1b[2J", "\x1bc", "\x9b31m", "\u202e", "\u2066", "a\rb", "\x08", "\x1b]8;;http://x\x07"],
)
def test_an_order_is_told_as_a_mark(order: str) -> None:
    told = harmless(f"before {order} after")
    assert "\N{REPLACEMENT CHARACTER}" in told and told.startswith("before ") and told.endswith(" after")
    assert not set(told) & set("\x1b\x07\x08\x9b\u202e\u2066\r")


def test_words_lines_and_colours_stay() -> None:
    told = "Grüße, 你好 👩‍👩‍👧\n\ttab\r\n\x1b[1;31mred\x1b[0m"
    assert harmless(told) == told


def test_what_a_table_shows_of_a_memory_is_harmless_and_its_colours_stay() -> None:
    written = io.StringIO()
    console = Console(file=Harmless(written), force_terminal=True, color_system="standard")  # type: ignore[arg-type]
    console.print(Text("use tabs\x1b]0;pwned\x07", "bold"))
    assert "\x1b]" not in written.getvalue() and "\x1b[1m" in written.getvalue()


def test_a_pipe_gets_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    guard_terminal()
    print("a\x1b]0;b\x07")
    assert capsys.readouterr().out == "a\x1b]0;b\x07\n"
