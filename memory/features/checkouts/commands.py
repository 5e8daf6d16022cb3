"""``palimpsest branches``: on which branches something was learnt, and what has become of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memory.hooks.command import Command
from memory.hooks.wording import count, day


def told(answer: Mapping[str, Any]) -> Iterator[str]:
    """A branch on each line."""
    if not answer["branches"]:
        yield "nothing was learnt in a checkout yet"
    for each in answer["branches"]:
        stage = each["stage"] if each["staged"] else "holds for the project"
        since = f" since {day(each['since'])}" if each["staged"] and each["since"] else ""
        yield f"{each['branch']}: {count(each['facts'], 'fact')}, {stage}{since}  ({each['repository']})"


COMMANDS = (
    Command(
        "branches",
        "Show on which branches something was learnt, and whether it holds for the project yet.",
        "branches",
        told,
        limited="How many branches.",
        limit=50,
    ),
)
