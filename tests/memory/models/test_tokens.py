"""Tokens are counted as tiktoken counts them, never with anything from the network, and never for long."""

import base64
import subprocess
import sys
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from memory.context.sizes import quick
from memory.language.static_embedding import DATA
from memory.models import tokens
from memory.models.tokens import O200K, SLICE, TokenCounter, pieces

PATTERN = "|".join(O200K.pattern).format(
    upper=r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}",
    lower=r"\p{Ll}\p{Lm}\p{Lo}\p{M}",
    letter=r"\p{L}",
    number=r"\p{N}",
    space=r"\s",
)
"""The vocabulary's own, as its makers write it."""

ODD = [
    "a",
    "B",
    "'s",
    "'S",
    "'ll",
    "\u017f",
    "don't",
    "HTTPServer",
    "7",
    "12",
    "\xe9",
    "\u0416",
    "\xdf",
    "\u4e2d\u56fd",
    "\u0300",
]
ODD += ["\u01c5", "\u02b0", "\xb2", "\xbd", "/", "--", "\U0001f600"]
SPACES = [" ", "  ", "\n", "\r", "\t", "\x1c", "\x85", "\u2028", "\u3000"]
FAR = ["\U00010400", "\U000e0100", "\U0001d7d8"]


@pytest.fixture(scope="module")
def o200k() -> TokenCounter:
    return TokenCounter()


@pytest.fixture(scope="module")
def theirs() -> tiktoken.Encoding:
    lines = (line.split() for line in (DATA / O200K.file).read_bytes().splitlines())
    ranks = {base64.b64decode(word): int(rank) for word, rank in lines}
    return tiktoken.Encoding(O200K.name, pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


@given(st.text(st.characters(max_codepoint=0x24F)) | st.lists(st.sampled_from([*ODD, *SPACES, *FAR])).map("".join))
def test_a_text_has_as_many_tokens_as_its_makers_count(
    o200k: TokenCounter, theirs: tiktoken.Encoding, text: str
) -> None:
    assert o200k.count(text) == len(theirs.encode_ordinary(text))


@pytest.mark.parametrize(
    "text",
    [
        "x" * 3000,
        "0123456789abcdef" * 100,
        "\u4e2d\u6587\u53e5\u5b50\u6ca1\u6709\u7a7a\u683c" * 40,
        "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22" * 30,
        "a\ud800b\udfff c",
        *(file.read_text("utf-8")[:SLICE] for file in sorted(Path(tokens.__file__).parent.glob("*.py"))),
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_words_without_end_and_code_have_as_many_tokens_too(
    o200k: TokenCounter, theirs: tiktoken.Encoding, text: str
) -> None:
    assert o200k.count(text) == len(theirs.encode_ordinary(text))


def test_each_word_of_the_vocabulary_has_its_own_rank(theirs: tiktoken.Encoding) -> None:
    words = tokens._Words(O200K, (DATA / O200K.file).read_bytes())
    assert all(words._rank(theirs.decode_single_token_bytes(rank)) == rank for rank in range(theirs.n_vocab))


def test_counts_that_are_kept_have_a_bound(o200k: TokenCounter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "KNOWN_WORDS", 10)
    words = tokens._words(O200K, DATA)
    for number in range(50):
        assert words.count(f"word{number} and others") == o200k.count(f"word{number} and others")
        assert len(words._known) <= 10


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
