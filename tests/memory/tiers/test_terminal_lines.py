"""What a terminal would show, and lines put back together."""

from hypothesis import given
from hypothesis import strategies as st

from memory.tiers.lines import clean, cut, joined


def test_colours_and_links_of_a_terminal_are_no_content() -> None:
    assert clean("\x1b[1;31mFAIL\x1b[0m src/app.py\x1b]8;;file:///x\x07link\x1b]8;;\x07") == "FAIL src/app.pylink"


def test_of_a_progress_bar_the_last_state_is_left() -> None:
    assert clean("get\n10%\r50%\r100% done\r\nnext\r\n") == "get\n100% done\nnext\n"


def test_nul_and_lone_surrogates_do_not_come_through() -> None:
    assert clean("a\0b\ud800c") == "ab\ufffdc"


def test_plain_text_stays_as_it_is() -> None:
    text = "eins\n\tzwei → drei\n"
    assert clean(text) is text


@given(st.text(alphabet=st.characters(), max_size=300))
def test_cleaning_never_adds_and_is_done_once(text: str) -> None:
    assert len(clean(text)) <= len(text)
    clean(text).encode()


def test_a_large_gap_is_told_with_its_length_where_there_is_room() -> None:
    rows = [str(number) for number in range(100)]
    assert joined(rows, (0, 50), 40) == "0\n… 49 lines …\n50\n… 49 lines …"
    assert joined(rows, (0, 50), 0) == "0\n…\n50\n…"


@given(st.text(max_size=200), st.integers(min_value=0, max_value=250))
def test_a_cut_text_is_within_the_limit(text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= limit
