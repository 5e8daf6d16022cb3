import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.sentences import BlockShape, TextBlock
from memory.learning.speech import MAX_SENTENCE_CHARS, SpokenSentence, clauses


@pytest.mark.parametrize(
    "text",
    [
        "What is this?",
        "can you run the tests",
        "We use React, right?",
        "why does it fail",
        "I wonder: is it used?",
        "does this work",
        "Any ideas",
        '"Is there a good map of the town?"',
        "kannst du das prüfen",
    ],
)
def test_a_question_asks_with_or_without_its_mark(text: str) -> None:
    assert SpokenSentence(text).question


@pytest.mark.parametrize(
    "text",
    [
        "What I want is a single file.",
        "Do not touch the lock file.",
        "When you commit, sign it.",
        "I like what you did.",
        "Have it return a list.",
        "Should be called twice.",
        "Is now called runner.",
    ],
)
def test_what_only_begins_like_a_question_states(text: str) -> None:
    assert not SpokenSentence(text).question


@pytest.mark.parametrize(
    "text", ["Suppose we use Redis.", "What if I lived in Rome.", "Imagine I hate tea.", "You are a pirate."]
)
def test_what_is_supposed_is_not_stated(text: str) -> None:
    assert SpokenSentence(text).hypothetical
    assert not SpokenSentence(text).stated


@pytest.mark.parametrize(
    "text", ["He said that tabs are better.", "According to the docs it is fast.", '"Always use tabs."']
)
def test_what_others_said_is_reported(text: str) -> None:
    assert SpokenSentence(text).reported


def test_an_assistant_that_talks_about_itself_is_heard() -> None:
    assert SpokenSentence("As an AI, I prefer not to guess.").about_agent


def test_openers_and_code_are_not_what_is_said() -> None:
    assert SpokenSentence("Yeah, ok, so use `never_always` here").plain == "use `x` here"


def test_a_word_alone_is_not_taken_for_an_opener_of_nothing() -> None:
    assert SpokenSentence("yes").plain == "yes"


@pytest.mark.parametrize(
    "text", ["Fix the API.", "Rename getUser.", "see src/app/main.py", "run --verbose", "two tests in a class"]
)
def test_the_work_is_known_by_its_words(text: str) -> None:
    assert SpokenSentence(text).technical


@pytest.mark.parametrize(
    "text", ["I love the library.", "My yoga class was great.", "The session with my coach was long."]
)
def test_life_has_some_of_those_words_too(text: str) -> None:
    assert not SpokenSentence(text).technical


def test_where_code_is_talked_of_one_such_word_is_enough() -> None:
    assert SpokenSentence("That session was long.", work=True).technical


def test_clauses_are_counted_and_bounded() -> None:
    spoken = clauses([TextBlock(BlockShape.ITEM, "One. Two.", "1"), TextBlock(BlockShape.PROSE, "Three.")], most=2)
    assert [(clause.text, clause.marker, clause.position) for clause in spoken] == [("One.", "1", 0), ("Two.", "", 1)]


@given(st.text(max_size=900))
def test_any_text_can_be_looked_at(text: str) -> None:
    clause = SpokenSentence(text)
    assert len(clause.plain) <= 2 * MAX_SENTENCE_CHARS
    assert isinstance(clause.stated, bool)
    assert isinstance(clause.technical, bool)
