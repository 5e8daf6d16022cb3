from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.understanding.encoder import READ, RELATIONS, Relation, _groups_read_together, is_short, unpointed
from memory.understanding.network import judgements
from memory.understanding.packaged_weights import encoder

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=80)


def likeliest(relation: Relation) -> str:
    return max(RELATIONS, key=lambda name: float(getattr(relation, name)))


@given(st.lists(st.tuples(WORDS, WORDS), max_size=4))
def test_relations_are_probabilities_whatever_the_texts(pairs: list[tuple[str, str]]) -> None:
    found = encoder().relations(pairs)
    assert len(found) == len(pairs)
    for each in found:
        shares = [each.same, each.refines, each.replaces, each.contradicts, each.unrelated]
        assert sum(shares) == pytest.approx(1.0, abs=1e-4) and min(shares) >= 0.0


def test_a_pair_is_read_the_same_beside_others() -> None:
    pair = ("the gateway listens on 8443", "since monday the gateway is on 9100")
    [alone] = encoder().relations([pair])
    beside = encoder().relations([("a", "b"), pair, ("x " * 60, "y")])[1]
    assert beside.replaces == pytest.approx(alone.replaces, abs=1e-3)


def test_the_mark_at_the_end_says_nothing() -> None:
    with_marks, without = encoder().relations(
        [("Tabs in makefiles.", "We indent with spaces."), ("Tabs in makefiles", "We indent with spaces")]
    )
    assert with_marks.replaces == pytest.approx(without.replaces, abs=1e-4)
    assert unpointed("done...") == "done" and unpointed("really?") == "really?"


@pytest.mark.parametrize(
    ("older", "newer", "relation"),
    [
        ("Never commit generated code", "again: generated files do not get committed!", "same"),
        ("Ola looks after the pricing service", "the pricing service logs to stdout now", "unrelated"),
        ("Ola looks after the pricing service", "pricing was handed to Mehmet, he looks after it now", "replaces"),
    ],
)
def test_statements_are_told_apart(older: str, newer: str, relation: str) -> None:
    assert likeliest(encoder().relations([(older, newer)])[0]) == relation


def test_what_stands_around_a_clause_is_read_with_it() -> None:
    text = "the second one"
    alone = encoder().clauses(text, [(0, len(text))], "")
    answering = encoder().clauses(text, [(0, len(text))], "Should the cache be Redis or a plain file?")
    assert judgements(answering)[0].flag("answers") > judgements(alone)[0].flag("answers")
    behind = f"what did they want again? {text}"
    asked = encoder().clauses(behind, [(len(behind) - len(text), len(behind))], "")
    assert judgements(asked) != judgements(alone)


def test_a_long_text_is_read_in_parts() -> None:
    clause = "the importer keeps the first row of every file"
    text = " ".join([clause] * 60)
    spans = [(at * (len(clause) + 1), at * (len(clause) + 1) + len(clause)) for at in range(60)]
    outputs = encoder().clauses(text, spans, "")
    assert len(outputs) == len(spans) and np.isfinite(outputs).all()


@given(st.lists(st.integers(1, 300), min_size=1, max_size=30))
def test_every_span_is_in_one_group_and_no_group_is_too_long(lengths: list[int]) -> None:
    starts = np.cumsum([0, *lengths]).tolist()
    spans = list(pairwise(starts))
    offsets = [(at, at + 1) for at in range(starts[-1])]
    groups = _groups_read_together(spans, offsets)
    assert [span for group, _, _ in groups for span in group] == spans
    assert all(last - first <= READ for _, first, last in groups)
    if len(offsets) <= READ:
        assert [(first, last) for _, first, last in groups] == [(0, len(offsets))]


def test_a_short_message_is_read_by_a_head_of_its_own() -> None:
    few = "Invoices get a stamp with their date."
    many = f"{few} And then, while we were at it, I went on and on about the weather and the coffee."
    read = encoder()
    states = [read.clause_states(text, [(0, len(few))], "") for text in (few, many)]
    told = [read.clauses(text, [(0, len(few))], "") for text in (few, many)]
    assert is_short(few) and not is_short(many)
    assert np.allclose(told[0], read._short_clause(states[0])) and np.allclose(told[1], read._clause(states[1]))  # type: ignore[misc]
    assert not np.allclose(told[0], read._clause(states[0]))
