"""What kind of message a person wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.message_intent import (
    about_work,
    asking,
    mostly_asks,
    only_exclaims,
    only_moves_on,
    only_nods,
    seeks,
    tells,
    wants_advice,
)
from memory.language.words import stems


@pytest.mark.parametrize(
    "text",
    ["What is my sister called?", "In which year did we move?", "I forgot, where do I keep the keys?",
     "Did Ida finish her thesis?", "Remind me what we named the boat, please: which name was it?",
     "Tell me the name of my dentist"],
)  # fmt: skip
def test_these_seek_something_to_be_known(text: str) -> None:
    assert asking(text)


@pytest.mark.parametrize("text", ["Rename the folder.", "can you check the logs", "I went home.", "yes please"])
def test_these_do_not(text: str) -> None:
    assert not seeks(text)


def test_only_the_asking_sentences_are_named() -> None:
    assert asking("It rained. Where is the umbrella? Hurry up.") == ["Where is the umbrella?"]


def test_a_wish_for_advice_is_heard() -> None:
    assert wants_advice("Any suggestions for a birthday present?")
    assert wants_advice("What are some good museums in Oslo?")
    assert not wants_advice("Where is the museum?")


def test_orders_and_questions_tell_nothing() -> None:
    assert not tells("Can you add a test for the parser? Please push it then.")
    assert not tells("okay, so let's rebase onto main first")
    assert tells("Fix the parser. The lexer hands it tabs as two spaces since Monday.")


@pytest.mark.parametrize(
    "text",
    [
        "Build caches are thrown away on Sundays.",
        "Review apps live for two days.",
        "Search results come from the replica.",
        "Open invoices are mailed by the robot.",
    ],
)
def test_a_sentence_about_what_is_called_like_an_order_tells(text: str) -> None:
    assert tells(text)


@pytest.mark.parametrize("text", ["Make sure builds are green.", "Check builds are cached", "hi there, show the tree"])
def test_an_order_with_a_clause_of_its_own_tells_nothing(text: str) -> None:
    assert not tells(text)


def test_a_question_and_its_frame_mostly_ask() -> None:
    assert mostly_asks("I almost forgot, when is the rent due? And how much is it?")
    assert mostly_asks("I forgot when the rent is due. Is it Friday? Answer with the day.")
    assert not mostly_asks("The rent is due on Friday, to be paid to Bo. How much?")
    assert not mostly_asks("Pay the rent.")
    assert not mostly_asks("")


@pytest.mark.parametrize("text", ["Continue.", "Go on, please.", "Sounds good to me.", "Perfect, that works."])
def test_a_nod_names_nothing(text: str) -> None:
    assert only_nods(text)


@pytest.mark.parametrize("text", ["7443.", "Tabs.", "Run the tests.", "The build fails.", "eu-west-2"])
def test_what_names_a_thing_is_no_nod(text: str) -> None:
    assert not only_nods(text)


def test_work_words_are_counted() -> None:
    assert only_moves_on(stems("go ahead and push the branch"))
    assert not only_moves_on(stems("go ahead and paint the fence"))
    assert about_work(stems("branch commit")) == 1.0
    assert about_work(stems("sister garden")) == 0.0
    assert about_work([]) == 0.0


@given(st.text(max_size=300))
def test_no_text_is_too_odd(text: str) -> None:
    assert isinstance(tells(text), bool)
    assert all(sentence in text for sentence in asking(text))
    assert isinstance(wants_advice(text), bool)


@pytest.mark.parametrize("text", ["Good day.", "Hello there!", "Thanks. Good night.", "你好。", "おはよう", ""])
def test_a_word_or_two_at_a_time_only_exclaims(text: str) -> None:
    assert only_exclaims(text)


@pytest.mark.parametrize(
    "text",
    [
        "Write a haiku about rain.",
        "Good day. The mascot is an otter.",
        "Is it ready now?",
        "我们把夜间备份移到四点半了。",
        "在庫表の倉庫は赤い箱に入っている。",
    ],
)
def test_an_order_or_a_question_is_more_than_that(text: str) -> None:
    assert not only_exclaims(text)


@pytest.mark.parametrize("text", ["我们把夜间备份移到四点半了。", "在庫表の倉庫は赤い箱に入っている。"])
def test_a_sentence_without_spaces_tells_something(text: str) -> None:
    assert tells(text)
