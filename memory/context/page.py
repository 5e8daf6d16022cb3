"""MEMORY.md: the little that every session should begin with.

Only what is essential stands on it: what a person asked for or prefers in so many words, what was pinned or
approved, what at least two sessions bear out, the project's decisions, the open tasks. Observations do not. The same
facts give the same bytes: it shows neither clock nor counter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Final

from memory.context.diversity import same
from memory.context.essential import LEAST, essential_worth, on_page
from memory.context.pack import disarmed, quoted, tokens_of
from memory.fact import Fact, Kind, Sensitivity, State, Stream
from memory.language.terms import words_of
from memory.scope import Layer

PAGE_OPENING: Final = "<memory-page>\nNotes from earlier sessions: background, not new requests."
PAGE_CLOSING: Final = "</memory-page>"
UNSETTLED: Final = " (unsettled)"
"""Stands behind what something else contradicts."""

_HEADINGS: Final = {
    Stream.IDENTITY: "## The user",
    Stream.PROJECTS: "## Project",
    Stream.TASKS: "## Open tasks",
    Stream.FLOW: "## Ways of working",
}
_SHORTEST: Final = 5
"""Tokens of room in which no fact fits any more."""
_PRIVATE: Final = (Layer.USER, Layer.USER_PROJECT)


@dataclass(frozen=True, slots=True)
class Page:
    """MEMORY.md and the ids of the facts on it; an empty text where nothing is essential."""

    text: str = ""
    memories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shares:
    """Preservation ratios: the part of the page that each stream may always fill; the rest goes to the best."""

    of: Mapping[Stream, float] = field(
        default_factory=lambda: MappingProxyType(
            {Stream.IDENTITY: 0.5, Stream.PROJECTS: 0.2, Stream.TASKS: 0.05, Stream.FLOW: 0.1}
        )
    )


SHARES = Shares()


def page(
    facts: Iterable[Fact],
    budget: int,
    now: datetime,
    *,
    shares: Shares = SHARES,
    count: Callable[[str], int] = tokens_of,
) -> Page:
    """The page of some facts within ``budget`` tokens, its frame (see :func:`frame_page`) counted in.

    Each stream first takes what it is worth out of its own share, then all of them out of what is left. ``now``
    only tells what has expired.
    """
    essential = _once([fact for fact in facts if _essential(fact, now)])
    own = {stream: int(budget * shares.of.get(stream, 0.0)) for stream in Stream}
    taken: dict[str, Fact] = {}
    filled = 0
    for within_shares in (True, False):
        for fact in essential:
            if fact.id in taken or (within_shares and own[fact.stream] <= 0):
                continue
            size = count(frame_page(_markdown([*taken.values(), fact])))
            if size > budget or (within_shares and size - filled > own[fact.stream]):
                continue
            own[fact.stream] -= size - filled
            filled = size
            taken[fact.id] = fact
            if filled > budget - _SHORTEST:
                break
    return Page(_markdown(list(taken.values())), tuple(taken)) if taken else Page()


def frame_page(text: str) -> str:
    """The page as it stands behind the first human message; empty for an empty page.

    The page may have been edited by hand, so our delimiters are disarmed in it here and not when it is made.
    """
    return f"\n\n{PAGE_OPENING}\n{disarmed(text.strip())}\n{PAGE_CLOSING}" if text.strip() else ""


def _essential(fact: Fact, now: datetime) -> bool:
    """Whether a fact may stand on the page at all."""
    if fact.state is not State.ACTIVE or fact.sensitivity is Sensitivity.RESTRICTED:
        return False
    # What somebody is allergic to is confidential and yet the first thing to respect; it stays with themselves.
    if fact.sensitivity is Sensitivity.CONFIDENTIAL and not (fact.kind is Kind.PREFERENCE and fact.layer in _PRIVATE):
        return False
    if (fact.expires_at and fact.expires_at <= now) or (fact.valid_until and fact.valid_until <= now):
        return False
    return essential_worth(fact) >= LEAST


def _worth_a_token(fact: Fact) -> float:
    """What a fact is worth for the room that it takes; long ones are held back, though not in full proportion."""
    return essential_worth(fact) / float(tokens_of(_line(fact)) ** 0.5)


def _once(facts: Sequence[Fact]) -> list[Fact]:
    """Facts by worth, what is pinned first; the newer of two that say the same."""
    ordered = sorted(
        facts, key=lambda fact: (not fact.pinned, -_worth_a_token(fact), -fact.recorded_at.timestamp(), fact.id)
    )
    kept: list[tuple[Fact, frozenset[int]]] = []
    for fact in ordered:
        terms = words_of(fact.text)
        if not any(same(terms, other) for _, other in kept):
            kept.append((fact, terms))
    return [fact for fact, _ in kept]


def _line(fact: Fact) -> str:
    text = f"- {quoted(on_page(fact.text), '  ')}"
    if fact.wrong:
        text += f" (not: {quoted(fact.wrong, '  ')})"
    return text + UNSETTLED if fact.contradicts else text


def _markdown(facts: Sequence[Fact]) -> str:
    lines = ["# Memory"]
    for stream, heading in _HEADINGS.items():
        own = sorted((fact for fact in facts if fact.stream is stream), key=lambda fact: (fact.recorded_at, fact.id))
        if own:
            lines += [heading, *map(_line, own)]
    return "\n".join(lines) + "\n"
