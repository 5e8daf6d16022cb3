"""What a part is worth keeping, and its ways down: from whole to overview, from overview to a line.

The figures are what a token of each kind was worth on recorded sessions: how often a name on it was used again, when
it had last been seen 20,000 tokens before. What the assistant and people say is worth many times what tools print.

What of a conversation is stale: said again later, overtaken, or settled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from memory.actions import ActionKind, Parts, Place, ToolAction
from memory.context.shed_plan import FRAME
from memory.conversation import Conversation
from memory.edits import ContentTier

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
    for rule in (_old_pictures, _overwritten_reads, _solved_failures, _repeated_outputs, _reread_results, _old_plans):
        found.update(rule(parts, done))
    return found


def _reread_results(_: Parts, done: Sequence[ToolAction]) -> dict[Place, str]:
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


def _overwritten_reads(_: Parts, done: Sequence[ToolAction]) -> dict[Place, str]:
    found: dict[Place, str] = {}
    changed: set[str] = set()
    for action in reversed(done):
        if action.kind is ActionKind.WRITE and not action.failed:
            changed.update(action.paths)
        elif action.kind is ActionKind.READ and action.result is not None and changed.intersection(action.paths):
            found[action.result] = REWRITTEN
    return found


def _repeated_outputs(parts: Parts, _: Sequence[ToolAction]) -> dict[Place, str]:
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


def _solved_failures(_: Parts, done: Sequence[ToolAction]) -> dict[Place, str]:
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


def _old_pictures(parts: Parts, _: Sequence[ToolAction]) -> dict[Place, str]:
    """All pictures but the newest message's that has any."""
    return {place: PICTURE for place in parts.pictures if place[0] != parts.pictures[-1][0]}


def _old_plans(_: Parts, done: Sequence[ToolAction]) -> dict[Place, str]:
    """All plans but the newest, and what was answered to them."""
    plans = [action for action in done if action.kind is ActionKind.PLAN]
    return {place: REPLANNED for action in plans[:-1] for place in (action.call, action.result) if place is not None}


RESULT, REPORT, CALL, TEXT, PERSON, IMAGE = 0.67, 2.0, 1.7, 4.9, 40.0, 0.3
KNOWN = 0.6
"""The share of what is used again of a part that its overview holds."""
HALVING = 25_000
"""Tokens behind a part that halve its worth."""
STALE, AGAIN = 0.5, 0.05
"""What is left of the worth of what is stale, and of what stands again later."""
LEAST = 30
"""Tokens that a step down must save."""


@dataclass(frozen=True, slots=True)
class SheddablePart:
    """A part that may be shed at all: the journal has it whole, with both lower tiers.

    ``kind`` is ``result``, ``call``, ``text`` or ``image``; ``tokens`` is how large the whole is. Of a call ``line``
    and ``overview`` are arguments, JSON of the same shape; each is empty where there is none.
    """

    message: int
    part: int
    kind: str
    tokens: int
    line: str
    overview: str
    overview_tokens: int
    tier: ContentTier
    handle: str

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.message, self.part

    def without_overview(self) -> SheddablePart:
        """The same as a part of which there is no overview."""
        if not self.overview:
            return self
        named = self.message, self.part, self.kind, self.tokens, self.line
        return SheddablePart(*named, "", 0, self.tier, self.handle)


class Downgrade(NamedTuple):
    """A way down for a piece: to which tier, how many tokens that saves, what it loses for each of them."""

    piece: SheddablePart
    tier: ContentTier
    saved: int
    loss: float
    why: str


def steps(
    conversation: Conversation,
    pieces: Iterable[SheddablePart],
    sizes: Sequence[int],
    old: Mapping[Place, str],
    reports: Collection[Place | None],
) -> list[Downgrade]:
    """All ways down, the least loss first; for one piece, the way to the overview before that to the line."""
    behind = [*accumulate(reversed(sizes), initial=0)][::-1]
    found: list[tuple[float, int, int, bool, Downgrade]] = []
    messages = conversation.messages
    for piece in pieces:
        message, part = place = piece.message, piece.part
        spoken = piece.kind == "text" and bool(messages[message].spoken)
        worth = _worth(piece, spoken, place in reports) * 0.5 ** (behind[message + 1] / HALVING)
        why = old.get(place, "")
        if why:
            worth *= AGAIN if why in SAID_AGAIN else STALE
        # No two have the same place and tier, so that the steps themselves are never compared.
        ways = _down(piece, worth, why or "old")
        found += [(step.loss, message, part, step.tier is ContentTier.L0, step) for step in ways]
    found.sort()
    return [step for *_, step in found]


def _worth(piece: SheddablePart, spoken: bool, report: bool) -> float:
    match piece.kind:
        case "text":
            return PERSON if spoken else TEXT
        case "result":
            return REPORT if report else RESULT
        case "call":
            return CALL
    return IMAGE


def _down(piece: SheddablePart, worth: float, why: str) -> list[Downgrade]:
    call = piece.kind == "call"
    lowest = len(piece.line) // 4 + (0 if call else FRAME)
    middle = piece.overview_tokens + (0 if call else lowest)
    found = []
    stands, left = piece.tokens, 1.0
    if piece.tier is ContentTier.L1:
        stands, left = middle, KNOWN
    elif piece.tier is ContentTier.L2 and piece.overview and stands - middle >= LEAST:
        gone = worth * stands * (1 - KNOWN) / (stands - middle)
        found.append(Downgrade(piece, ContentTier.L1, stands - middle, gone, why))
        stands, left = middle, KNOWN
    if piece.tier is not ContentTier.L0 and (piece.line or not call) and stands - lowest >= LEAST:
        # Never cheaper than the step before it: a piece goes down tier by tier.
        gone = worth * piece.tokens * left / (stands - lowest)
        found.append(Downgrade(piece, ContentTier.L0, stands - lowest, max(gone, found[0].loss if found else 0.0), why))
    return found
