from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memory.understanding.tokens import MAX_WORD_CHARS, located, tokens


def test_forms_are_named_because_their_values_teach_nothing() -> None:
    assert tokens("Port 8443 on `falcon` since 10:30, see docs/run.md") == (
        *("port", "<number>", "on", "<code>", "since", "<clock>", ",", "see", "<path>"),
    )
    assert tokens("maxRetries in HTTP_CLIENT is v2.1.0 --force") == (
        *("<name>", "in", "<name>", "is", "<version>", "<flag>"),
    )


@given(st.text(max_size=300))
def test_tokens_stand_in_order_and_inside_any_text(text: str) -> None:
    found = located(text)
    assert all(0 <= token.start < token.end <= len(text) for token in found)
    assert all(one.end <= two.start for one, two in pairwise(found))


@given(st.text(max_size=300))
def test_words_are_short_and_no_words_are_lost(text: str) -> None:
    assert all(0 < len(token) <= MAX_WORD_CHARS for token in tokens(text))
    assert tokens(text) == tokens(text)


def test_words_are_lower_case_and_marks_are_known_as_such() -> None:
    said = located("Don’t Stop, please")
    assert [token.text for token in said] == ["don't", "stop", ",", "please"]
    assert [token.is_mark for token in said] == [False, False, True, False]
