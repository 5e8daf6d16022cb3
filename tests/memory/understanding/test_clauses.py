from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.understanding.clauses import MAX_CLAUSE_CHARS, MOST, ClauseReader, halves
from memory.understanding.network import LASTING_KINDS, PASSING_KINDS, Floats
from memory.understanding.packaged_weights import reader

_SAID = "the ledger is append-only and has three replicas (one in Oslo) so what do we do about the second one?"


@given(st.text(max_size=400))
def test_the_pieces_of_a_sentence_are_the_sentence(text: str) -> None:
    pieces = reader().splitter.split(text)
    assert "".join("".join(pieces).split()) == "".join(text.split())


@given(st.lists(st.sampled_from(_SAID.split()), max_size=60))
def test_the_pieces_joined_by_spaces_are_the_sentence(words: list[str]) -> None:
    sentence = " ".join(words)
    assert " ".join(reader().splitter.split(sentence)) == sentence


def test_a_sentence_is_cut_where_it_turns_to_something_else() -> None:
    pieces = reader().splitter.split(_SAID)
    assert len(pieces) > 1
    assert pieces[-1].startswith("so what do we do")


@given(st.text(max_size=400), st.text(max_size=200))
def test_any_text_is_read_and_its_probabilities_are_some(text: str, reply: str) -> None:
    for clause in reader().read(text, reply):
        assert len(clause.judged.kinds) == len(LASTING_KINDS) + len(PASSING_KINDS)
        assert sum(clause.judged.kinds) == pytest.approx(1.0, abs=1e-3)
        assert 0.0 <= clause.judged.worth_keeping <= 1.001


def test_a_clause_that_asks_does_not_hide_one_that_tells() -> None:
    clauses = reader().read("The invoices live in the ledger bucket on the Oslo account. Can you list the last ten?")
    tells, asks = clauses
    assert tells.judged.worth_keeping > 0.8
    assert (asks.judged.worth_keeping < 0.2, asks.judged.passing in ("ask", "order")) == (True, True)


@pytest.mark.parametrize(
    "text",
    [
        "what does the worker do when the queue is empty?",
        "thanks, that was quick",
        "hmm maybe we could try a cache at some point",
        "run the tests again",
        "I slept badly, my neighbour had a party",
    ],
)
def test_what_is_of_the_moment_is_not_worth_keeping(text: str) -> None:
    assert max(clause.judged.worth_keeping for clause in reader().read(text)) < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "No commit on main without a review, ever.",
        "Every endpoint gets an integration test.",
        "Marta owns the payment service, she decides about its schema.",
        "Nie direkt auf main pushen, immer über einen Merge Request.",
        "Los mensajes de commit siempre en inglés.",
    ],
)
def test_what_holds_tomorrow_is_worth_keeping(text: str) -> None:
    assert max(clause.judged.worth_keeping for clause in reader().read(text)) > 0.5


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=300), st.text(max_size=100))
def test_reading_is_the_same_every_time(text: str, reply: str) -> None:
    for said in (text, f"we cap uploads at 20 MB here, the gateway drops more. fix the message please. {text}"):
        assert reader().read(said, reply) == reader().read(said, reply)


@pytest.mark.parametrize(
    "pasted",
    [
        "all of this was pasted by somebody. ",
        "and this sentence never ends ",
        "we use tabs, ",
        "we use tabs\n",
        "- we use tabs\n",
        "a",
        "测试",
        "`a",
        "a/b",
        "(",
    ],
)
def test_a_pasted_mountain_is_read_in_bounds(pasted: str) -> None:
    shipped, weighed = reader(), list[int]()

    def embed(texts: Sequence[str]) -> Floats:
        weighed.extend(map(len, texts))
        return shipped.embed(texts)

    mountain = pasted * (100_000 // len(pasted) + 1)
    clauses = ClauseReader(shipped.splitter, shipped.model, embed).read(mountain, mountain)
    assert len(clauses) == len(weighed) <= MOST
    assert max(weighed, default=0) <= MAX_CLAUSE_CHARS


def test_what_of_a_clause_is_of_the_moment_only_is_told_apart_at_its_ends() -> None:
    said = "The readings of the buoys are in knots, so change your axis."
    (clause,) = [each for each in reader().read(said) if each.judged.worth_keeping > 0.5]
    assert (
        clause.text[clause.idle_start : len(clause.text) - clause.idle_end] == "The readings of the buoys are in knots,"
    )


@pytest.mark.parametrize(
    "said",
    [
        "We keep the tide logs for two years, but that was wrong.",
        "Rosa approves each change of the schema, unless it is a hotfix.",
        "The pump station reports in bar, except at night.",
        "Jana gibt jede Freigabe selbst, außer sie ist krank.",
    ],
)
def test_what_limits_a_clause_or_takes_it_back_is_told_with_it(said: str) -> None:
    for clause in reader().read(said):
        assert clause.idle_end == 0


@pytest.mark.parametrize(
    "said",
    [
        "Please draw the seating plan; seat numbers always have two letters and a digit.",
        "fix the moon phase table; angles are stored in radians in this project",
    ],
)
def test_what_a_semicolon_parts_is_read_apart(said: str) -> None:
    order, rule = reader().read(said)
    assert order.judged.worth_keeping < 0.2 < 0.8 < rule.judged.worth_keeping


@pytest.mark.parametrize(
    "said",
    [
        "`select one row; drop the whole table now;` needs somebody to look at it first",
        "for (let i = begin; then go on; until the end) draw(the next line)",
        "Fish &amp; chips are what the canteen sells on Fridays",
        'The reader says "one thing is so; the other thing is not" in its log',
        "red; green; blue",
    ],
)
def test_a_semicolon_in_code_in_quotes_or_in_a_list_parts_nothing(said: str) -> None:
    assert halves(said) == [said]


def test_a_line_of_many_statements_is_cut_a_few_times_only() -> None:
    assert len(halves("the first value is set; " * 90)) == 4


def test_a_rule_behind_an_order_is_what_a_clause_tells() -> None:
    [clause] = reader().read(
        "add a test for the tide lookup, and note that whatever opens a socket belongs in tests/wire"
    )
    assert clause.judged.worth_keeping > 0.5
    assert clause.text[clause.idle_start :].startswith("and note that")


@given(st.text(max_size=300))
def test_something_is_left_of_every_clause(text: str) -> None:
    for clause in reader().read(text):
        assert 0 <= clause.idle_start + clause.idle_end < len(clause.text)
        assert (
            reader().splitter.parts(clause.text) == []
            or " ".join(reader().splitter.parts(clause.text)).split() == clause.text.split()
        )
