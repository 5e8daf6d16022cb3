from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.understanding.clauses import Clause
from memory.understanding.network import LASTING_KINDS, PASSING_KINDS, SCOPES, Judgement
from memory.understanding.packaged_weights import reader
from memory.understanding.wording import UNCERTAIN, opened, plain, statements


def clause(text: str, keep: float, kind: str = "rule", sentence: int = 0, **flags: float) -> Clause:
    kinds = [0.0] * (len(LASTING_KINDS) + len(PASSING_KINDS))
    kinds[LASTING_KINDS.index(kind)] = keep
    kinds[len(LASTING_KINDS)] = 1.0 - keep
    names = ("ends", "continues", "answers", "refers")
    return Clause(
        text, sentence, 0, "", Judgement(tuple(kinds), (0.0, 1.0, 0.0), tuple(flags.get(n, 0.0) for n in names))
    )


def test_what_is_asked_beside_a_fact_is_left_out() -> None:
    (only,) = statements([clause("amounts are integer cents,", 0.9, "fact"), clause("can you check?", 0.02)])
    assert (only.text, only.kind, only.scope) == ("amounts are integer cents", "fact", "project")


def test_clauses_of_one_sentence_that_are_both_kept_make_one_text() -> None:
    (only,) = statements([clause("and no default exports,", 0.9), clause("not even in stories", 0.6)])
    assert only.text == "no default exports, not even in stories"


def test_sentences_stay_apart_unless_the_second_goes_on() -> None:
    one = clause("Releases go out from the train branch only.", 0.9)
    assert len(statements([one, clause("Secrets live in the vault on the hill.", 0.9, sentence=1)])) == 2
    assert len(statements([one, clause("Hotfixes as well as features do.", 0.9, sentence=1, continues=0.9)])) == 1


def test_a_short_sentence_behind_a_statement_says_how_far_it_reaches() -> None:
    rule = clause("You never delete a branch of mine, merged or not.", 0.9)
    mark = clause("On weekends as well.", 0.8, sentence=1)
    wide = replace(mark, judged=replace(mark.judged, scopes=(0.9, 0.1, 0.0)))
    (only,) = statements([rule, wide])
    assert only.text == "You never delete a branch of mine, merged or not. On weekends as well."
    assert (only.scope, statements([rule, mark])[0].scope) == ("user", "project")


def test_what_the_next_sentence_allows_is_told_with_a_ban() -> None:
    ban = clause("Never rename a topic, not even for a typo.", 0.9)
    allowed, idle = (
        clause(text, 0.1, sentence=1) for text in ("OK, the comments you may correct.", "You may start now.")
    )
    assert [each.text for each in statements([ban, allowed])] == [
        "Never rename a topic, not even for a typo. The comments you may correct."
    ]
    assert [each.text for each in statements([ban, idle])] == ["Never rename a topic, not even for a typo."]
    order = clause("Rename the topics in capitals.", 0.9)
    assert [each.text for each in statements([order, allowed])] == ["Rename the topics in capitals."]


def test_an_answer_takes_along_what_it_answers() -> None:
    reply = "Two ways. Shall I store the sessions in Redis?"
    (only,) = statements([clause("yes", 0.9, "dec", answers=0.9)], reply)
    assert only.answers == "Shall I store the sessions in Redis?"


def test_a_text_has_a_bound() -> None:
    long = [clause("one two three four five six seven eight nine ten,", 0.9) for _ in range(12)]
    assert all(len(each.text.split()) <= 36 for each in statements(long))


def test_a_pronoun_takes_along_what_it_stands_for() -> None:
    (only,) = statements(
        [
            clause("the nightly export writes to the lake,", 0.1),
            clause("it may never write to the vault", 0.9, refers=0.9),
        ]
    )
    assert only.text == "the nightly export writes to the lake, it may never write to the vault"
    assert (only.first, only.last) == (0, 1)


def test_what_holds_for_a_while_says_so() -> None:
    ((lasting,), (passing,)) = (statements([clause("no deploys this week", 0.9, ends=ends)]) for ends in (0.1, 0.9))
    assert (lasting.ends, passing.ends) == (0.1, 0.9)


def test_a_rule_guides_further_than_a_fact() -> None:
    ((rule,), (fact,)) = (statements([clause("amounts are integer cents", 0.9, kind)]) for kind in ("rule", "fact"))
    assert rule.guides > fact.guides


@pytest.mark.parametrize(
    ("said", "bare"),
    [
        ("oh, and btw the lake is read-only,", "the lake is read-only"),
        ("ach ja, der See ist nur lesbar", "der See ist nur lesbar"),
        ("by the way: no tabs", "no tabs"),
        ("android builds run at night", "android builds run at night"),
        ("so", "so"),
    ],
)
def test_what_people_say_before_they_say_something_is_left_out(said: str, bare: str) -> None:
    assert plain(said) == bare


@given(st.text(max_size=400), st.text(max_size=200))
def test_any_text_makes_statements_in_its_own_words(text: str, reply: str) -> None:
    clauses = reader().read(text, reply)
    for said in statements(clauses, reply):
        assert said.kind in LASTING_KINDS and said.scope in SCOPES
        assert UNCERTAIN <= said.probability <= 1.001 and 0.0 <= said.guides <= 1.001
        assert said.text in " ".join(clause.text for clause in clauses[said.first : said.last + 1])
        assert not said.answers or said.answers in " ".join(reply.split()) or said.answers in reply


def test_what_is_worth_nothing_at_the_ends_of_a_statement_is_left_out() -> None:
    said = "Merge it first, the tide tables come from the harbour office, so stop scraping them"
    at = len("Merge it first, "), len(", so stop scraping them")
    whole = replace(clause(said, 0.9, "fact"), idle_start=at[0], idle_end=at[1])
    (only,) = statements([whole])
    assert only.text == "the tide tables come from the harbour office"


def test_a_statement_of_few_words_keeps_what_stands_around_it() -> None:
    said = "they are, of course, metric"
    (only,) = statements([replace(clause(said, 0.9, "fact"), idle_start=len("they are, "), idle_end=len(" metric"))])
    assert only.text == said


def test_a_few_words_behind_a_rule_that_are_no_statement_say_how_far_it_reaches() -> None:
    rule = clause("Branches are named after the ticket.", 0.9)
    reach = clause("that's how all my repos have it", 0.1, sentence=1)
    asked = clause("do all my repos have it?", 0.1, sentence=1)
    assert [each.scope for each in statements([rule, reach])] == ["user"]
    assert [each.text for each in statements([rule, reach])] == ["Branches are named after the ticket."]
    assert [each.scope for each in statements([rule, asked])] == ["project"]


def test_how_it_is_done_elsewhere_says_how_far_the_rule_before_it_reaches() -> None:
    rule = clause("Zeichnungen werden nach dem Hof benannt.", 0.9)
    reach = clause("so handhaben wir das in allen vier Repos", 0.8, sentence=1)
    (only,) = statements([rule, reach])
    assert (only.scope, only.text.startswith("Zeichnungen")) == ("user", True)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("— serial numbers stay out of logs", "serial numbers stay out of logs"),
        ("--force is off limits", "--force is off limits"),
    ],
)
def test_a_dash_before_a_statement_is_none_of_it(text: str, left: str) -> None:
    assert plain(text) == left


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("since we moved, the old host is gone", "we moved, the old host is gone"),
        ("since March the old host is gone", "since March the old host is gone"),
        ("because of the audit nothing is deleted", "because of the audit nothing is deleted"),
        ("so that nothing is lost we write twice", "so that nothing is lost we write twice"),
        ("ok, and the old host is gone by now", "the old host is gone by now"),
        ("well known ports are left alone here", "well known ports are left alone here"),
        ("no, the old host is gone by now", "the old host is gone by now"),
        ("nah the old host is gone by now", "the old host is gone by now"),
        ("no host is old enough for this", "no host is old enough for this"),
    ],
)
def test_what_leads_over_to_a_statement_is_left_out_and_what_belongs_to_it_is_not(said: str, told: str) -> None:
    assert opened(said) == told
