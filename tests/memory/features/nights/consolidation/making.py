"""Snapshots for the tests: facts with vectors that are as alike as their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from itertools import count

import numpy as np
from hypothesis import strategies as st

from memory.fact import Category, Fact, FactKind, MemoryTier, Origin, Sensitivity, State
from memory.features.nights.consolidation.diff import Diff, FactChange, Touch, applied
from memory.features.nights.consolidation.plan import Rules, plan
from memory.features.nights.consolidation.similarity import likenesses
from memory.features.nights.consolidation.snapshot import Snapshot
from memory.language.words import stems
from memory.ports import Vector
from tests.memory.stores.derived_facts import AT
from tests.memory.stores.derived_facts import fact as made

NOW = AT + timedelta(days=3)


def fact(text: str, id: str, session: str = "s1", days: float = 0, **more: object) -> Fact:
    """A fact that was learnt so many days after the first."""
    at = AT + timedelta(days=days)
    told: dict[str, object] = {"recorded_at": at, "valid_from": at, "importance": 0.8, **more}
    return made(text, id=id, session=session, **told)  # type: ignore[arg-type]


def vectors(texts: Sequence[str]) -> Vector:
    """A row for each text, of length one: its words, each in its own dimension."""
    known = {stem: place for place, stem in enumerate(sorted({stem for text in texts for stem in stems(text)}))}
    rows = np.zeros((len(texts), max(len(known), 1)), dtype=np.float32)
    for row, text in enumerate(texts):
        for stem in stems(text):
            rows[row, known[stem]] = 1.0
        rows[row] /= max(float(np.linalg.norm(rows[row])), 1.0)
    return rows


def snapshot(facts: Sequence[Fact], new: Sequence[str] | None = None, **more: object) -> Snapshot:
    """All of these facts, all of them new unless some are named."""
    active = [fact for fact in facts if fact.state is State.ACTIVE]
    rows = [row for row, fact in enumerate(active) if new is None or fact.id in new]
    pairs = likenesses([fact.id for fact in active], vectors([fact.text for fact in active]), rows, 0.5)
    told: dict[str, object] = {
        "active": Counter(fact.category for fact in active),
        "derived": frozenset(id for fact in facts for id in fact.derived_from),
        "fading": [fact.id for fact in active],
    }
    return Snapshot("up:/ann/boat", {fact.id: fact for fact in facts}, pairs, **{**told, **more})  # type: ignore[arg-type]


def numbered() -> Callable[[], str]:
    """New ids, one after the other."""
    numbers = count(1)
    return lambda: f"new-{next(numbers)}"


def night(facts: Sequence[Fact], rules: Rules | None = None, **more: object) -> tuple[Diff, dict[str, Fact]]:
    """A night over some facts, and the facts after it."""
    looked = snapshot(facts, **more)  # type: ignore[arg-type]
    diff = plan(looked, NOW, rules or Rules(), numbered())
    return diff, applied(looked.facts, diff.changes)


TEXTS = [
    "Use tabs for indentation",
    "Use tabs for indentation!",
    "Please use tabs for indentation everywhere",
    "Never use tabs for indentation",
    "The server listens on port 8080",
    "The server now listens on port 9090",
    "Deploy with docker compose on Fridays",
    "Deploy with docker compose",
    "Ann likes hiking in the mountains",
    "Ann likes hiking in the high mountains",
    "Ann no longer likes hiking",
]


@st.composite
def stores(draw: st.DrawFn) -> list[Fact]:
    """Some facts of one owner, many of them alike, of every kind and origin."""
    return [
        fact(
            draw(st.sampled_from(TEXTS)),
            f"f{number}",
            f"s{draw(st.integers(0, 4))}",
            days=draw(st.integers(-900, 2)),
            origin=draw(st.sampled_from(Origin)),
            kind=draw(st.sampled_from(FactKind)),
            category=draw(st.sampled_from(list(Category)[:2])),
            sensitivity=draw(st.sampled_from(Sensitivity)),
            state=draw(st.sampled_from([State.ACTIVE, State.ACTIVE, State.ACTIVE, State.SUPERSEDED])),
            tier=draw(st.sampled_from([MemoryTier.SHORT_TERM, MemoryTier.SHORT_TERM, MemoryTier.LONG_TERM])),
            sessions=draw(st.integers(1, 3)),
            importance=draw(st.sampled_from([0.5, 0.8])),
            access=draw(st.integers(1, 9)),
            confidence=draw(st.sampled_from([0.1, 0.5, 0.9])),
            pinned=draw(st.booleans()) and draw(st.booleans()),
            wrong=draw(st.sampled_from(["", "", "Use spaces for indentation"])),
            used_at=draw(st.sampled_from([None, NOW - timedelta(days=1)])),
        )
        for number in range(draw(st.integers(0, 12)))
    ]


def inverse(changes: Iterable[FactChange]) -> tuple[FactChange, ...]:
    """The changes that take these back, in the order in which they have to be applied."""
    return tuple(
        FactChange(
            change.action, change.why, tuple(Touch(touch.after, touch.before) for touch in reversed(change.touched))
        )
        for change in reversed(tuple(changes))
    )
