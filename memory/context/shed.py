"""Which parts of a request give way to a lower tier, so that it fits its window and keeps what is needed next.

Three escalating steps: *trim* takes what is stale, *fold* what is worth the least for its room, *rotate* begins a new
segment. All are batched down to the target, because every shed makes the provider read anew what stands behind its
first change; a part never rises again; the same input gives the same plan.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from memory.context.actions import Action, Kind, Place, actions
from memory.context.budget import Budget, Prices, gain, pays
from memory.context.protection import Protection, protection
from memory.context.stale import REPEATED, REREAD, stale
from memory.context.stub import FRAME, stub
from memory.conversation import Conversation, Message
from memory.edits import Standing, Tier
from memory.session import Shed


@dataclass(frozen=True, slots=True)
class Piece:
    """A part that may be shed at all: the journal has it whole, with both lower tiers.

    ``kind`` is ``result``, ``call``, ``text`` or ``image``; ``tokens`` is how large the whole is. Of a call ``line``
    and ``overview`` are arguments, JSON of the same shape, each empty where there is none.
    """

    message: int
    part: int
    kind: str
    tokens: int
    line: str
    overview: str
    overview_tokens: int
    tier: Tier
    handle: str


@dataclass(frozen=True, slots=True)
class Replacement:
    """A part goes down to this tier; ``text`` stands there from now on."""

    message: int
    part: int
    tier: Tier
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do to a request. ``tokens`` is how large it will be, messages and what stands outside together;
    ``warning`` is set where that is still too much."""

    replacements: tuple[Replacement, ...] = ()
    shed: Shed | None = None
    tokens: int = 0
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Worth:
    """What a token of a part is worth keeping, by what it is; measured on recorded sessions."""

    result: float = 0.67
    report: float = 2.0
    call: float = 1.7
    text: float = 4.9
    human: float = 40.0
    image: float = 0.3
    known: float = 0.6
    halving: float = 25_000
    stale: float = 0.5
    again: float = 0.05


WORTH = Worth()

PATIENCE = 1.0
LIVE = 12_000
"""Tokens at the end of a request that are the live tool loop, at most; a third of the target where that is less."""


@dataclass(frozen=True, slots=True)
class _Option:
    piece: Piece
    tier: Tier
    loss: float
    saved: int
    why: str

    @property
    def ratio(self) -> float:
        return self.loss / self.saved


def plan(
    conversation: Conversation,
    pieces: Sequence[Piece],
    sizes: Sequence[int],
    budget: Budget,
    standing: Standing,
    warm: bool,
    turns: float,
    prices: Prices | None = None,
    pinned: Collection[Place] = (),
    worth: Worth = WORTH,
    wait: float = 1.0,
) -> Plan:
    """What to shed of a request, if anything."""
    total = budget.fixed + sum(sizes)
    if conversation.continues or total <= budget.trim or not pieces:
        return Plan(tokens=total)
    must = total > budget.window * wait
    if warm and not must and total <= budget.fold:
        return Plan(tokens=total)
    done = actions(conversation)
    guard = protection(conversation, done, sizes, min(LIVE, budget.target // 3), pinned)
    old = stale(conversation, done)
    options = _options(conversation, pieces, sizes, guard, old, done, worth)
    if total <= budget.fold:
        options = [option for option in options if (option.piece.message, option.piece.part) in old]
    chosen = _chosen(options, total - budget.target)
    removed = sum(option.saved for option in chosen.values())
    if not removed:
        return Plan(tokens=total)
    first = min(place[0] for place in chosen)
    rewritten = sum(sizes[first:]) - removed
    if warm and not must and not pays(removed, rewritten, turns * PATIENCE, prices):
        return Plan(tokens=total)
    replacements = tuple(_replacement(option) for _, option in sorted(chosen.items()))
    step = "fold" if total > budget.fold else "trim"
    expected = gain(removed, rewritten, turns, prices, warm) if prices else None
    why = f"{total} of {budget.window} tokens"
    return Plan(replacements, Shed(step, why, removed, rewritten, warm, expected), total - removed)


def _options(
    conversation: Conversation,
    pieces: Iterable[Piece],
    sizes: Sequence[int],
    guard: Protection,
    old: dict[Place, str],
    done: Sequence[Action],
    worth: Worth,
) -> list[_Option]:
    behind = [0] * (len(sizes) + 1)
    for index in range(len(sizes) - 1, -1, -1):
        behind[index] = behind[index + 1] + sizes[index]
    reports = {action.result for action in done if action.kind is Kind.DELEGATE}
    options = []
    for piece in pieces:
        place = piece.message, piece.part
        if not guard.head <= piece.message < guard.tail or place in guard.parts:
            continue
        message = conversation.messages[piece.message]
        density = _density(piece, message, place in reports, worth)
        density *= 0.5 ** (behind[piece.message + 1] / worth.halving)
        why = old.get(place, "")
        if why:
            density *= worth.again if why in (REREAD, REPEATED) else worth.stale
        options += _downwards(piece, density, why or "old", worth)
    return options


def _density(piece: Piece, message: Message, report: bool, worth: Worth) -> float:
    if piece.kind == "text":
        return worth.human if message.spoken else worth.text
    if piece.kind == "result":
        return worth.report if report else worth.result
    return worth.call if piece.kind == "call" else worth.image


def _downwards(piece: Piece, density: float, why: str, worth: Worth) -> list[_Option]:
    """The ways down from where a piece stands, each with what is lost with it."""
    call = piece.kind == "call"
    frame = 0 if call else FRAME
    lowest = len(piece.line) // 4 + frame
    middle = piece.overview_tokens + (0 if call else lowest)
    options = []
    whole = piece.tokens
    known = worth.known
    if piece.tier is Tier.L2:
        if piece.overview and whole - middle > 30:
            options.append(_Option(piece, Tier.L1, density * whole * (1 - known), whole - middle, why))
        elif not call and whole - lowest > 30:
            options.append(_Option(piece, Tier.L0, density * whole, whole - lowest, why))
    if piece.tier is not Tier.L0 and piece.overview and (piece.line or not call) and middle - lowest > 15:
        if piece.tier is Tier.L1 or whole - middle > 30:
            options.append(_Option(piece, Tier.L0, density * whole * known, middle - lowest, why))
    return options


def _chosen(options: list[_Option], excess: int) -> dict[Place, _Option]:
    """The least worth for the room it takes, until enough is gone; a piece goes from tier to tier."""
    chosen: dict[Place, _Option] = {}
    for option in sorted(options, key=lambda each: (each.ratio, each.piece.message, each.piece.part)):
        if excess <= 0:
            break
        place = option.piece.message, option.piece.part
        before = chosen.get(place)
        saved = option.saved + (before.saved if before else 0)
        chosen[place] = _Option(option.piece, option.tier, option.loss, saved, option.why)
        excess -= option.saved
    return chosen


def _replacement(option: _Option) -> Replacement:
    piece = option.piece
    if piece.kind == "call":
        text = piece.overview if option.tier is Tier.L1 else piece.line
    else:
        text = stub(option.tier, piece.line, piece.overview, piece.tokens, piece.handle)
    return Replacement(piece.message, piece.part, option.tier, text, option.why)
