"""What of a conversation is stale: said again later, overtaken, or settled.

Each rule looks at what calls did (:mod:`memory.actions`), never at who made the tool.
"""

from __future__ import annotations

from collections.abc import Sequence

from memory.actions import ActionKind, Parts, Place, ToolAction

REREAD = "read again later"
REWRITTEN = "the file was changed since"
REPEATED = "the same output again"
SOLVED = "the error is solved"
PICTURE = "an older picture"
REPLANNED = "an older plan"

SAID_AGAIN = frozenset({REREAD, REPEATED, REPLANNED, PICTURE})
"""The reasons for which nothing is lost: what stood there stands again later, or in a newer state."""

_LEAST = 40
"""Characters below which an equal output says nothing (``ok``, ``done``)."""


def stale(parts: Parts, done: Sequence[ToolAction]) -> dict[Place, str]:
    """The stale parts, each with why. Where two rules speak of a part, the one that is surer of it holds."""
    found: dict[Place, str] = {}
    for rule in (_pictures, _rewritten, _solved, _repeated, _reread, _replanned):
        found.update(rule(parts, done))
    return found


def _reread(_: Parts, done: Sequence[ToolAction]) -> dict[Place, str]:
    """A result whose lines a later call of the same thing gave again, and did not fail."""
    found: dict[Place, str] = {}
    later: dict[str, list[tuple[float, float]]] = {}
    for action in reversed(done):
        if action.result is None or not (action.kind is ActionKind.READ or action.command):
            continue
        about = f"read {action.paths[0]}" if action.kind is ActionKind.READ else action.about
        spans = later.setdefault(about, [])
        if any(first <= action.lines[0] and action.lines[1] <= last for first, last in spans):
            found[action.result] = REREAD
        elif not action.failed:
            spans.append(action.lines)
    return found


def _rewritten(_: Parts, done: Sequence[ToolAction]) -> dict[Place, str]:
    """What was read of a file before it was changed."""
    found: dict[Place, str] = {}
    changed: set[str] = set()
    for action in reversed(done):
        if action.kind is ActionKind.WRITE and not action.failed:
            changed.update(action.paths)
        elif action.kind is ActionKind.READ and action.result is not None and changed.intersection(action.paths):
            found[action.result] = REWRITTEN
    return found


def _repeated(parts: Parts, _: Sequence[ToolAction]) -> dict[Place, str]:
    """An output that came again, to the letter."""
    found: dict[Place, str] = {}
    later: set[int] = set()
    # Of one message the first stands for what comes behind it.
    for place, result in sorted(parts.results, key=lambda each: (-each[0][0], each[0][1])):
        text = result.text
        if len(text) < _LEAST:
            continue
        # A hash of the process's own would do, were it the same in each: equality is all that is asked of it.
        name = hash(text)
        if name in later:
            found[place] = REPEATED
        later.add(name)
    return found


def _solved(_: Parts, done: Sequence[ToolAction]) -> dict[Place, str]:
    """What a failing call said, when the same call succeeded later."""
    found: dict[Place, str] = {}
    succeeded: set[str] = set()
    for action in reversed(done):
        if action.result is None:
            continue
        about = action.command or " ".join((action.name, *action.paths))
        if not action.failed:
            succeeded.add(about)
        elif about in succeeded:
            found[action.result] = SOLVED
    return found


def _pictures(parts: Parts, _: Sequence[ToolAction]) -> dict[Place, str]:
    """All pictures but the newest message's that has any."""
    return {place: PICTURE for place in parts.pictures if place[0] != parts.pictures[-1][0]}


def _replanned(_: Parts, done: Sequence[ToolAction]) -> dict[Place, str]:
    """All plans but the newest, and what was answered to them."""
    plans = [action for action in done if action.kind is ActionKind.PLAN]
    return {place: REPLANNED for action in plans[:-1] for place in (action.call, action.result) if place is not None}
