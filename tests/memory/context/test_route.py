"""Where questions point."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory.context.question import ask
from memory.context.rank import WEIGHTS, rank
from memory.context.route import NOWHERE, about_then, parts_of, route_of
from memory.fact import FactKind, Origin
from memory.language.time_spans import Span
from tests.memory.context.making import NOW, SAID, conversation, fact, found, passage, person, weighed_for


def test_the_words_of_the_one_who_is_asked_about_come_first() -> None:
    hers = passage("The move to the new flat was hard.", 1, speaker="Ida")
    his = passage("So the move to the new flat was hard for Ida.", 2, speaker="Bo")
    question = ask(conversation(person("What did Ida's move to the new flat teach her?")), NOW)
    assert question is not None
    ranking = rank(question, weighed_for(question, [hers, his]), found(question, [his, hers]), NOW)
    assert [each.memory for each in ranking] == [hers, his]
    assert ranking[0].why["person"] == 1.0


@pytest.mark.parametrize(
    ("question", "fits", "fits_not"),
    [
        ("When did she move?", "She moved in last March.", "She moved."),
        ("How many fixes are planned?", "I have three fixes planned.", "Fixes are planned."),
        ("How much did the new sail cost?", "We paid $340 for the sail.", "Two of us bought the sail in 2024."),
        ("How much did we pay for the sail?", "It was 340 euros.", "All three sails are paid."),
        ("Where does Ida live?", "She lives in Lisbon.", "She lives there."),
    ],
)
def test_a_text_that_has_such_an_answer_fits(question: str, fits: str, fits_not: str) -> None:
    route = route_of(question)
    assert parts_of(route, passage(fits)).get("answer") == 1.0
    assert "answer" not in parts_of(route, passage(fits_not))


def test_advice_heeds_the_asker_s_own_words_and_likes() -> None:
    likes = fact("I like tea.", kind=FactKind.PREFERENCE)
    assert parts_of(route_of("What should I drink?", advice=True), likes) == {"own": 1.0, "liking": 1.0}
    assert parts_of(route_of("What do I drink?"), likes) == {}
    theirs = passage("Coffee is popular.", origin=Origin.ASSISTANT)
    assert parts_of(route_of("What should I drink?", advice=True), theirs) == {}


def test_a_time_reaches_a_little_before_and_further_behind_itself() -> None:
    day = Span(SAID, SAID + timedelta(days=1))
    near = [about_then(passage("x", at=SAID + timedelta(days=step)), [day]) for step in (-3, -1, 0, 1, 3, 9)]
    assert near == [0.0, 0.5, 1.0, 1.0, 0.5, 0.0]
    assert about_then(fact("x", valid_from=datetime(2020, 1, 1, tzinfo=UTC)), [day]) == 0.0


def test_a_question_that_names_a_time_does_not_search_for_its_words() -> None:
    question = ask(conversation(person("What did Ida say about the garden on 4 May, 2026?")), NOW)
    assert question is not None
    assert "2026" not in question.text
    assert [f"{span.begin:%F}" for span in question.route.spans] == ["2026-05-04"]


def test_orders_point_nowhere() -> None:
    question = ask(conversation(person("Rename the folder of the garden app, as Ida said on 4 May.")), NOW)
    assert question is not None
    assert question.route is NOWHERE


def test_the_parts_weigh_what_the_weights_say() -> None:
    assert WEIGHTS.extra({"person": 1.0, "time": 0.5, "coverage": 1.0}) == pytest.approx(
        WEIGHTS.person + WEIGHTS.time / 2
    )


def test_the_message_is_kept_with_its_time() -> None:
    timed = ask(conversation(person("What did we use for the queue until March 2026?")), NOW)
    assert timed is not None
    assert timed.said == "What did we use for the queue until March 2026?"
    plain = ask(conversation(person("What do we use for the queue?")), NOW)
    assert plain is not None and plain.said == "What do we use for the queue?" and not plain.whole


def test_what_only_tells_a_time_has_nothing_to_do_with_a_question_for_one() -> None:
    asked = passage("The backup of the ledger starts at 04:30.", 1)
    beside = passage("Our podcast comes out on Thursday at 10:15.", session="another")
    question = ask(conversation(person("When does the backup of the ledger start?")), NOW)
    assert question is not None
    weighed, hits = weighed_for(question, [asked, beside]), found(question, [asked, beside], cosine=0.15)
    assert all(hit.lexical == 0 for hit, memory in hits if memory is beside)
    assert [each.memory for each in rank(question, weighed, hits, NOW)] == [asked]
