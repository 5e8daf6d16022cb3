"""What stands beside what was found."""

from __future__ import annotations

import pytest

from memory.context.later_remarks import Reach, TurnRef, anchors, joined
from memory.context.rank import Scored
from memory.context.route import route_of
from memory.fact import Sensitivity
from tests.memory.context.making import fact, passage

FOUND = passage("The password of the lock was changed after the flood.", 7)


def test_one_looks_beside_the_best_turns_each_once() -> None:
    ranking = [
        Scored(fact("x y z"), 1.0),
        Scored(FOUND, 0.9),
        Scored(passage("second piece", 7, piece=1), 0.8),
        Scored(passage("elsewhere", 2, session="other"), 0.7),
        Scored(passage("too far down", 3, session="other"), 0.6),
    ]
    assert list(anchors(ranking, reach=Reach(best=2))) == [TurnRef("earlier", 7), TurnRef("other", 2)]


def test_one_looks_behind_a_question_of_then_too() -> None:
    asked = Scored(passage("Which of them did you take?", 3, question=True), 0.95)
    assert list(anchors([Scored(FOUND, 0.9)], [asked])) == [TurnRef("earlier", 3), TurnRef("earlier", 7)]


def test_a_neighbour_has_a_share_of_the_score_of_what_it_stands_beside() -> None:
    behind, further = passage("Ask Bo for the new one.", 8), passage("He has it on paper.", 9)
    found = [Scored(FOUND, 0.9)]
    ranking = joined(found, [further, behind], anchors(found), reach=Reach(share=0.5, further=0.5))
    assert [each.memory for each in ranking] == [FOUND, behind, further]
    assert [each.score for each in ranking] == pytest.approx([0.9, 0.45, 0.225])


def test_the_turn_behind_a_question_has_most_of_what_the_question_has() -> None:
    asked = Scored(passage("Who has the new one?", 3, question=True), 0.8)
    before, behind = passage("It rained.", 2), passage("Bo has.", 4)
    ranking = joined([], [before, behind], anchors([], [asked]), reach=Reach(answer=0.9, before=0.5))
    assert [(each.memory, each.score) for each in ranking] == [(behind, pytest.approx(0.72)), (before, 0.4)]


def test_a_nod_beside_what_was_found_is_left_out() -> None:
    nod, said = passage("Sounds good to me.", 8), passage("Bo has it.", 8, piece=1)
    found = [Scored(FOUND, 0.9)]
    assert [each.memory for each in joined(found, [nod, said], anchors(found))] == [FOUND, said]


def test_a_neighbour_that_was_found_by_itself_keeps_the_better_score() -> None:
    weak, strong = Scored(passage("Bo has it.", 8), 0.1), Scored(passage("And Ida.", 6), 0.85)
    found = [Scored(FOUND, 0.9), strong, weak]
    ranking = joined(found, [weak.memory, strong.memory], anchors(found, reach=Reach(best=1)))  # type: ignore[list-item]
    assert [each.memory for each in ranking] == [FOUND, strong.memory, weak.memory]
    assert ranking[1].score == 0.85
    assert ranking[2].score == pytest.approx(0.63)


def test_a_neighbour_in_the_words_of_the_one_who_is_asked_about_comes_first() -> None:
    hers, his = passage("It hurt.", 8, speaker="Ida"), passage("Then it rained.", 6, speaker="Bo")
    found = [Scored(FOUND, 0.9)]
    ranking = joined(found, [his, hers], anchors(found), route=route_of("How did Ida feel?"))
    assert [each.memory for each in ranking] == [FOUND, hers, his]


def test_questions_restricted_passages_and_what_is_known_or_present_are_not_joined() -> None:
    known = Scored(FOUND, 0.9)
    there = passage("It stands in the request.", 8)
    unwanted = [
        passage("Which one was it?", 8, question=True),
        passage("Kept back.", 8, sensitivity=Sensitivity.RESTRICTED),
        there,
        FOUND,
        passage("Far away.", 12),
    ]
    assert joined([known], unwanted, anchors([known]), passed_over=frozenset({there.id})) == [known]


def test_nothing_found_nothing_beside() -> None:
    assert anchors([]) == {}
    assert joined([], [FOUND], {}) == []
