import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.entities import MOST, entities


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("We met Maria Lopez of Acme.", ("Maria Lopez", "Acme")),
        ("Call getUserName in src/app/main.py", ("getUserName", "src/app/main.py")),
        ("Set MAX_DEPTH and max_depth", ("MAX_DEPTH",)),
        ("Priya prefers tea", ("Priya",)),
        ("Ask for Linh van Dyk", ("Linh van Dyk",)),
        ("It runs on PostgreSQL 15.2 now", ("PostgreSQL 15.2",)),
        ("See ENT-221 and #169", ("ENT-221", "#169")),
        ("Use `pnpm` here", ("pnpm",)),
        ("The weather is fine. However, I stay.", ()),
        ("Yesterday I slept.", ()),
    ],
)
def test_names_are_found_by_their_form(text: str, named: tuple[str, ...]) -> None:
    assert entities(text) == named


def test_a_possessive_is_the_name_without_it() -> None:
    assert entities("It was Tomas's idea") == ("Tomas",)


@given(st.text(max_size=600))
def test_names_stand_in_the_text_and_are_few(text: str) -> None:
    found = entities(text)
    assert len(found) <= MOST
    assert all(name.lower() in text.lower().replace("’", "'") for name in found)
