"""Tokens are counted with tiktoken, never with anything from the network, and never for long."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.context.sizes import quick
from memory.models import bundled
from memory.models.tokens import CL100K, O200K, SLICE, Tokens, pieces, vocabulary_of


@pytest.fixture(scope="module")
def o200k() -> Tokens:
    return Tokens()


def test_a_known_text_has_its_known_tokens(o200k: Tokens) -> None:
    assert o200k.count("hello world") == 2
    assert o200k.count("") == 0
    assert o200k.count("antidisestablishmentarianism") == 6


def test_the_older_vocabulary_lies_there_too() -> None:
    assert Tokens(CL100K).count("hello world") == 2


@pytest.mark.parametrize("text", ["a" * 10**6, " " * 10**6, "\n" * 10**6, "\ud800" * 50_000, "\x00" * 50_000])
def test_a_text_without_words_is_counted_all_the_same(o200k: Tokens, text: str) -> None:
    assert 0 < o200k.count(text) <= len(text)


def test_a_special_token_is_the_text_that_it_is(o200k: Tokens) -> None:
    assert o200k.count("<|endoftext|>") > 1


@given(st.text(st.sampled_from("ab \n-"), max_size=3 * SLICE))
@settings(max_examples=50)
def test_a_text_is_the_sum_of_its_pieces_and_none_is_long(text: str) -> None:
    cut = list(pieces(text))
    assert "".join(cut) == text
    assert max(map(len, cut)) <= SLICE


@pytest.mark.parametrize("text", ["x" * 20_000, ("y" * 5000 + " ") * 4])
def test_a_long_word_is_cut(text: str) -> None:
    assert max(map(len, pieces(text))) <= SLICE
    assert "".join(pieces(text)) == text


def test_nothing_is_loaded_before_it_is_needed(o200k: Tokens) -> None:
    fresh = Tokens()
    assert not fresh.ready
    assert o200k.count("x") == 1 and o200k.ready


def test_without_the_vocabulary_texts_are_estimated_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    monkeypatch.setattr(bundled, "VOCABULARIES", ("moved",))
    moved = Tokens()
    assert moved.count("some words here") == quick("some words here")
    assert moved.count("more of them") > 0
    assert moved.ready
    assert caplog.text.count("estimated, not counted") == 1


def test_another_file_in_its_place_is_not_taken_and_stays_where_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / O200K.file
    file.write_bytes(b"eA== 0\n")
    monkeypatch.setattr(bundled, "vocabularies", lambda: tmp_path)
    assert Tokens().count("x y z") == quick("x y z")
    assert file.read_bytes() == b"eA== 0\n"


def test_counting_opens_no_connection_and_does_not_import_litellm() -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*_, **__): raise SystemExit('a connection')\n"
        "socket.socket.connect = refuse\n"
        "from memory.models.tokens import Tokens\n"
        "assert Tokens().count('hello world') == 2\n"
        "sys.exit('litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize(
    ("model", "older"),
    [
        ("gpt-4o-mini", False),
        ("gpt-4.1", False),
        ("openai/gpt-4-turbo", True),
        ("gpt-4", True),
        ("gpt-3.5-turbo", True),
        ("gpt-5.1", False),
        ("claude-opus-5", False),
        ("local", False),
    ],
)
def test_the_first_gpt_4_reads_with_the_older_vocabulary(model: str, older: bool) -> None:
    assert vocabulary_of(model) is (CL100K if older else O200K)
