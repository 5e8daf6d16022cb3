"""``palimpsest branches``: on which branches something was learnt, and what has become of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memory.hooks.command import Command, count, day


def format_branches(answer: Mapping[str, Any]) -> Iterator[str]:
    """A branch on each line."""
    if not answer["branches"]:
        yield "nothing was learnt in a checkout yet"
    for each in answer["branches"]:
        stage = each["stage"] if each["staged"] else "holds for the project"
        since = f" since {day(each['since'])}" if each["staged"] and each["since"] else ""
        yield f"{each['branch']}: {count(each['facts'], 'fact')}, {stage}{since}  ({each['repository']})"


def gone(answer: Mapping[str, Any]) -> Iterator[str]:
    """A fact, or a turn that none was learnt from, on each line, with what of it is gone."""
    if not answer["gone"]:
        yield "all that is remembered of the code is there"
        return
    for each in answer["gone"]:
        yield f"{each['id'][:8]}  {each['text']}  ({each['mark']})"
    if answer["count"] > len(answer["gone"]):
        yield f"and {answer['count'] - len(answer['gone'])} more"
    if answer["facts"]:
        yield "does it still hold? palimpsest confirm ID | palimpsest update ID | palimpsest forget ID"
    if answer["turns"]:
        turns = "turn of talk was" if answer["turns"] == 1 else "turns of talk were"
        yield f"of these {answer['turns']} {turns} only said, and no fact: palimpsest forget ID"


COMMANDS = (
    Command(
        "gone",
        "Ask about what is remembered of code which is not there any more.",
        "gone",
        gone,
        limited="How many of them.",
        limit=20,
    ),
    Command(
        "branches",
        "Show on which branches something was learnt, and whether it holds for the project yet.",
        "branches",
        format_branches,
        limited="How many branches.",
        limit=50,
    ),
)
