"""What the page tells only in part, and who asks for the rest of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.page import frame_page, left_out, page
from memory.context.told_in_part import untold
from memory.fact import Fact, FactKind, Stream
from tests.memory.context.making import NOW, asked, fact, weighed_for

CORE = "Never reformat the vendored headers"
REST = "Ingvild merges them by hand every spring"
HEADERS = fact(f"{CORE}, {REST}", core=CORE, kind=FactKind.CONVENTION, confidence=0.9)


def page_of(*facts: Fact) -> str:
    made = page(facts, 400, NOW)
    assert set(made.memories) == {each.id for each in facts}
    return frame_page(made.text)


def rests(question: str, *facts: Fact, shown: str | None = None, asks_why: bool = False) -> dict[str, str]:
    """What of some facts a question asks for that the text in which they stand leaves out: the page, by default."""
    text = page_of(*facts) if shown is None else shown
    weighed = weighed_for(asked(question), facts)
    return untold(facts, {each.id: text for each in facts}, weighed, asks_why=asks_why)


def test_the_rest_is_what_the_page_leaves_out() -> None:
    assert left_out(HEADERS, page_of(HEADERS)) == (CORE, REST)


def test_who_asks_for_the_rest_has_not_been_told() -> None:
    assert rests("Who merges the headers in spring?", HEADERS) == {HEADERS.id: REST}


@pytest.mark.parametrize("question", ["Which headers do I never reformat?", "Where is the lighthouse?"])
def test_who_asks_for_what_the_page_says_or_for_something_else_has(question: str) -> None:
    assert rests(question, HEADERS) == {}


def test_a_question_for_the_reason_asks_for_the_whole() -> None:
    question = "Why do we never reformat the headers?"
    assert rests(question, HEADERS) == {}
    assert rests(question, HEADERS, asks_why=True) == {HEADERS.id: HEADERS.text}
    assert rests("Why is the lighthouse dark?", HEADERS, asks_why=True) == {}


def test_a_message_that_names_one_word_of_the_rest_among_many_does_not_ask_for_it() -> None:
    long = (
        "Did Ingvild order the paint for the northern fence, or does the carpenter bring brushes and rollers on Monday?"
    )
    assert rests(long, HEADERS) == {}


def test_what_recall_gave_whole_since_is_told_by_a_fact_or_by_its_passage() -> None:
    weighed, given = weighed_for(asked("Who merges the headers in spring?"), [HEADERS]), f"user: {HEADERS.text}\n"
    assert untold([HEADERS], {HEADERS.id: page_of(HEADERS)}, weighed)
    assert untold([HEADERS], {HEADERS.id: f"{page_of(HEADERS)}\n{given}"}, weighed) == {}
    assert untold([HEADERS], {HEADERS.id: page_of(HEADERS), "passage": given}, weighed) == {}


def test_what_was_given_in_words_that_are_no_longer_the_facts_own_is_told() -> None:
    assert rests("Who merges the headers in spring?", HEADERS, shown="- Leave the vendored headers alone") == {}


def test_what_was_given_whole_for_certain_is_told() -> None:
    weighed, other = weighed_for(asked("Who merges the headers in spring?"), [HEADERS]), fact("The pond is frozen.")
    assert untold([HEADERS], {HEADERS.id: "", other.id: page_of(HEADERS)}, weighed) == {}


def test_what_is_not_in_the_request_is_not_told_in_part() -> None:
    weighed = weighed_for(asked("Who merges the headers in spring?"), [HEADERS])
    assert untold([HEADERS], {}, weighed) == {}


def test_what_an_answer_answers_is_the_rest_of_it() -> None:
    said = "The second one, it survives a restart of the whole rack"
    answer = fact(f"{said} [on: Shall the queue live in Kestrel or in Osprey?]", pinned=True, stream=Stream.PROJECTS)
    assert rests("What did we say about Kestrel and Osprey?", answer)
    assert rests("What survives a restart of the rack?", answer) == {}


def test_what_a_correction_was_against_is_told_with_it() -> None:
    said = "Call the branch trunk, the word mainline confuses Oddny"
    cut = fact(said, core="Call the branch trunk", wrong="mainline", pinned=True)
    assert rests("Who is confused by the branch?", cut)
    assert rests("What is mainline?", cut) == {}


WORD = st.text("abcdefghij", min_size=4, max_size=8)


@given(st.lists(st.tuples(WORD, st.booleans()), min_size=1, max_size=20), st.sampled_from(("whole", "core", "")))
def test_a_fact_is_its_told_part_and_its_rest(words: list[tuple[str, bool]], shown: str) -> None:
    text, core = " ".join(word for word, _ in words), " ".join(word for word, stays in words if stays)
    said = fact(text, core=core)
    told, rest = left_out(said, {"whole": f"- {text}\n", "core": f"- {core}\n", "": ""}[shown])
    assert sorted(f"{told} {rest}".split()) == sorted(text.split())
    assert bool(rest) == (shown == "core" and "" != core != text)
