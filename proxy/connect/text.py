"""What the editors of configuration texts share."""

from __future__ import annotations


class NotEditable(Exception):
    """The text cannot be changed with certainty; the user should do it by hand. ``line``, from 1, is where the reason
    stands, and 0 where it has no place."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(why)
        self.line = line


def line_end(text: str) -> str:
    """The line ending that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"
