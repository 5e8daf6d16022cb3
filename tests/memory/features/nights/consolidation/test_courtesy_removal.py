"""Courtesies are left out of what recall shows, and counted as if they stood there."""

from __future__ import annotations

from memory.context.pack import WHOLE, pack, tokens_of
from memory.features.nights.consolidation.compaction import ShortenedPassage, plain
from tests.memory.context.making import NOW, passage, scored

TALK = (
    "Ida: Thanks, Bo! We went to the lake with the whole family on Sunday, and in the evening she lost her silver ring "
    "on the pier, the one that her grandmother had brought from Lisbon before the war."
)
START, END = len("Ida: "), len("Ida: Thanks, Bo! ")


def test_where_nearly_all_stays_courtesies_are_left_out() -> None:
    held = passage(TALK)
    assert plain([held]) == [ShortenedPassage(held.id, ((START, END),))]


def test_a_short_passage_stays_whole() -> None:
    assert plain([passage("Ida: Thanks, Bo! We sold the boat."), passage("Thanks!"), passage("")]) == []


def test_recall_shows_it_without_them_and_finds_room_for_no_more() -> None:
    whole, short = passage(TALK), passage(TALK, gaps=((START, END),))
    more = [passage(f"Something else of the same evening, number {number}.", number) for number in range(1, 40)]
    for budget in range(120, 160):
        full, plainer = pack(scored(whole, *more), budget, NOW), pack(scored(short, *more), budget, NOW)
        assert "Thanks, Bo!" in full.text
        assert plainer.text == full.text.replace("Thanks, Bo! ", "")
        assert len(plainer.shown) == len(full.shown) < len(more)
        assert tokens_of(plainer.text) < tokens_of(full.text)


def test_where_only_the_beginning_is_shown_nothing_is_left_out_and_nothing_counted() -> None:
    long = "Ida: Thanks, Bo! We went to the lake. " + "Thanks, Bo! " * 40 + "She lost her ring."
    found = [passage(f"Bo: We sold boat {number}.", number) for number in range(WHOLE)]
    short = passage(long, WHOLE, preview=len("Ida: Thanks, Bo! We went to the lake."), gaps=((38, 38 + 40 * 12),))
    assert short.plain.endswith("We went to the lake. She lost her ring.")
    told = pack(scored(*found, short), 150, NOW)
    assert "Ida: Thanks, Bo! We went to the lake. […]" in told.text
