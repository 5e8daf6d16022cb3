"""The one line."""

from hypothesis import given
from hypothesis import strategies as st

from memory.tiers.shape import MAX_LINE_CHARS, Hint, hint_of
from memory.tiers.tier_choice import line


def test_a_file_is_told_by_path_and_size() -> None:
    text = "import os\n\n" + "x = 1\n" * 38
    assert line(text, hint_of("Read", '{"file_path": "/app/shop/cart.py"}')).startswith("/app/shop/cart.py · 40 lines")


def test_a_command_is_told_by_its_end_and_first_error() -> None:
    text = "Exit code 1\n" + "ok 1 fine\n" * 30 + "src/cart.ts:41:7: error TS2322: no number\n"
    told = line(text, hint_of("Bash", '{"command": "npm run build"}'))
    assert told == "$ npm run build · exit 1 · 31 lines · src/cart.ts:41:7: error TS2322: no number"


def test_a_search_is_told_by_its_pattern_and_count() -> None:
    told = line("a.py:1:retry\nb.py:2:retry\n", hint_of("Grep", '{"pattern": "retry", "path": "src"}'))
    assert told.startswith('Grep "retry" in src · 2 lines')


def test_a_page_is_told_by_its_title() -> None:
    assert "The plan" in line("# The plan\n\nFirst, this.\n", Hint())


def test_a_long_path_keeps_its_end() -> None:
    path = "/very" + "/long" * 60 + "/cart.py"
    assert "/long/cart.py" in line("x\n", hint_of("Read", '{"file_path": "' + path + '"}'))


@given(st.text(alphabet=st.characters(), max_size=300), st.text(max_size=20), st.text(max_size=60), st.booleans())
def test_it_is_one_line_within_its_limit_whatever_comes_in(text: str, tool: str, arguments: str, failed: bool) -> None:
    told = line(text, hint_of(tool, arguments, failed))
    assert 0 < len(told) <= MAX_LINE_CHARS
    assert told.isprintable()
