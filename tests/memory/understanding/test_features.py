from hypothesis import given
from hypothesis import strategies as st

from memory.understanding.features import SIZE, around, of_gap, of_text


@given(st.text(max_size=200), st.text(max_size=200))
def test_every_feature_is_a_row_of_the_table(text: str, reply: str) -> None:
    rows = [*of_text(text), *around([text, reply], 0, reply), *around([text], 0, "")]
    assert all(0 <= row < SIZE for row in rows)


def test_features_are_the_same_in_every_process() -> None:
    # CRC-32 knows no seed: these are the rows that the shipped weights were fitted to.
    assert of_text("pin it")[0] == 8031


def test_what_a_text_says_and_what_stands_around_it_never_mix() -> None:
    assert set(of_text("use tabs")).isdisjoint(around(["use tabs", "ok"], 1, "use tabs"))


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=6), st.data())
def test_every_gap_between_words_has_as_many_features(words: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(words) - 1))
    rows = of_gap(words, at)
    assert len(rows) == len(of_gap(["a", "b"], 1))
    assert all(0 <= row < SIZE for row in rows)


@given(st.text(max_size=200))
def test_only_the_end_of_a_reply_counts(ending: str) -> None:
    long = "x" * 5000 + " " * 600 + ending
    assert around(["yes"], 0, long) == around(["yes"], 0, long[-600:])
