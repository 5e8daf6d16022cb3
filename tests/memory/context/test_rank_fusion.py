"""Several searches in one ranking."""

from __future__ import annotations

from memory.context.rank import Scored
from memory.context.search_results import BONUS, LOOKED_AT, SearchPass, answered_already, brings_new, fused
from tests.memory.context.making import asked, passage, weighed_for

ONE, TWO, THREE = (passage(text, turn) for turn, text in enumerate(("the first", "the second", "the third"), start=1))
QUESTION = asked("Where does Ida live now?")


def round_of(*scored: Scored, weight: float = 1.0) -> SearchPass:
    return SearchPass(QUESTION, weighed_for(QUESTION, [ONE]), (), scored, weight)


def test_one_round_is_its_own_ranking() -> None:
    ranking = [Scored(ONE, 0.9), Scored(TWO, 0.5)]
    assert fused([round_of(*ranking)]) == ranking


def test_a_memory_counts_for_the_part_that_it_fits_best() -> None:
    found = fused([round_of(Scored(ONE, 0.5)), round_of(Scored(TWO, 0.8), weight=0.9)])
    assert [(each.memory, round(each.score, 3)) for each in found] == [(TWO, 0.72), (ONE, 0.5)]


def test_what_several_parts_find_gains_a_little() -> None:
    found = fused([round_of(Scored(ONE, 0.5), Scored(TWO, 0.5)), round_of(Scored(TWO, 0.4), weight=0.9)])
    assert [each.memory for each in found] == [TWO, ONE]
    assert found[0].score == 0.5 + BONUS
    assert found[0].why["parts"] == 1.0


def test_a_round_that_finds_what_is_known_brings_nothing_new() -> None:
    known = [round_of(Scored(ONE, 0.5), Scored(TWO, 0.4))]
    assert not brings_new(known, round_of(Scored(TWO, 0.9)))
    assert brings_new(known, round_of(Scored(THREE, 0.1)))
    assert not brings_new(known, round_of())


def test_a_part_that_one_of_the_best_answers_need_not_be_searched() -> None:
    lives, other = passage("Ida came to live in Oslo", 1), passage("The boat is red", 2)
    part = weighed_for(QUESTION, [lives, other])
    assert answered_already(round_of(Scored(other, 0.9), Scored(lives, 0.5)), part)
    assert not answered_already(round_of(Scored(other, 0.9)), part)
    assert not answered_already(round_of(*[Scored(other, 0.9)] * LOOKED_AT, Scored(lives, 0.5)), part)
