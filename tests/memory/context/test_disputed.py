"""What the talk contradicts is marked, and what is contested is shown from both sides."""

from __future__ import annotations

from datetime import timedelta

from memory.context.diversity import diverse
from memory.context.pack import OUTDATED, SCOPED, SIDES, UNSETTLED, doubter, pack, rivals_of, showable, sides, tokens_of
from memory.fact import Origin, Sensitivity, State
from tests.memory.context.making import NOW, SAID, fact, passage, scored

PORT = fact("The billing service listens on port 8443.")
FRIDAY = fact("We deploy on Fridays.", id="friday", contradicts=("never",), recorded_at=SAID)
NEVER = fact("We never deploy on Fridays.", id="never", contradicts=("friday",), recorded_at=SAID + timedelta(days=2))


def test_a_memory_that_the_newest_message_contradicts_is_marked() -> None:
    said = "The billing service listens on port 9000 now. Please write the client."
    assert doubter(said)(PORT)
    assert OUTDATED in pack(scored(PORT), 600, NOW, value=said).text
    assert OUTDATED not in pack(scored(PORT), 600, NOW, value="Write a client of the billing service.").text
    in_talk = passage("We met today. The billing service listens on port 8443.")
    assert doubter(said)(in_talk)


def test_a_question_and_a_claim_of_its_own_scope_contradict_nothing() -> None:
    assert not doubter("Does the billing service listen on port 9000?")(PORT)
    assert not doubter("The login service listens on port 9000.")(PORT)
    assert not doubter("")(PORT)


def test_what_no_person_said_is_not_compared() -> None:
    heard = fact(PORT.text, origin=Origin.TOOL)
    assert not doubter("The billing service listens on port 9000.")(heard)


def test_both_sides_stand_under_a_heading_and_what_was_borne_out_last_first() -> None:
    text = pack(scored(FRIDAY, PORT), 600, NOW, rivals=[NEVER]).text
    lines = text.splitlines()
    at = lines.index(UNSETTLED)
    assert lines[at + 1] == "2026-05-04 user: We never deploy on Fridays."
    assert lines[at + 2] == "2026-05-04 user: We deploy on Fridays."
    again = fact(FRIDAY.text, id="friday", contradicts=("never",), used_at=NOW)
    assert sides(NEVER, [again]) == [again, NEVER]


def test_both_are_told_of_as_shown_and_stay_within_the_budget() -> None:
    packed = pack(scored(FRIDAY, PORT), 600, NOW, rivals=[NEVER])
    assert {each.memory for each in packed.shown} == {"friday", "never", PORT.id}
    for budget in range(0, 120, 7):
        text = pack(scored(FRIDAY, PORT), budget, NOW, rivals=[NEVER]).text
        assert tokens_of(text) <= budget
        # Where there is no room for both, neither is told as if it were certain.
        assert (FRIDAY.text in text) is (NEVER.text in text)


def test_a_rule_and_its_exception_stand_under_a_heading_of_their_own() -> None:
    rule = fact("The release manager is Priya.", id="rule", contradicts=("part",))
    part = fact("The docs release manager is Tomas.", id="part", contradicts=("rule",))
    rival = fact("The release manager is Anna.", id="rival", contradicts=("rule",))
    assert SCOPED in pack(scored(rule), 600, NOW, rivals=[part]).text
    assert UNSETTLED in pack(scored(rule), 600, NOW, rivals=[part, rival]).text


def test_rivals_that_are_not_shown_are_asked_for_and_only_what_holds_is_shown() -> None:
    assert rivals_of([FRIDAY, PORT]) == ["never"]
    assert rivals_of([FRIDAY, NEVER]) == []
    gone = fact("x", state=State.SUPERSEDED)
    hidden = fact("x", sensitivity=Sensitivity.RESTRICTED)
    over = fact("x", expires_at=NOW)
    assert showable([gone, hidden, over, passage("x"), NEVER], NOW) == [NEVER]


def test_a_contested_fact_is_not_hidden_behind_the_talk_that_it_came_from() -> None:
    talk = passage(FRIDAY.text, source=FRIDAY.source)
    assert FRIDAY in [each.memory for each in diverse(scored(talk, FRIDAY))]


def test_of_a_rule_with_dozens_of_exceptions_those_are_told_that_were_borne_out_last() -> None:
    names = [f"e{number:02}" for number in range(40)]
    rule = fact("Deploys run on Tuesdays.", id="rule", contradicts=tuple(names))
    exceptions = [
        fact(f"Deploys of shop {name} run on Mondays.", id=name, recorded_at=NOW - timedelta(hours=hours))
        for hours, name in enumerate(names)
    ]
    told = [shown.memory for shown in pack(scored(rule), 600, NOW, rivals=exceptions).shown]
    assert "rule" in told
    assert sorted(told)[:SIDES] == names[:SIDES]
    assert len(told) == SIDES + 1
    least = tokens_of(pack(scored(rule), 600, NOW, rivals=exceptions[:1]).text)
    assert len(pack(scored(rule), least + 4, NOW, rivals=exceptions).shown) == 2
    assert not pack(scored(rule), least - 8, NOW, rivals=exceptions).shown
