"""What a request asks of memory."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.question import QuestionAuthor, ask
from memory.language.words import stems
from tests.memory.context.making import asked, conversation, model, person, tool


@pytest.mark.parametrize(
    "text",
    ["ok", "hi", "continue", "yes do it", "go ahead", "thanks!", "…", "👍", "try again please", "yes, commit and push",
     "can you run the tests again", "let's implement a fix for both then"],
)  # fmt: skip
def test_a_message_without_a_subject_asks_nothing(text: str) -> None:
    assert ask(conversation(person(text))) is None


def test_a_question_seeks_and_an_order_works() -> None:
    assert asked("What is my sister called?").work < 0.5
    assert asked("Rename the folder of the invoices.").work == 1.0
    assert 0.0 < asked("Which branch does the invoice service deploy from?").work < 1.0


def test_how_do_we_run_the_tests_is_a_question_though_all_its_words_are_of_the_work() -> None:
    assert ask(conversation(person("How do we run the tests?"))) is not None


def test_what_stands_around_a_question_counts_lightly() -> None:
    question = asked("I was in the garden all day. What is the name of my dentist? Answer in capitals.")
    assert question.stems["dentist"] == 1.0
    assert 0.0 < question.stems["garden"] < 0.5
    assert "capit" not in question.stems


def test_a_weekday_is_a_time_and_a_word_of_what_was_noted_under_it() -> None:
    now = datetime(2026, 11, 22, 12, tzinfo=UTC)
    question = ask(conversation(person("When was the system down on Tuesday?")), now)
    assert question is not None and question.route.spans
    assert question.stems[stems("Tuesday")[0]] == 1.0
    other = ask(conversation(person("When was the system down on 3 March?")), now)
    assert other is not None and other.route.spans and stems("March")[0] not in other.stems


def test_a_question_that_names_no_subject_takes_that_of_the_sentence_before_it() -> None:
    assert asked("I need a new bicycle for the city. Which one would you recommend?").stems["bicycl"] == 1.0


def test_a_short_message_takes_along_what_it_leans_on() -> None:
    before = person("Tell me about the greenhouse that Ada built in Porto.")
    question = ask(conversation(before, model("It is made of glass."), person("And when was it finished?")))
    assert question is not None
    assert question.stems["finish"] == 1.0
    assert 0.0 < question.stems["greenhous"] < 0.5


def test_code_in_a_message_is_not_what_it_asks() -> None:
    question = asked("Why does the sluice leak?\n```python\nfrobnicate(quux)\n```")
    assert "frobnic" not in question.stems
    assert "sluic" in question.stems


def test_an_agent_at_work_asks_with_what_went_wrong() -> None:
    output = "collected 12 items\nE   ModuleNotFoundError: No module named 'quokka'\n12 warnings in 3.1s"
    result = tool(output)
    question = ask(conversation(person("run it"), model("running"), result), failing=result.results)
    assert question is not None
    assert question.asker is QuestionAuthor.TOOL
    assert "quokka" in question.stems
    assert "collect" not in question.stems


def test_a_result_in_which_nothing_went_wrong_asks_nothing() -> None:
    listed, printed = tool("a.py\nb.py\n2 files"), tool("raise ValueError('no such row')")
    assert ask(conversation(person("list them"), model("listing"), listed), failing=listed.results) is None
    assert ask(conversation(person("print it"), model("printing"), printed)) is None, "it only names an error"


def test_an_answered_request_asks_nothing() -> None:
    assert ask(conversation(person("What is my sister called?"), model("Ida."))) is None
    assert ask(conversation()) is None


def test_a_huge_message_is_read_at_its_ends_only() -> None:
    question = asked("zebra " + "filler " * 50_000 + "walrus")
    assert {"zebra", "walrus"} <= set(question.stems)
    assert len(question.text) < 5_000


def test_a_recommendation_asks_for_advice() -> None:
    assert asked("Can you recommend a good restaurant in Lyon?").advice
    assert not asked("When did Ida move to Lisbon?").advice


@given(st.text(max_size=400))
def test_any_text_can_be_asked(text: str) -> None:
    question = ask(conversation(person(text)))
    if question is not None:
        assert question.stems
        assert all(0.0 < share <= 1.0 for share in question.stems.values())
        assert 0.0 <= question.work <= 1.0
        assert set(question.stems) <= set(stems(text))


def test_an_environment_is_a_subject_whatever_is_done_to_it() -> None:
    assert ask(conversation(person("Deploy the branch to staging"))) is not None
