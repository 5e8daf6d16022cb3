"""Questions to who sits at the terminal."""

from __future__ import annotations

import sys

import typer


def is_interactive() -> bool:
    """Whether somebody can answer."""
    return sys.stdin.isatty()


def agreed(question: str, yes: bool = False) -> bool:
    """Whether a person says yes, now or before; Enter is a yes."""
    return yes or typer.confirm(question, default=True)
