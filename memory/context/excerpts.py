"""What stays of the parts that are shed: the lines that a next step is likeliest to need, chosen across all of them.

An overview made of one content alone cannot know what the rest of the session made of it. Here the session decides:
every line competes with every other by the names that are at home on it (:mod:`memory.context.entity_coverage`), within
one budget for all parts. When a later shed brings more, the lines of older parts compete again and can only become
fewer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from memory.actions import Place
from memory.context.entity_coverage import SessionPart, SourceLine, lines

SHARE = 0.35
"""The share of what leaves now that may stay as lines."""

SLACK = 1.2
"""By how much the lines may pass their budget before older parts give some of theirs up: doing that moves the prefix
from further in front."""

SHRUNK = 0.95
"""An older part's lines are only changed when they become shorter than this share."""


@dataclass(frozen=True, slots=True)
class Excerpts:
    """The lines that stay, as text: of the parts that leave now, and of older ones that give some up."""

    new: Mapping[Place, str]
    fewer: Mapping[Place, str]


def excerpts(
    sources: Sequence[SessionPart],
    new: Collection[Place],
    old: Mapping[Place, str],
    removed: int,
    most: int,
    more: int = 0,
) -> Excerpts:
    """Choose among the lines of the competing sources.

    ``new`` are the parts that leave now, ``removed`` their tokens, ``old`` what stays of the parts that left before
    (their sources hold nothing else), ``most`` the tokens of all lines together and ``more`` what
    there may be beyond that and beyond :data:`SHARE` for once.
    """
    standing = sum(len(text) for text in old.values()) // 4
    wished = min(int(removed * SHARE), most)
    again = standing + wished > most * SLACK
    room = (most if again else wished) + more
    chosen: dict[Place, list[SourceLine]] = {}
    for line in lines(sources):
        if (again or line.place in new) and line.tokens < room:
            room -= line.tokens + 1
            chosen.setdefault(line.place, []).append(line)
    texts = {place: _joined(found) for place, found in chosen.items()}
    fewer = {}
    if again:
        for place, text in old.items():
            left = texts.get(place, "")
            if len(left) < len(text) * SHRUNK:
                fewer[place] = left
    return Excerpts({place: texts[place] for place in new if place in texts}, fewer)


def _joined(found: Sequence[SourceLine]) -> str:
    """Lines in their order, one under the other, with a mark where others stood between them."""
    shown: list[str] = []
    last = None
    for line in sorted(found, key=lambda line: line.row):
        if last is not None and line.row != last + 1:
            shown.append(GAP)
        shown.append(line.text)
        last = line.row
    return "\n".join(shown)


GAP = "…"
"""Stands where lines were left out."""
