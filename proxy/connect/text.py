"""What the editors of configuration texts share."""

from __future__ import annotations


class NotEditable(Exception):
    """The text cannot be changed with certainty; the user should do it by hand."""


def line_end(text: str) -> str:
    """The line ending that a text uses."""
    return "\r\n" if "\r\n" in text else "\n"
