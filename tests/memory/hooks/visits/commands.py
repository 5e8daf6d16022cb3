"""``palimpsest visits``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memory.hooks.command import Command, count, where


def lines(told: Mapping[str, Any]) -> Iterator[str]:
    """A project a line."""
    for owner, visits in told["visits"].items():
        yield f"{where(owner)}: {count(visits, 'visit')}"


COMMANDS = (Command("visits", "Show how often each project was worked in.", "visits", lines, "How many projects."),)
