"""Memories as records, and back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.fact import Fact, FactKind, Origin, Passage, State
from memory.services.transfer.records import InvalidRecord, memory_of, record_of, uses_of
from tests.memory.context.making import NOW, fact, passage

WHOLE = fact(
    "The API uses SQLite",
    wrong="PostgreSQL",
    state=State.SUPERSEDED,
    valid_until=NOW,
    superseded_at=NOW,
    used_at=NOW,
    supersedes=("a", "b"),
    entities=("API",),
    pinned=True,
    access=7,
    sessions=3,
)


def through_json(memory: Fact | Passage, **more: Any) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(orjson.dumps(record_of(memory, **more)))
    return told


@given(st.text(min_size=1).filter(str.strip), st.sampled_from(FactKind), st.sampled_from(Origin), st.floats(0, 1))
def test_a_memory_comes_back_as_it_was(text: str, kind: FactKind, origin: Origin, confidence: float) -> None:
    text = text.encode("utf-8", "ignore").decode() or "x"
    for memory in (
        replace(WHOLE, text=text, kind=kind, origin=origin, confidence=confidence),
        passage(text, question=True),
    ):
        if memory.text.strip():
            assert memory_of(through_json(memory)) == memory


def test_what_a_later_version_adds_is_passed_over() -> None:
    assert memory_of({**through_json(WHOLE), "mood": "sunny"}) == WHOLE


@pytest.mark.parametrize(
    ("field", "value"),
    [("confidence", 1.5), ("confidence", "high"), ("kind", "rumour"), ("recorded_at", "2026-02-30T00:00:00Z"),
     ("recorded_at", "2026-02-03T00:00:00"), ("source", "xyz"), ("access", -1), ("text", " "), ("id", ""),
     ("sort", "song"), ("supersedes", "a"), ("pinned", "yes"), ("layer", None)],
)  # fmt: skip
def test_a_field_of_the_wrong_kind_is_named(field: str, value: object) -> None:
    with pytest.raises(InvalidRecord, match=r"\w"):
        memory_of({**through_json(WHOLE), field: value})


def test_uses_go_along_and_are_checked() -> None:
    record = through_json(WHOLE, uses={"s1": (3, 1, 1)})
    assert uses_of(record) == {"s1": (3, 1, 1)}
    earlier = {**record, "uses": {"s1": [3, 1], "s2": [0, 2]}}
    assert uses_of(earlier) == {"s1": (3, 1, 0), "s2": (0, 2, 2)}, "what was said was not told apart"
    assert uses_of(through_json(WHOLE)) == {}
    with pytest.raises(InvalidRecord):
        uses_of({**record, "uses": {"s1": "often"}})
    with pytest.raises(InvalidRecord):
        uses_of({**record, "uses": {"s1": [1]}})
