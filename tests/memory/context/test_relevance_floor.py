"""What has nothing to do with what is remembered recalls nothing."""

from __future__ import annotations

import pytest

from memory.context.lexical import RelevanceFloor
from memory.fact import FactKind, Origin
from tests.memory.context.making import CHATTER, fact, passage, recalled


@pytest.mark.parametrize(
    "text",
    ["Can you check whether the parser handles tabs in the header?",
     "the linter complains about an unused import in cmd/agent/main.go, please have a look",
     "push it and open a draft PR against the release branch",
     "Wrapper scripts are not recognised on uninstall, add a migration for the old hook names",
     "hi there!"],
)  # fmt: skip
def test_orders_to_a_coding_agent_recall_nothing_of_somebodys_life(text: str) -> None:
    assert recalled(text, CHATTER, cosine=0.1) == []


def test_a_question_about_what_is_remembered_recalls_it() -> None:
    best = recalled("Where did my sister Ida move?", CHATTER)[0]
    assert best.memory.text.startswith("My sister Ida")


def test_an_order_recalls_what_it_is_plainly_about() -> None:
    rule = fact("The upload client retries three times with tenacity.", kind=FactKind.DECISION)
    best = recalled("Let the upload client retry five times with tenacity.", [*CHATTER, rule], cosine=0.7)[0]
    assert best.memory is rule


def test_an_empty_store_recalls_nothing() -> None:
    assert recalled("Where did my sister Ida move?", []) == []


def test_what_was_only_ordered_once_is_no_evidence_for_the_same_order() -> None:
    order = passage("Please add a migration for the renamed quokka table.")
    assert recalled("Add a migration for the quokka table", [*CHATTER, order], cosine=0.6) == []


def test_an_assistants_word_is_evidence() -> None:
    reply = passage("Add the migration for the quokka table under db/.", origin=Origin.ASSISTANT)
    assert recalled("Add a migration for the quokka table", [*CHATTER, reply], cosine=0.9)


def test_a_floor_of_nothing_lets_everything_through() -> None:
    open_floor = RelevanceFloor(seeking=0.0, ordering=0.0, alone=0.0)
    assert recalled("paint the fence", CHATTER, cosine=0.1, floor=open_floor)


@pytest.mark.parametrize("text", ["Good day.", "Paint it!", "Which colour?", "Sounds good to me."])
def test_what_states_nothing_and_shares_no_word_never_comes(text: str) -> None:
    small, stated = passage(text, session="before"), passage("Bo likes whales.", session="earlier still")
    open_floor = RelevanceFloor(seeking=0.0, ordering=0.0, alone=0.0)
    found = recalled("Where did my sister Ida move?", [*CHATTER, small, stated], cosine=0.4, floor=open_floor)
    assert stated in [each.memory for each in found] and small not in [each.memory for each in found]


def test_a_greeting_that_names_a_day_is_no_answer_to_when() -> None:
    said = passage("Ida moves on Thursday.", session="before")
    found = [each.memory for each in recalled("When does Ida move?", [said, passage("Good day.", session="between")])]
    assert found == [said]


def test_one_word_beside_what_was_asked_for_may_be_its_answer() -> None:
    asked = passage("The sister of yours who moved, Ida, is where now?", 1, origin=Origin.ASSISTANT, session="before")
    answer = passage("Lisbon.", 2, session="before")
    assert answer in [each.memory for each in recalled("Where did my sister Ida move?", [asked, answer])]
