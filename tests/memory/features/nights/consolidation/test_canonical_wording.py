import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.features.nights.consolidation.gist import clearest

SAYINGS = [
    "no",
    "the structlog logger is there for that",
    "Everything goes through the structlog logger, never through print.",
    "a print can't carry fields",
    "As I told you last week when we talked about the export for the people from accounting, print is out.",
]


def test_the_wording_that_has_most_of_what_the_others_have_is_the_clearest() -> None:
    assert clearest(SAYINGS) == SAYINGS[2]


@given(st.lists(st.text(), min_size=1, max_size=6))
def test_it_is_one_of_them(texts: list[str]) -> None:
    assert clearest(texts) in texts


def test_of_none_there_is_none() -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        clearest([])
