"""``palimpsest conflicts``: what contradicts what, and how to settle it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memory.hooks.command import SHORT, Command, count, day, where


def format_conflicts(answer: Mapping[str, Any]) -> Iterator[str]:
    """Each pair, with the commands that settle it."""
    if not answer["conflicts"]:
        yield "nothing is unsettled"
        return
    for each in answer["conflicts"]:
        newer, older = each["newer"], each["older"]
        yield f"{where(newer['owner'])}{' (a change, or a rule and an exception from it)' if each['exception'] else ''}"
        for side in (newer, older):
            yield f"  {side['id'][:SHORT]}  {day(side['valid_from'])}  {side['text']}"
        yield ""
    rest = answer["count"] - len(answer["conflicts"])
    more = f", {rest} more with --limit" if rest > 0 else ""
    yield f"{count(answer['count'], 'conflict')}{more}"
    yield "palimpsest confirm ID says which one holds; palimpsest update ID TEXT says what holds instead"
    if any(each["exception"] for each in answer["conflicts"]):
        yield "what changed may look like an exception: confirm ends neither side there, palimpsest forget ID does"


COMMANDS = (
    Command(
        "conflicts",
        "Show what contradicts what: confirm settles it.",
        "conflicts",
        format_conflicts,
        limited="How many conflicts.",
        limit=20,
    ),
)
