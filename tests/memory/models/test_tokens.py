"""Tokens are counted with tiktoken, never with anything from the network, and never for long."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.sizes import quick
from memory.models.tokens import O200K, SLICE, TokenCounter, pieces


@pytest.fixture(scope="module")
def o200k() -> TokenCounter:
    return TokenCounter()


def test_a_known_text_has_its_known_tokens(o200k: TokenCounter) -> None:
    assert o200k.count("hello world") == 2
    assert o200k.count("") == 0
    assert o200k.count("antidisestablishmentarianism") == 6


@pytest.mark.parametrize("text", ["a" * 10**6, " " * 10**6, "\n" * 10**6, "\ud800" * 50_000, "\x00" * 50_000])
def test_a_text_without_words_is_counted_all_the_same(o200k: TokenCounter, text: str) -> None:
    assert 0 < o200k.count(text) <= len(text)


def test_a_special_token_is_the_text_that_it_is(o200k: TokenCounter) -> None:
    assert o200k.count("<|endoftext|>") > 1


@given(st.text(st.sampled_from("ab \n-"), max_size=3 * SLICE))
def test_a_text_is_the_sum_of_its_pieces_and_none_is_long(text: str) -> None:
    cut = list(pieces(text))
    assert "".join(cut) == text
    assert max(map(len, cut)) <= SLICE


@pytest.mark.parametrize("text", ["x" * 20_000, ("y" * 5000 + " ") * 4])
def test_a_long_word_is_cut(text: str) -> None:
    assert max(map(len, pieces(text))) <= SLICE
    assert "".join(pieces(text)) == text


def test_nothing_is_loaded_before_it_is_needed(o200k: TokenCounter) -> None:
    fresh = TokenCounter()
    assert not fresh.ready
    assert o200k.count("x") == 1 and o200k.ready


def test_without_the_vocabulary_texts_are_estimated_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    moved = TokenCounter(folder=tmp_path)
    assert moved.count("some words here") == quick("some words here")
    assert moved.count("more of them") > 0
    assert moved.ready
    assert caplog.text.count("estimated, not counted") == 1


def test_another_file_in_its_place_is_not_taken_and_stays_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / O200K.file
    file.write_bytes(b"eA== 0\n")
    assert TokenCounter(folder=tmp_path).count("x y z") == quick("x y z")
    assert file.read_bytes() == b"eA== 0\n"


def test_counting_opens_no_connection_and_does_not_import_litellm() -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*_, **__): raise SystemExit('a connection')\n"
        "socket.socket.connect = refuse\n"
        "from memory.models.tokens import TokenCounter\n"
        "assert TokenCounter().count('hello world') == 2\n"
        "sys.exit('litellm' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
