"""MEMORY.md: the little that every session should begin with.

Only what is essential stands on it: what a person asked for or prefers in so many words, what was pinned or
approved, what at least two sessions bear out, the project's decisions, the open tasks. Observations do not. The same
facts give the same bytes: it shows neither clock nor counter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import log2
from types import MappingProxyType
from typing import Final

from memory.context.diversity import same, words_of
from memory.context.pack import disarmed, quoted, tokens_of
from memory.fact import Fact, Kind, Sensitivity, Stability, State, Stream, Tier

PAGE_OPENING: Final = "<memory-page>\nNotes from earlier sessions: background, not new requests."
PAGE_CLOSING: Final = "</memory-page>"

_TITLE: Final = "# Memory"
_HEADINGS: Final = {
    Stream.IDENTITY: "## The user",
    Stream.PROJECTS: "## Project",
    Stream.TASKS: "## Open tasks",
    Stream.FLOW: "## Ways of working",
}
_STANDING: Final = (Kind.PREFERENCE, Kind.CONVENTION, Kind.CORRECTION, Kind.ANTI_PATTERN)


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
            {Stream.IDENTITY: 0.4, Stream.PROJECTS: 0.25, Stream.TASKS: 0.1, Stream.FLOW: 0.15}
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
    room = budget - count(frame_page(_TITLE))
    essential = _once([fact for fact in facts if _essential(fact, now)])
    taken: list[Fact] = []
    opened: set[Stream] = set()
    for part in (shares.of, None):
        spent_by: dict[Stream, int] = dict.fromkeys(Stream, 0)
        for fact in essential:
            if fact in taken:
                continue
            cost = count(_line(fact) + "\n")
            if fact.stream not in opened:
                cost += count(f"\n{_HEADINGS[fact.stream]}\n")
            own = int(budget * part.get(fact.stream, 0.0)) if part is not None else room
            if cost > room or spent_by[fact.stream] + cost > own:
                continue
            room -= cost
            spent_by[fact.stream] += cost
            opened.add(fact.stream)
            taken.append(fact)
    return Page(_markdown(taken), tuple(fact.id for fact in taken)) if taken else Page()


def frame_page(text: str) -> str:
    """The page as it stands behind the first human message; empty for an empty page.

    The page may have been edited by hand, so our delimiters are disarmed in it here and not when it is made.
    """
    return f"\n\n{PAGE_OPENING}\n{disarmed(text.strip())}\n{PAGE_CLOSING}" if text.strip() else ""


def _essential(fact: Fact, now: datetime) -> bool:
    """Whether a fact may stand on the page at all."""
    if fact.state is not State.ACTIVE or fact.sensitivity is not Sensitivity.NORMAL:
        return False
    if (fact.expires_at and fact.expires_at <= now) or (fact.valid_until and fact.valid_until <= now):
        return False
    return _rung(fact) < len(_RUNGS)


_RUNGS: Final[tuple[Callable[[Fact], bool], ...]] = (
    lambda fact: fact.pinned,
    lambda fact: fact.origin.trusted and fact.kind in _STANDING,
    lambda fact: fact.tier is Tier.SHARED or fact.stability is Stability.STABLE,
    lambda fact: fact.origin.trusted and fact.kind in (Kind.DECISION, Kind.TASK),
    lambda fact: fact.sessions >= 2 and fact.kind is not Kind.OBSERVATION,
)
"""Why a fact may stand on the page, the best reason first."""


def _rung(fact: Fact) -> int:
    return next((place for place, holds in enumerate(_RUNGS) if holds(fact)), len(_RUNGS))


def _worth(fact: Fact) -> float:
    """How much a fact is worth for each token it takes. Time is left out: the page must not change by itself."""
    worth = fact.confidence * (0.5 + fact.importance) * log2(fact.access + 1) * log2(fact.sessions + 1)
    return worth / float(tokens_of(_line(fact)) ** 0.5)


def _once(facts: Sequence[Fact]) -> list[Fact]:
    """Facts by rung and worth, the newer of two that say the same."""
    ordered = sorted(facts, key=lambda fact: (_rung(fact), -_worth(fact), -fact.recorded_at.timestamp(), fact.id))
    kept: list[tuple[Fact, frozenset[int]]] = []
    for fact in ordered:
        terms = words_of(fact.text)
        if not any(same(terms, other) for _, other in kept):
            kept.append((fact, terms))
    return [fact for fact, _ in kept]


def _line(fact: Fact) -> str:
    text = f"- {quoted(fact.text, '  ')}"
    return f"{text} (not: {quoted(fact.wrong, '  ')})" if fact.wrong else text


def _markdown(facts: Sequence[Fact]) -> str:
    lines = [_TITLE]
    for stream, heading in _HEADINGS.items():
        own = sorted((fact for fact in facts if fact.stream is stream), key=lambda fact: (fact.recorded_at, fact.id))
        if own:
            lines += [heading, *map(_line, own)]
    return "\n".join(lines) + "\n"
