"""What templates are given to write values with."""

from __future__ import annotations

from difflib import unified_diff

from proxy.web.rendering import changes

BEFORE = ["-- a comment", "two", "three", "four", "five", "six", "seven", "eight"]
AFTER = ["-- a comment", "2", "three", "four", "five", "six", "seven", "eight", "nine"]


def test_a_diff_is_its_lines_and_the_gaps_between_them() -> None:
    diff = "\n".join(unified_diff(BEFORE, AFTER, "notes.md", "notes.md", lineterm="", n=1))
    assert changes(diff) == [
        ("same", " -- a comment"),
        ("minus", "-two"),
        ("plus", "+2"),
        ("same", " three"),
        ("gap", "⋯"),
        ("same", " eight"),
        ("plus", "+nine"),
    ]


def test_a_line_that_looks_like_a_files_name_is_a_line() -> None:
    assert changes("@@ -1 +0,0 @@\n--- a comment") == [("minus", "--- a comment")]
    assert changes("") == []
