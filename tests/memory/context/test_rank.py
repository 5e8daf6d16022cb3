"""Candidates, scored."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.lexical import RelevanceFloor
from memory.context.rank import Memory, Weights, rank
from memory.context.temporal_questions import TimeInterval
from memory.fact import Sensitivity, State
from memory.ports import IndexHit
from tests.memory.context.making import CHATTER, NOW, asked, fact, found, passage, recalled, weighed_for

OPEN = RelevanceFloor(seeking=0.0, ordering=0.0)
IDA = "Where did my sister Ida move?"


def texts(question: str, memories: list[Memory], **more: object) -> list[str]:
    return [each.memory.text for each in recalled(question, memories, **more)]  # type: ignore[arg-type]


def test_the_parts_of_a_score_are_told() -> None:
    best = recalled(IDA, CHATTER)[0]
    assert set(best.why) == {"coverage", "cosine", "beside", "recency", "importance", "strength", "answer"}
    assert all(0.0 <= part <= 1.0 for part in best.why.values())


@pytest.mark.parametrize(
    "hidden",
    [
        fact("My sister Ida moved to Lisbon.", state=State.SUPERSEDED),
        fact("My sister Ida moved to Lisbon.", state=State.ARCHIVED),
        fact("My sister Ida moved to Lisbon.", sensitivity=Sensitivity.RESTRICTED),
        fact("My sister Ida moved to Lisbon.", expires_at=NOW - timedelta(days=1)),
        passage("My sister Ida moved to Lisbon.", sensitivity=Sensitivity.RESTRICTED),
        passage("My sister Ida moved to Lisbon.", session="this one"),
    ],
)
def test_superseded_archived_expired_restricted_and_own_memories_are_never_shown(hidden: Memory) -> None:
    assert hidden not in [each.memory for each in recalled(IDA, [*CHATTER, hidden], session="this one")]


def test_a_question_about_the_past_finds_what_is_over_and_held_then() -> None:
    ended = NOW - timedelta(days=1)
    over = fact("My sister Ida moved to Lisbon.", expires_at=ended, valid_until=ended)
    assert over in [each.memory for each in recalled(IDA, [*CHATTER, over], past=TimeInterval(None, NOW))]
    assert over not in [each.memory for each in recalled(IDA, [*CHATTER, over], past=TimeInterval(NOW, None))]


def test_what_stands_in_the_request_already_is_not_shown_again() -> None:
    told = CHATTER[2]
    assert told not in [each.memory for each in recalled(IDA, CHATTER, present=frozenset({told.id}))]


def test_a_turn_is_not_shown_when_the_page_has_the_fact_taken_from_it() -> None:
    turn = passage("My sister Ida moved to Lisbon.", source=b"one turn")
    taken = fact("My sister Ida moved to Lisbon on 2026-03-02.", source=b"one turn")
    assert turn.text not in texts(IDA, [*CHATTER, turn, taken], present=frozenset({taken.id}))


def test_an_earlier_question_is_not_an_answer_but_lends_weight_to_the_turn_behind_it() -> None:
    question = passage("Where did your sister Ida move?", 31, question=True)
    answer = passage("Lisbon, in March.", 32)
    elsewhere = passage("Lisbon, in March, of all months.", 40)
    order = texts(IDA, [question, answer, elsewhere, *CHATTER], floor=OPEN)
    assert question.text not in order
    assert order.index(answer.text) < order.index(elsewhere.text)


def test_what_shares_no_word_and_no_meaning_does_not_fill_the_place_that_is_left() -> None:
    answer, other = passage("My sister Ida moved to Lisbon.", 80), passage("The build runs on two cores.", 90)
    for cosine, shown in ((0.19, [answer]), (0.2, [answer, other])):
        hits = [(IndexHit(answer.id, 0.8, 5.0), answer), (IndexHit(other.id, cosine, 0.0), other)]
        ranked = rank(asked(IDA), weighed_for(asked(IDA), [answer, other]), hits, NOW)
        assert [each.memory for each in ranked] == shown


def test_of_two_equal_memories_the_newer_one_comes_first() -> None:
    old = passage("Ida moved to a flat in Lisbon.", 50, at=NOW - timedelta(days=400))
    new = passage("Ida moved to a house in Lisbon.", 60, at=NOW - timedelta(days=1))
    order = texts("Where did Ida move in Lisbon?", [old, new, *CHATTER])
    assert order.index(new.text) < order.index(old.text)


def test_confidence_and_use_break_ties_between_facts() -> None:
    weak = fact("Ida moved to a flat in Lisbon.", confidence=0.3)
    strong = fact("Ida moved to a house in Lisbon.", confidence=0.9, access=6, sessions=3)
    order = texts("Where did Ida move in Lisbon?", [weak, strong, *CHATTER])
    assert order.index(strong.text) < order.index(weak.text)


def test_no_candidates_no_ranking() -> None:
    question = asked(IDA)
    assert rank(question, weighed_for(question, []), [], NOW) == []


@given(st.permutations(range(len(CHATTER))), st.floats(0.0, 1.0))
def test_the_order_of_the_candidates_does_not_matter(order: list[int], cosine: float) -> None:
    straight = recalled(IDA, CHATTER, cosine)
    mixed = recalled(IDA, [CHATTER[place] for place in order], cosine)
    assert [each.id for each in straight] == [each.id for each in mixed]


@given(st.floats(0.0, 1.0))
def test_nothing_comes_through_that_was_not_a_candidate(cosine: float) -> None:
    question = asked(IDA)
    candidates = found(question, CHATTER, cosine)
    ranked = rank(question, weighed_for(question, CHATTER), candidates, NOW, floor=OPEN)
    assert {each.id for each in ranked} <= {hit.id for hit, _ in candidates}
    assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)


def test_weights_of_nothing_are_no_division_by_nothing() -> None:
    question = asked(IDA)
    nothing = Weights(coverage=0.0, cosine=0.0)
    assert rank(question, weighed_for(question, CHATTER), found(question, CHATTER), NOW, weights=nothing, floor=OPEN)


def test_a_memory_of_the_future_is_as_recent_as_can_be() -> None:
    ahead = replace(CHATTER[2], at=NOW + timedelta(days=9))
    assert recalled(IDA, [ahead])[0].why["recency"] == 1.0


def test_a_fact_that_the_request_tells_in_part_comes_and_its_passage_does_not() -> None:
    said = "Ida wants the lamp by the window, her eyes hurt at the desk."
    told, turn = fact(said, source=b"lamp"), passage(said, source=b"lamp")
    found = recalled("Where do Ida's eyes hurt?", [*CHATTER, told, turn], present={told.id}, untold={told.id})
    assert [each.memory for each in found if each.memory in (told, turn)] == [told]
