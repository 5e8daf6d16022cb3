"""What stands beside what was found."""

from __future__ import annotations

from memory.context.neighbours import Place, Reach, joined, wanted
from memory.context.rank import Scored
from memory.fact import Sensitivity
from tests.memory.context.making import NOW, fact, passage

FOUND = passage("The password of the lock was changed after the flood.", 7)


def test_the_places_of_the_best_passages_are_wanted_each_once() -> None:
    ranking = [
        Scored(fact("x y z"), 1.0),
        Scored(FOUND, 0.9),
        Scored(passage("second piece", 7, piece=1), 0.8),
        Scored(passage("elsewhere", 2, session="other"), 0.7),
        Scored(passage("too far down", 3, session="other"), 0.6),
    ]
    assert wanted(ranking, Reach(best=2)) == (Place("earlier", 7), Place("other", 2))


def test_a_neighbour_has_a_share_of_the_score_of_what_it_stands_beside() -> None:
    behind = passage("Ask Bo for the new one.", 8)
    ranking = joined([Scored(FOUND, 0.9)], [behind], NOW, reach=Reach(share=0.5))
    assert [each.memory for each in ranking] == [FOUND, behind]
    assert ranking[1].score == 0.45


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
    assert joined([known], unwanted, NOW, present=frozenset({there.id})) == [known]


def test_nothing_found_nothing_wanted() -> None:
    assert wanted([]) == ()
    assert joined([], [FOUND], NOW) == []
