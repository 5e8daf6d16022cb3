"""Every row of every rule table matches its own examples, and not those of what it must leave alone."""

import re
from pathlib import Path

import pytest

import memory
import proxy
from memory.language.rule_table import Row, any_of, expand, table, words

ROOTS = [Path(each.__file__ or "").parent for each in (memory, proxy)]
NUMBER = r"(\d[\d,_]{0,14})"
TABLES = [
    file
    for root in ROOTS
    for file in sorted(root.rglob("*.toml"))
    if (module := file.with_suffix(".py")).exists() and "rule_table import any_of, table" in module.read_text("utf-8")
]
ROWS = [
    pytest.param(row, id=f"{file.stem}-{group}-{index}")
    for file in TABLES
    for group, rows in table(str(file.with_suffix(".py"))).items()
    for index, row in enumerate(rows)
]


def test_there_are_tables() -> None:
    assert TABLES and ROWS


@pytest.mark.parametrize("row", ROWS)
def test_a_row_matches_its_examples_and_nothing_that_it_must_not(row: Row) -> None:
    pattern = re.compile(row.pattern.replace("#", NUMBER), re.IGNORECASE) if "#" in row.pattern else None
    pattern = pattern or re.compile(row.pattern, re.IGNORECASE)
    for text in row.yes:
        assert pattern.search(text), text
    for text in row.no:
        assert not pattern.search(text), text


def test_a_row_without_examples_is_an_error(tmp_path: Path) -> None:
    module = tmp_path / "words.py"
    module.with_suffix(".toml").write_text('[[greeting]]\npattern = "hello"\nyes = ["hello"]\n')
    with pytest.raises(ValueError, match=r"words\.toml: a row of greeting needs a pattern, yes and no: 'hello'"):
        table(str(module))


def test_rows_joined_find_what_any_of_them_does() -> None:
    joined = any_of([Row("a|b", ("a",), ("c",)), Row("^d", ("d",), ("e",))])
    assert [bool(joined.search(text)) for text in ("a", "b", "d", "xd", "c")] == [True, True, True, False, False]


def test_a_table_may_name_fragments_and_words(tmp_path: Path) -> None:
    module = tmp_path / "words.py"
    module.with_suffix(".toml").write_text(
        """
[words]
signs = ["you ", "we "]

[fragments]
who = "(?:you|we)"
whose = "{who}r"

[[greeting]]
pattern = '''
    hello {who}|
    bye {whose} x{2}
'''
yes = ["hello we", "bye your xx"]
no = ["bye you x"]
"""
    )
    (row,) = table(str(module))["greeting"]
    assert row.pattern == "hello (?:you|we)|bye (?:you|we)r x{2}"
    assert words(str(module), "signs") == ("you ", "we ")


def test_a_fragment_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        expand("hello {whom}", {})
    module = tmp_path / "words.py"
    module.with_suffix(".toml").write_text('[[greeting]]\npattern = "{who}"\nyes = ["you"]\nno = ["we"]\n')
    with pytest.raises(ValueError, match=r"words\.toml: a row of greeting names no fragment 'who'"):
        table(str(module))
