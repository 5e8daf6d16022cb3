"""What is corrected again and again in ever other words becomes one subject, and is put forward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from memory.candidate import Candidate, CandidateState, Proposal
from memory.fact import Fact, FactKind, Sensitivity, State
from memory.features.nights.consolidation.gist import Clusters
from memory.features.nights.consolidation.recurring_subjects import Message, recurring_subjects
from memory.features.nights.consolidation.rule_candidates import of_subjects, rules
from memory.features.nights.consolidation.snapshot import RepeatedStatement, Subject
from memory.language.common_directions import topics
from memory.learning.candidate_matching import KnownCandidate, meet
from memory.scope import Layer
from memory.understanding.network import Floats
from memory.understanding.packaged_weights import recurrence
from memory.understanding.recurring_corrections import Pushback
from tests.memory.features.nights.consolidation.making import fact, numbered
from tests.memory.stores.derived_facts import AT

SAID = (
    ("s1", FactKind.CORRECTION, "You hard-coded the tariff again, take it from the rate sheet"),
    ("s2", FactKind.CORRECTION, "That tariff is wrong since April, nobody updates a number inside a function"),
    ("s3", FactKind.CONVENTION, "Every tariff comes from the rate sheet, never from the code"),
    ("s4", FactKind.CORRECTION, "the tariff belongs in the sheet"),
)


def facts(kinds: Sequence[tuple[str, FactKind, str]] = SAID, **more: object) -> list[Fact]:
    return [
        fact(text, f"f{n}", session, days=n, kind=kind, layer=Layer.USER_PROJECT, **more)
        for n, (session, kind, text) in enumerate(kinds)
    ]


def compared(word: str = "tariff") -> Callable[[Sequence[Pushback]], Floats]:
    """What has a word pushes back on the same as what has it."""

    def compare(messages: Sequence[Pushback]) -> Floats:
        has = np.array([word in each.said for each in messages])
        return np.where(has[:, None] == has[None, :], 1.0, -3.0).astype(np.float32)

    return compare


def told(known: Sequence[Fact]) -> list[Message]:
    return [Message(Pushback(each.text), each.session, 2, (each.id,)) for each in known]


def subjects(known: Sequence[Fact], sessions: int = 3, more: Sequence[Message] = ()) -> list[tuple[str, ...]]:
    whole = {each.id: each for each in known}
    found = recurring_subjects([*told(known), *more], whole, compared(), lambda message: "!" in message.said, sessions)
    return [each.ids for each in found]


def subject(*ids: str, sessions: Sequence[str] = ()) -> Subject:
    return Subject(ids, frozenset(sessions))


def test_messages_that_push_back_on_the_same_are_one_subject() -> None:
    assert subjects(facts()) == [("f0", "f1", "f2", "f3")]


def test_what_nothing_was_learnt_of_counts_where_it_pushes_back() -> None:
    terse = [
        Message(Pushback(text), f"t{n}", 2) for n, text in enumerate(("tariff!!", "the tariff is fine", "tariff!"))
    ]
    whole = {each.id: each for each in facts(SAID[:2])}
    arguments = (whole, compared(), lambda message: "!" in message.said, 3)
    [found] = recurring_subjects([*told(facts(SAID[:2])), *terse], *arguments)
    assert found.ids == ("f0", "f1")
    assert found.sessions == {"s1", "s2", "t0", "t2"}
    assert recurring_subjects([*told(facts(SAID[:1])), *terse], *arguments) == [], "it is learnt of one only"


def test_what_is_answered_in_all_ways_is_no_subject() -> None:
    """An agent that always reports alike is what its answers have in common."""
    beside = [Message(Pushback(f"the tariff, case {n}"), f"t{n}", 2) for n in range(3)]
    assert subjects(facts(), more=beside[:2]) == [("f0", "f1", "f2", "f3")]
    assert subjects(facts(), more=beside) == []


def test_what_holds_for_the_moment_leads_nothing() -> None:
    passing = facts([(s, kind, f"{text}, for now") for s, kind, text in SAID])
    assert subjects(passing) == []
    known = {each.id: each for each in [*passing[:3], facts()[3]]}
    [put] = of_subjects([subject(*known)], known, [], Clusters(), numbered())
    assert put.text == SAID[3][2]


def test_what_was_read_with_doubt_bears_a_subject_out_but_makes_none() -> None:
    known = facts()
    doubted = [replace(each, state=State.DRAFT) for each in known]
    assert subjects([*doubted[:3], known[3]]) == [("f0", "f1", "f2", "f3")]
    assert subjects(doubted) == []


def test_a_draft_is_counted_and_its_words_are_not_chosen() -> None:
    known = {each.id: each for each in facts()}
    known["f2"] = replace(known["f2"], state=State.DRAFT)
    [put] = of_subjects([subject(*known)], known, [], Clusters(), numbered())
    assert (put.sources, put.sessions) == (4, 4)
    assert put.text != known["f2"].text


def test_what_said_it_before_counts_with_its_sessions() -> None:
    known = {each.id: each for each in facts()}
    said_by = {"f3": [RepeatedStatement(FactKind.CORRECTION, session) for session in ("s4", "s7", "s8")]}
    [put] = of_subjects([subject(*known)], known, [], Clusters(), numbered(), said_by=said_by)
    assert put.sessions == 6


def test_one_message_counts_once_however_much_was_learnt_of_it() -> None:
    known = facts(SAID[:2])
    whole = {each.id: each for each in known}
    one = [Message(Pushback(each.text), "s1", 2, (each.id,)) for each in known]
    terse = [Message(Pushback("tariff!"), f"t{n}", 2) for n in range(3)]
    assert recurring_subjects([*one, *terse], whole, compared(), lambda message: True, 3) == []


def test_what_was_learnt_and_taken_back_bears_nothing_out() -> None:
    known = facts()
    taken_back = [replace(each, state=State.SUPERSEDED) for each in known[:3]]
    assert subjects([*taken_back, known[3]]) == []


def test_messages_of_which_nothing_was_learnt_help_to_put_forward_and_are_not_counted() -> None:
    known = {each.id: each for each in facts(SAID[:2])}
    assert of_subjects([subject(*known)], known, [], Clusters(), numbered()) == []
    [put] = of_subjects([subject(*known, sessions=("s1", "s2", "t1"))], known, [], Clusters(), numbered())
    assert (put.sources, put.sessions, put.evidence) == (2, 2, ("f0", "f1"))


def test_what_says_too_little_is_not_put_forward() -> None:
    known = {each.id: each for each in facts([(s, kind, "Tariff.") for s, kind, _ in SAID])}
    assert of_subjects([subject(*known)], known, [], Clusters(), numbered()) == []


def test_it_needs_several_sessions() -> None:
    assert subjects(facts([("s1", kind, text) for _, kind, text in SAID])) == []


def test_plain_facts_make_none() -> None:
    assert subjects(facts([(s, FactKind.FACT, text) for s, _, text in SAID])) == []


def test_two_subjects_stay_two() -> None:
    lamps = [(f"t{n}", FactKind.CONVENTION, f"lamp {n} is dimmed") for n in range(3)]
    assert sorted(subjects(facts([*SAID, *lamps]))) == [("f0", "f1", "f2", "f3"), ("f4", "f5", "f6")]


def test_confidential_and_settled_things_are_left_out() -> None:
    assert subjects(facts(sensitivity=Sensitivity.RESTRICTED)) == []
    assert subjects(facts(state=State.SUPERSEDED)) == []


def test_it_is_put_forward_in_the_words_that_were_said_as_a_rule() -> None:
    known = {each.id: each for each in facts()}
    [put] = of_subjects([subject(*known)], known, [], Clusters(), numbered())
    assert put.text == "Every tariff comes from the rate sheet, never from the code"
    assert (put.sources, put.sessions, put.evidence) == (4, 4, ("f0", "f1", "f2", "f3"))
    assert put.mark == "f0", "it is the same one when more of it has been said"


def test_what_is_put_forward_already_is_not_put_forward_twice() -> None:
    known = {each.id: each for each in facts()}
    [put] = of_subjects([subject(*known)], known, [], Clusters(), numbered())
    assert of_subjects([subject("f1", "f2", "f3")], known, [put], Clusters(), numbered()) == []
    assert rules(known, {}, Clusters(), numbered()) == [], "none of them was said often enough by itself"


def rules_of(number: int) -> list[Fact]:
    return facts([(f"s{n:02}", FactKind.CORRECTION, f"the tariff rests, case{n} of it") for n in range(number)])


def put_forward(known: Sequence[Fact], before: Sequence[Candidate] = ()) -> list[Proposal]:
    """What a night puts forward of messages that have a word in common."""
    whole = {each.id: each for each in known}
    found = recurring_subjects(told(known), whole, compared(), lambda message: True, 3)
    return of_subjects(found, whole, [], Clusters(), numbered(), before)


def candidate(put: Proposal, **more: object) -> Candidate:
    told = {"id": put.id, "owner": "up:/ann/boat", "made_at": AT, "layer": put.layer, **more}
    fields = ("kind", "mark", "title", "text", "what", "sources", "sessions", "evidence")
    return Candidate(**{name: getattr(put, name) for name in fields}, **told)  # type: ignore[arg-type]


@pytest.mark.parametrize("number", [9, 10, 11, 12, 16, 40])
def test_a_subject_is_known_by_its_first_rule_and_counted_whole_however_many_there_are(number: int) -> None:
    [put] = put_forward(rules_of(number))
    assert (put.mark, put.sources, put.sessions) == ("f0", number, number)


def test_what_was_rejected_waits_again_when_there_is_much_more_for_it() -> None:
    [put] = put_forward(rules_of(8))
    before = candidate(put, state=CandidateState.REJECTED, sources_then=8, sessions_then=8)
    waits = []
    for number in (12, 15, 16, 24):
        [again] = put_forward(rules_of(number), [before])
        met = meet(again, [before], [])
        assert isinstance(met, KnownCandidate) and met.id == put.id
        waits.append(met.waits)
    assert waits == [False, False, True, True]


def test_new_rules_join_what_was_put_forward_though_only_its_oldest_evidence_is_compared() -> None:
    [put] = put_forward(rules_of(5))
    whole = {each.id: each for each in rules_of(90)}
    looked = [*rules_of(3), *rules_of(90)[20:]]
    found = recurring_subjects(told(looked), whole, compared(), lambda message: True, 3)
    [again] = of_subjects(found, whole, [], Clusters(), numbered(), [candidate(put)])
    assert again.mark == put.mark and set(put.evidence) < set(again.evidence) and again.sessions > 60


def test_another_subject_joins_nothing() -> None:
    [put] = put_forward(rules_of(5))
    lamps = facts([(f"t{n}", FactKind.CORRECTION, f"case{n} tells of a lamp") for n in range(5)])
    lamps = [replace(each, id=f"l{n}") for n, each in enumerate(lamps)]
    whole = {each.id: each for each in [*rules_of(5), *lamps]}
    found = recurring_subjects(told(list(whole.values())), whole, compared(), lambda message: True, 3)
    both = of_subjects(found, whole, [], Clusters(), numbered(), [candidate(put)])
    assert {each.mark: set(each.evidence) for each in both}["l0"] == {each.id for each in lamps}


def test_two_subjects_that_go_on_about_one_candidate_are_one() -> None:
    whole = {each.id: each for each in rules_of(9)}
    [put] = put_forward(rules_of(4))
    before = [candidate(put)]
    [one] = of_subjects(
        [subject("f0", "f1", "f4"), subject("f2", "f3", "f0", "f8")], whole, [], Clusters(), numbered(), before
    )
    assert one.mark == "f0" and one.evidence == ("f0", "f1", "f2", "f3", "f4", "f8")


def test_one_rule_of_a_subject_takes_nothing_from_the_whole() -> None:
    [put] = put_forward(rules_of(8))
    before = candidate(put)
    alone = replace(put, mark="f3", evidence=("f3",), sources=5, sessions=3)
    assert meet(alone, [before], []) == KnownCandidate(put.id)
    assert meet(replace(alone, sources=30), [before], []) == KnownCandidate(put.id, grown=True)


def test_the_model_groups_them_by_both_sides_of_the_talk() -> None:
    known = facts()
    replies = (
        "I wrote 0.19 as the tariff into invoice.py.",
        "tariff() in bill.py returns 0.21 now.",
        "Set the tariff to 0.19 in quote.py.",
        "I typed the tariff of 0.2 into offer.py.",
    )
    beside = [
        Message(Pushback("the harbour office wants PDFs by mail", "Sent the summary as a web page."), "s7", 2),
        Message(Pushback("call the branch after the ticket", "Opened a branch called fixes."), "s8", 2),
        Message(Pushback("Lena owns the calendar", "I moved the holidays to a file."), "s9", 2),
    ]
    pushed = [
        replace(each, pushback=Pushback(each.pushback.said, reply))
        for each, reply in zip(told(known), replies, strict=True)
    ]
    whole = {each.id: each for each in known}
    compare = recurrence().log_odds
    [found] = recurring_subjects(
        [*pushed, *beside], whole, lambda messages: compare(messages, topics), lambda message: False, 3
    )
    assert len(found.ids) >= 3 and len(found.sessions) == len(found.ids)
