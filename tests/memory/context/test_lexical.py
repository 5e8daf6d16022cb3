"""A question as numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.context.lexical import weigh
from memory.context.question import RecallQuestion
from memory.language.terms import document_terms, product, term
from memory.ports import TermRarity
from tests.memory.context.making import asked


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    question = asked("Where does Ida keep the sextant?")
    weighed = weigh(question, TermRarity(500, {term("ida"): 200, term("sextant"): 1, term("keep"): 40}))
    assert weighed.idf("sextant") > weighed.idf("keep") > weighed.idf("ida") > 0.0


def test_one_rare_word_finds_more_than_two_common_ones() -> None:
    counted = {term("sail"): 250, term("new"): 200, term("torn"): 5}
    weighed = weigh(asked("Which new sail arrived torn?"), TermRarity(500, counted))
    rare, common = (product(document_terms(text), weighed.sparse) for text in ("The jib is torn.", "A new sail."))
    assert rare > common


def test_words_that_are_not_asked_for_weigh_nothing() -> None:
    assert weigh(asked("Where is the sextant?"), TermRarity(500, {})).idf("where") == 0.0


def test_a_memory_with_every_word_covers_the_question_and_one_with_none_does_not() -> None:
    weighed = weigh(asked("When was the sextant repaired?"), TermRarity(500, {term("sextant"): 3}))
    assert weighed.coverage(product(document_terms("The sextant was repaired."), weighed.sparse)) > 0.9
    assert weighed.coverage(product(document_terms("The soup was cold."), weighed.sparse)) == 0.0


def test_a_question_of_unknown_words_is_not_familiar() -> None:
    known = weigh(asked("When was the sextant repaired?"), TermRarity(500, {term("sextant"): 90, term("repair"): 90}))
    unknown = weigh(asked("When was the sextant repaired?"), TermRarity(500, {}))
    assert known.familiar > 0.5
    assert abs(unknown.familiar) < 1e-9


def test_in_a_young_store_words_still_count() -> None:
    weighed = weigh(asked("What is the boat called?"), TermRarity(1, {term("boat"): 1, term("call"): 1}))
    assert weighed.coverage(product(document_terms("The boat is called Tern."), weighed.sparse)) > 0.9


@given(
    st.dictionaries(st.text("abcdefg", min_size=1, max_size=6), st.floats(0.01, 1.0), max_size=20),
    st.integers(0, 10_000),
    st.integers(0, 20_000),
)
def test_weights_are_positive_and_coverage_lies_between_nothing_and_all(
    shares: dict[str, float], documents: int, frequency: int
) -> None:
    question = RecallQuestion("", shares)
    weighed = weigh(question, TermRarity(documents, dict.fromkeys(question.terms, frequency)))
    assert all(weight > 0 for weight in weighed.sparse.values())
    assert -1e-9 <= weighed.familiar <= 1.0
    assert 0.0 <= weighed.coverage(weighed.best * 3) <= 1.0
