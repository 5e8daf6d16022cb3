"""Which facts stand against each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from memory.fact import Fact
from memory.language.contradiction import scoped


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two facts that contradict each other. ``exception`` says that one of them is about a part of what the other is
    about, so that both may hold."""

    older: Fact
    newer: Fact
    exception: bool


def conflicts(facts: Iterable[Fact], now: datetime) -> list[Conflict]:
    """The conflicts among some facts that hold at a moment: what is at odds as a whole first, then the newest."""
    known = {fact.id: fact for fact in facts if not _is_over(fact, now)}
    pairs = {
        tuple(sorted((fact.id, other)))
        for fact in known.values()
        for other in fact.contradicts
        if other in known and other != fact.id
    }
    found = []
    for ids in pairs:
        older, newer = sorted((known[id] for id in ids), key=lambda fact: (fact.valid_from, fact.recorded_at, fact.id))
        found.append(Conflict(older, newer, scoped(older.text, newer.text)))
    newest = sorted(found, key=lambda each: (each.newer.valid_from, each.newer.id, each.older.id), reverse=True)
    return sorted(newest, key=lambda each: each.exception)


def _is_over(fact: Fact, now: datetime) -> bool:
    return any(end is not None and end <= now for end in (fact.expires_at, fact.valid_until))
