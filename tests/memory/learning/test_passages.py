import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.learning.passages import MOST, TOKENS, only_asks, passages


def test_a_short_turn_is_one_passage() -> None:
    assert passages("We met at noon. It rained.") == [(0, "We met at noon. It rained.")]


def test_a_long_turn_is_cut_between_sentences() -> None:
    text = " ".join(f"Sentence number {n} tells something about the harbour." for n in range(40))
    pieces = passages(text)
    assert len(pieces) > 3
    assert [place for place, _ in pieces] == list(range(len(pieces)))
    assert all(len(body) <= 4 * TOKENS and body.endswith(".") for _, body in pieces)
    assert " ".join(body for _, body in pieces) == text


def test_a_sentence_without_end_is_cut_at_words() -> None:
    pieces = passages("word " * 400)
    assert all(len(body) <= 4 * TOKENS for _, body in pieces)
    assert sum(body.count("word") for _, body in pieces) == 400


def test_long_code_and_logs_stay_in_the_journal() -> None:
    log = "\n".join(
        f"2026-11-20T10:00:{n:02d} INFO worker did a thing with number {n} and then some more of it {'x' * 150}"
        for n in range(30)
    )
    text = f"It failed again:\n```\n{'y = compute(y)' * 40}\n```\n{log}\nPlease look."
    assert passages(text) == [(0, "It failed again: Please look.")]


def test_a_short_command_is_kept() -> None:
    assert passages("Run this:\n```sh\nmake check\n```") == [(0, "Run this: make check")]


def test_scripts_without_spaces_weigh_more() -> None:
    assert len(passages("茶" * 500)) >= 4


def test_a_turn_without_words_has_no_passages() -> None:
    assert passages("") == []
    assert passages("🙈 …") == []


@pytest.mark.parametrize(
    "text",
    [
        "When did she move?",
        "Hi! Can you tell me what he paints",
        "Please recommend a good book.",
        "what did we decide about the cache?",
    ],
)
def test_a_turn_that_only_asks_is_known(text: str) -> None:
    assert only_asks(text)


@pytest.mark.parametrize(
    "text", ["I moved to Rome. What should I see?", "The cache is cold.", "Hello there!", "", "Fix the parser."]
)
def test_a_turn_that_tells_something_does_more_than_ask(text: str) -> None:
    assert not only_asks(text)


@given(st.text(max_size=3000))
def test_passages_are_bounded_and_invent_no_words(text: str) -> None:
    pieces = passages(text)
    assert len(pieces) <= MOST
    for _, body in pieces:
        assert len(body) <= 4 * TOKENS
        for word in body.split():
            assert word in text
