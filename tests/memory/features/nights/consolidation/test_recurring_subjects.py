"""What is corrected again and again in ever other words becomes one subject, and is put forward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memory.candidate import Candidate, CandidateState, Proposal
from memory.fact import Fact, FactKind, Sensitivity, State
from memory.features.nights.consolidation.gist import Clusters
from memory.features.nights.consolidation.recurring_subjects import recurring_subjects, worth_comparing
from memory.features.nights.consolidation.rule_candidates import of_subjects, rules
from memory.features.nights.consolidation.snapshot import RepeatedStatement, SimilarPair
from memory.learning.candidate_matching import KnownCandidate, meet
from memory.scope import Layer
from memory.understanding.encoder import Relation
from memory.understanding.packaged_weights import encoder
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


def related(pairs: Sequence[tuple[str, str]]) -> list[Relation]:
    """What names the tariff is related to what names it."""
    return [
        Relation(0.3, 0.6, 0.1, 0.0, 0.0) if "tariff" in one and "tariff" in other else Relation(0, 0, 0, 0, 1.0)
        for one, other in pairs
    ]


def subjects(known: Sequence[Fact], sessions: int = 3) -> list[tuple[str, ...]]:
    groups = worth_comparing([(each.id, each.text) for each in known], [], {each.id for each in known})
    return recurring_subjects(groups, {each.id: each for each in known}, related, sessions)


def test_rules_that_share_a_word_and_have_to_do_with_each_other_are_one_subject() -> None:
    assert subjects(facts()) == [("f0", "f1", "f2", "f3")]


def test_what_only_shares_a_word_is_none() -> None:
    assert subjects(facts([(s, kind, text.replace("tariff", "number")) for s, kind, text in SAID])) == []


def test_what_holds_for_the_moment_leads_nothing() -> None:
    passing = facts([(s, kind, f"{text}, for now") for s, kind, text in SAID])
    assert subjects(passing) == []
    known = {each.id: each for each in [*passing[:3], facts()[3]]}
    [put] = of_subjects([tuple(known)], known, [], Clusters(), numbered())
    assert put.text == SAID[3][2]


def test_what_was_read_with_doubt_bears_a_subject_out_but_makes_none() -> None:
    known = facts()
    doubted = [replace(each, state=State.DRAFT) for each in known]
    assert subjects([*doubted[:3], known[3]]) == [("f0", "f1", "f2", "f3")]
    assert subjects(doubted) == []


def test_a_draft_is_counted_and_its_words_are_not_chosen() -> None:
    known = {each.id: each for each in facts()}
    known["f2"] = replace(known["f2"], state=State.DRAFT)
    [put] = of_subjects([tuple(known)], known, [], Clusters(), numbered())
    assert (put.sources, put.sessions) == (4, 4)
    assert put.text != known["f2"].text


def test_what_said_it_before_counts_with_its_sessions() -> None:
    known = {each.id: each for each in facts([("s1", kind, text) for _, kind, text in SAID])}
    said_by = {"f3": [RepeatedStatement(FactKind.CORRECTION, session) for session in ("s1", "s7", "s8")]}
    groups = worth_comparing([(each.id, each.text) for each in known.values()], [], set(known))
    [subject] = recurring_subjects(groups, known, related, 3, said_by=said_by)
    [put] = of_subjects([subject], known, [], Clusters(), numbered(), said_by=said_by)
    assert put.sessions == 3


def test_it_needs_several_sessions() -> None:
    assert subjects(facts([("s1", kind, text) for _, kind, text in SAID])) == []


def test_plain_facts_make_none() -> None:
    assert subjects(facts([(s, FactKind.FACT, text) for s, _, text in SAID])) == []


def test_what_shares_no_word_is_compared_where_it_is_near() -> None:
    said = ("the tariff again", "a levy typed by hand, tariff or not", "no such sum in the code: tariffs are looked up")
    known = facts([(f"s{n}", FactKind.CORRECTION, text) for n, text in enumerate(said)])
    near = [SimilarPair("f0", "f1", 0.4), SimilarPair("f0", "f2", 0.35), SimilarPair("f1", "f2", 0.3)]
    texts = [(each.id, each.text.replace("tariff", f"word{n}")) for n, each in enumerate(known)]
    assert worth_comparing(texts, [], {"f0"}) == []
    assert worth_comparing(texts, near, {"f0"}) == [("f0", "f1", "f2")]


def test_two_subjects_stay_two() -> None:
    lamps = [(f"t{n}", FactKind.CONVENTION, f"the tariff rests, lamp {n} is dimmed") for n in range(3)]
    known = facts([*SAID, *lamps])
    texts = [(each.id, each.text) for each in known]

    def apart(pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        return [
            Relation(0, 1.0, 0, 0, 0) if ("lamp" in a) == ("lamp" in b) else Relation(0, 0, 0, 0, 1) for a, b in pairs
        ]

    found = recurring_subjects(
        worth_comparing(texts, [], {each.id for each in known}), {each.id: each for each in known}, apart, 3
    )
    assert sorted(found) == [("f0", "f1", "f2", "f3"), ("f4", "f5", "f6")]


def test_confidential_and_settled_things_are_left_out() -> None:
    assert subjects(facts(sensitivity=Sensitivity.RESTRICTED)) == []
    assert subjects(facts(state=State.SUPERSEDED)) == []


def test_a_word_that_most_facts_have_names_no_subject() -> None:
    many = [(f"s{n}", FactKind.CONVENTION, f"the tariff of region number{n} is word{n}") for n in range(20)]
    known = facts(many)
    assert worth_comparing([(each.id, each.text) for each in known], [], {known[0].id}) == []


def test_only_words_of_what_is_new_are_looked_at() -> None:
    known = facts()
    texts = [(each.id, each.text) for each in known]
    assert worth_comparing(texts, [], set()) == []
    assert ("f0", "f1", "f2", "f3") in worth_comparing(texts, [], {"f3"})


def test_it_is_put_forward_in_the_words_that_were_said_as_a_rule() -> None:
    known = {each.id: each for each in facts()}
    [put] = of_subjects([tuple(known)], known, [], Clusters(), numbered())
    assert put.text == "Every tariff comes from the rate sheet, never from the code"
    assert (put.sources, put.sessions, put.evidence) == (4, 4, ("f0", "f1", "f2", "f3"))
    assert put.mark == "f0", "it is the same one when more of it has been said"


def test_what_is_put_forward_already_is_not_put_forward_twice() -> None:
    known = {each.id: each for each in facts()}
    [put] = of_subjects([tuple(known)], known, [], Clusters(), numbered())
    assert of_subjects([("f1", "f2", "f3")], known, [put], Clusters(), numbered()) == []
    assert rules(known, {}, Clusters(), numbered()) == [], "none of them was said often enough by itself"


def rules_of(number: int) -> list[Fact]:
    return facts([(f"s{n:02}", FactKind.CORRECTION, f"the tariff rests, case{n} of it") for n in range(number)])


def put_forward(known: Sequence[Fact], before: Sequence[Candidate] = ()) -> list[Proposal]:
    """What a night puts forward of facts that have a word in common."""
    whole = {each.id: each for each in known}
    found = recurring_subjects([tuple(whole)], whole, related, 3, [each.evidence for each in before])
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


def test_many_new_rules_join_what_was_put_forward_though_its_evidence_is_compared_no_more() -> None:
    [put] = put_forward(rules_of(5))
    known = rules_of(90)
    # The first rules are in none of the groups: they are joined by what they say.
    whole = {each.id: each for each in known}
    found = recurring_subjects([tuple(whole)[20:]], whole, related, 3, [put.evidence])
    [again] = of_subjects(found, whole, [], Clusters(), numbered(), [candidate(put)])
    assert again.mark == put.mark and set(put.evidence) < set(again.evidence) and again.sessions > 60


def test_another_subject_joins_nothing() -> None:
    [put] = put_forward(rules_of(5))
    lamps = facts([(f"t{n}", FactKind.CORRECTION, f"case{n} tells of a lamp") for n in range(5)])
    lamps = [replace(each, id=f"l{n}") for n, each in enumerate(lamps)]
    whole = {each.id: each for each in [*rules_of(5), *lamps]}

    def apart(pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        return [Relation(0, 0, 0, 0, 0.0 if ("lamp" in a) == ("lamp" in b) else 1.0) for a, b in pairs]

    found = recurring_subjects([tuple(each.id for each in lamps)], whole, apart, 3, [put.evidence])
    [other] = of_subjects(found, whole, [], Clusters(), numbered(), [candidate(put)])
    assert set(other.evidence) == {each.id for each in lamps} and other.mark == "l0"


def test_two_subjects_that_go_on_about_one_candidate_are_one() -> None:
    whole = {each.id: each for each in rules_of(9)}
    [put] = put_forward(rules_of(4))
    before = [candidate(put)]
    [one] = of_subjects([("f0", "f1", "f4"), ("f2", "f3", "f0", "f8")], whole, [], Clusters(), numbered(), before)
    assert one.mark == "f0" and one.evidence == ("f0", "f1", "f2", "f3", "f4", "f8")


def test_one_rule_of_a_subject_takes_nothing_from_the_whole() -> None:
    [put] = put_forward(rules_of(8))
    before = candidate(put)
    alone = replace(put, mark="f3", evidence=("f3",), sources=5, sessions=3)
    assert meet(alone, [before], []) == KnownCandidate(put.id)
    assert meet(replace(alone, sources=30), [before], []) == KnownCandidate(put.id, grown=True)


def test_the_encoder_reads_them_as_related() -> None:
    known = facts()
    groups = worth_comparing([(each.id, each.text) for each in known], [], {each.id for each in known})
    [found] = recurring_subjects(groups, {each.id: each for each in known}, encoder().relations, 3)
    assert len(found) >= 3
