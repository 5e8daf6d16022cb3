"""The same thing once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.context.diversity import Diversity, diverse, same
from memory.context.rank import Scored
from memory.language.terms import words_of
from tests.memory.context.making import CHATTER, fact, passage, scored


def test_near_identical_memories_are_shown_once_and_the_better_one() -> None:
    first = fact("The staging database listens on port 5433.")
    again = fact("The staging database listens on the port 5433!")
    assert [each.memory for each in diverse(scored(first, again))] == [first]


def test_a_fact_gives_way_to_the_passage_that_holds_it() -> None:
    taken = fact("The staging database listens on port 5433.", source=b"turn")
    whole = passage("Sorry, my mistake. The staging database listens on port 5433, not 5432.", source=b"turn")
    best, *others = diverse([Scored(taken, 0.9), Scored(whole, 0.4)])
    assert best.memory is whole
    assert best.score == 0.9
    assert not others


def test_a_fact_of_another_message_stays() -> None:
    taken = fact("The staging database listens on port 5433.")
    whole = passage("The staging database listens on port 5433 since the move to the new host in Oslo.")
    assert len(diverse(scored(taken, whole))) == 2


def test_what_denies_another_is_not_the_same() -> None:
    held, denied = passage("The release manager is Bo."), passage("The release manager isn't Bo.")
    assert {each.id for each in diverse(scored(held, denied))} == {held.id, denied.id}


def test_what_else_a_contested_passage_says_stays() -> None:
    rival = fact("I don't like tea.", id="rival")
    tea = fact("I like tea.", source=b"turn", contradicts=("rival",))
    dog = fact("I have a dog called Rex.", source=b"turn")
    whole = passage("I like tea. I have a dog called Rex.", source=b"turn")
    for order in ((dog, tea), (tea, dog)):
        taken = [each.memory for each in diverse(scored(*order, whole, rival))]
        assert tea in taken and (whole in taken or dog in taken)
    alone = passage("I like tea, yes.", source=b"turn")
    assert alone not in [each.memory for each in diverse(scored(tea, alone, rival))]


def test_likeness_to_what_was_taken_costs_rank() -> None:
    first = passage("We sailed to the island with Ada and the dog on Monday.")
    alike = passage("We sailed to the island with Ada and the cat on Tuesday, again.")
    other = passage("The harbour fee is nine euros.")
    taken = diverse([Scored(first, 1.0), Scored(alike, 0.9), Scored(other, 0.8)], Diversity(likeness=0.5))
    assert [each.memory for each in taken] == [first, other, alike]


def test_nothing_of_nothing() -> None:
    assert diverse([]) == []


def test_texts_without_words_are_kept_apart() -> None:
    assert len(diverse(scored(passage("…"), passage("?!")))) == 2


@given(st.lists(st.sampled_from([each.text for each in CHATTER]), max_size=12))
def test_taking_is_a_choice_of_what_was_there_each_text_once(chosen: list[str]) -> None:
    memories = [passage(text) for text in chosen]
    taken = [each.memory.text for each in diverse(scored(*memories))]
    assert len(taken) == len(set(taken))
    assert set(taken) == set(chosen)


@given(st.text(max_size=80), st.text(max_size=80))
def test_sameness_has_no_direction(left: str, right: str) -> None:
    assert same(words_of(left), words_of(right)) == same(words_of(right), words_of(left))
