"""What is old and unread is put in short."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.context.pack import pack
from memory.features.nights.consolidation.compaction import LONG, SHARE, ShortenedMemory, compact
from memory.language.terms import words_of
from tests.memory.context.making import NOW, fact, passage, scored

TALK = (
    "Yes. We went to the lake with the whole family on Sunday. The water was cold, the children swam all the same, and "
    "in the evening Ida lost her silver ring on the pier."
)
FIRST = "Yes. We went to the lake with the whole family on Sunday."


def test_the_first_sentence_that_says_something_stands_for_the_whole() -> None:
    held = passage(TALK)
    assert compact([held]) == [ShortenedMemory(held.id, len(FIRST))]
    assert passage(TALK, preview=len(FIRST)).brief == f"{FIRST} […]"


def test_courtesies_alone_stand_for_nothing() -> None:
    begun = "Hey Mel! Thank you so much for sharing! We went to the lake with the whole family."
    held = passage(
        f"{begun} The water was cold, and in the evening Ida lost her silver ring on the pier of the marina."
    )
    assert compact([held]) == [ShortenedMemory(held.id, len(begun))]


def test_what_is_short_or_one_sentence_stays() -> None:
    assert compact([passage("Short. And sweet."), fact("One long sentence " * 30)]) == []


@given(st.text(max_size=600))
def test_a_preview_is_the_beginning_and_never_nearly_the_whole(text: str) -> None:
    for preview in compact([passage(text)]):
        assert len(text) > LONG
        assert 0 < preview.characters <= SHARE * len(text)


def test_recall_shows_the_preview_unless_it_is_among_the_best_or_the_rest_is_asked_for() -> None:
    others = [passage(f"Something else number {number}.", number) for number in range(4)]
    old = passage(TALK, 9, preview=len(FIRST))
    assert "silver" not in pack(scored(*others, old), 600, NOW).text
    assert "silver" in pack(scored(old, *others), 600, NOW).text
    assert "silver" in pack(scored(*others, old), 600, NOW, question_ids=words_of("Where is the ring?")).text
