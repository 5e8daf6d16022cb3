"""The most telling lines of anything."""

from hypothesis import given
from hypothesis import strategies as st

from memory.tiers.lines import _INFORMATIVE, _INFORMATIVE_WORDS, lines, pieces, with_any
from memory.tiers.shape import Hint


def test_lines_are_kept_whole_and_in_order() -> None:
    text = "\n".join(f"value_{number} is set by handler_{number}" for number in range(60))
    made = lines(text, Hint(), 500)
    kept = [row for row in made.split("\n") if not row.startswith("…")]
    assert kept
    assert set(kept) <= set(text.split("\n"))
    assert kept == sorted(kept, key=text.split("\n").index)


def test_a_line_with_names_goes_before_repetitions() -> None:
    text = "\n".join(
        ["nothing to see here"] * 100 + ["retry_backoff lives in proxy/upstream/direct.py"] + ["again"] * 100
    )
    assert "retry_backoff lives in proxy/upstream/direct.py" in lines(text, Hint(), 200)


def test_what_the_call_itself_names_weighs_more() -> None:
    rows = [f"plain_thing_{number:03} here" for number in range(200)]
    made = lines("\n".join(rows), Hint(arguments='{"pattern": "plain_thing_117"}'), 120)
    assert rows[117] in made.split("\n")


def test_what_is_shown_already_is_not_shown_again() -> None:
    rows = [f"first_name_{number} second_name_{number}" for number in range(50)]
    made = lines("\n".join(rows), Hint(), 300, shown="\n".join(rows[:45]))
    assert not set(rows[:45]) & set(made.split("\n"))
    assert set(rows[45:]) & set(made.split("\n"))


def test_a_minified_line_is_taken_in_pieces() -> None:
    row = "".join(f'"key_{number}": "value {number}", ' for number in range(400))
    assert "".join(pieces(row)) == row
    assert max(map(len, pieces(row))) <= 400
    assert "key_" in lines(row, Hint(), 900)


@given(st.text(alphabet=st.characters(), max_size=600), st.integers(min_value=0, max_value=300), st.text(max_size=60))
def test_whatever_comes_in_it_is_within_the_limit(text: str, limit: int, shown: str) -> None:
    made = lines(text, Hint(), limit, shown)
    assert len(made) <= limit
    assert made == lines(text, Hint(), limit, shown)


def test_whatever_tells_of_a_definition_or_an_error_has_one_of_the_words_that_are_looked_for() -> None:
    told = (
        "func def class type interface const function struct fn enum trait impl error Error ERROR FAIL FAILED FAILURE "
        "failed Failed fatal panic KeyError IOException"
    )
    for word in told.split():
        assert _INFORMATIVE.search(f"a {word}: b")
        assert with_any(["nothing", f"a {word}: b", ""], _INFORMATIVE_WORDS) == {1}
