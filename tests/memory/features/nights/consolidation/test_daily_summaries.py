"""A day in a few lines, and in fewer after two days."""

from __future__ import annotations

from datetime import timedelta

from memory.edits import ContentTier
from memory.fact import Origin, Sensitivity
from memory.features.nights.consolidation.plan import LINES, LONG, summarise
from memory.ports import SummaryLine
from tests.memory.features.nights.consolidation.making import NOW, fact
from tests.memory.stores.derived_facts import AT, passage


def told(lines: list[SummaryLine], tier: ContentTier = ContentTier.L1) -> list[str]:
    return [line.text for line in lines if line.tier is tier]


def test_a_day_is_what_was_asked_first_and_what_was_learnt() -> None:
    said = [
        passage("Let us mend the mast today", id="p1"),
        passage("And then paint the boom red", id="p2", turn=2),
        passage("I read that the mast is made of gold", id="p3", origin=Origin.TOOL, session="s2"),
    ]
    learned = [
        fact("The mast is spruce", "f1"),
        fact("The bank code is in the safe", "f2", sensitivity=Sensitivity.RESTRICTED),
    ]
    lines = summarise(said, learned, {}, AT + timedelta(days=1))
    assert told(lines) == ["Let us mend the mast today", "The mast is spruce"]
    assert [line.memory for line in lines] == ["p1", "f1"]


def test_today_is_not_over() -> None:
    assert summarise([passage("Let us mend the mast today")], [fact("The mast is spruce", "f1")], {}, AT) == []


def test_after_two_days_it_is_put_in_short_once_and_the_whole_is_kept() -> None:
    learned = [fact(f"Plank {number} is " + "very " * 50 + "old", f"f{number:02}") for number in range(20)]
    first = summarise([], learned, {}, AT + timedelta(days=1))
    assert len(first) == LINES and not told(first, ContentTier.L0) and all(len(line.text) <= LONG for line in first)
    short = summarise([], [], {AT.date(): first}, NOW)
    assert {line.tier for line in short} == {ContentTier.L0} and len(short) == 3
    assert summarise([], [], {AT.date(): [*first, *short]}, NOW) == []


def test_what_comes_late_is_added_without_telling_anything_twice() -> None:
    early, late = passage("Let us mend the mast today", id="p1"), passage("And paint the boom red", id="p2", turn=2)
    first = summarise([early], [], {}, AT + timedelta(days=1))
    again = summarise([early, late], [fact("The boom is red", "f1")], {AT.date(): first}, AT + timedelta(days=1))
    assert told(again) == ["The boom is red"]
