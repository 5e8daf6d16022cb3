"""The lines of a session that are worth their room."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.entity_coverage import (
    LONGEST_NAME,
    MAX_LINE_CHARS,
    PIECE,
    SLACK,
    SessionPart,
    _Read,
    excerpts,
    lines,
    names,
    rows,
    shortened,
)


def told(*sources: SessionPart) -> list[str]:
    return [line.text for line in lines(sources)]


def test_a_name_has_one_home_the_line_it_stood_on_last() -> None:
    first, second = SessionPart((1, 0), "old_identifier = first"), SessionPart((2, 0), "old_identifier = second")
    assert told(first, second) == ["old_identifier = second"]


def test_a_name_that_stays_elsewhere_is_at_home_there_only_when_that_is_newer() -> None:
    stays = SessionPart((2, 0), "see staying_identifier", competes=False)
    assert told(SessionPart((1, 0), "staying_identifier = 3"), stays) == []
    assert told(stays, SessionPart((3, 0), "staying_identifier = 3")) == ["staying_identifier = 3"]


def test_a_name_that_was_said_is_worth_more() -> None:
    said = SessionPart((0, 0), "call spoken_identifier", competes=False, said=True)
    assert told(said, SessionPart((1, 0), "quiet_identifier = 1\nspoken_identifier = 2"))[0] == "spoken_identifier = 2"


class Searched:
    """A pattern that keeps how many characters each of its searches had before it."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def findall(self, string: str, pos: int = 0, endpos: int = sys.maxsize, /) -> list[str]:
        self.sizes.append(min(endpos, len(string)) - pos)
        return names(string[pos:endpos])


@pytest.mark.parametrize("between", [" is ", ",", '","', " é "])
def test_a_line_without_an_end_is_read_piece_by_piece(between: str) -> None:
    line = between.join(f"identifier_{number}" for number in range(25_000))
    assert len(line) > 5 * PIECE
    searched = Searched()
    found = _Read(1000, searched, searched).rows(f"first_line\n{line}")
    assert found == {"first_line": 0} | {f"identifier_{number}": 1 for number in range(25_000)}
    assert max(searched.sizes) <= PIECE and len(searched.sizes) > 5


def test_only_what_is_longer_than_any_name_is_cut() -> None:
    whole = "x" * (PIECE - LONGEST_NAME), "y" * LONGEST_NAME
    found = [*rows(" ".join((*whole, "z" * (PIECE + 10))))]
    assert (found[0], found[1]) == whole
    assert len(found) == 4 and found[2] + found[3] == "z" * (PIECE + 10)


def test_of_a_very_long_line_only_what_stands_around_its_names_is_kept() -> None:
    line = "a " * 500 + "needle_identifier" + " b" * 500
    kept = shortened(line, ["needle_identifier"])
    assert "needle_identifier" in kept and len(kept) < MAX_LINE_CHARS
    assert shortened("short line", ["line"]) == "short line"


def test_lines_of_older_parts_only_become_fewer_and_only_when_there_is_no_more_room() -> None:
    old = {(1, 0): "\n".join(f"older_identifier_{n} = {n}" for n in range(30))}
    new = SessionPart((2, 0), "\n".join(f"newer_identifier_{n} = {n}" for n in range(30)))
    sources = [SessionPart((1, 0), old[1, 0]), new]
    roomy = excerpts(sources, [(2, 0)], old, removed=1000, most=1000)
    assert roomy.fewer == {} and "newer_identifier_29 = 29" in roomy.new[2, 0]
    tight = excerpts(sources, [(2, 0)], old, removed=1000, most=100)
    assert set(tight.fewer[1, 0].split("\n")) <= {*old[1, 0].split("\n"), "…", ""}
    assert sum(map(len, (*tight.fewer.values(), *tight.new.values()))) // 4 <= 100 * SLACK


@given(st.lists(st.tuples(st.text(max_size=300), st.booleans(), st.booleans()), max_size=6))
def test_any_texts_are_ranked_and_each_line_is_one_of_its_source(given_texts: list[tuple[str, bool, bool]]) -> None:
    sources = [SessionPart((n, 0), text, competes, said) for n, (text, competes, said) in enumerate(given_texts)]
    found = lines(sources)
    assert found == lines(sources)
    for line in found:
        source = sources[line.place[0]]
        assert source.competes
        row = source.text.split("\n")[line.row].strip()
        assert all(piece in row for piece in line.text.split(" … "))


@given(st.text(alphabet="ab_9./:-é \n", max_size=80))
def test_names_stand_where_they_stand_whatever_else_was_read(text: str) -> None:
    expected = {name: row for row, line in enumerate(text.split("\n")) for name in names(line)}
    small = _Read(200)
    for each in (text, "another_name_here\n" * 4, text, "x" * 300, text):
        found = small.rows(each)
    assert list(found.items()) == list(expected.items()) == list(rows(text).items())


def test_what_was_read_is_kept_up_to_a_bound() -> None:
    small = _Read(800)
    for number in range(100):
        small.rows(f"settle_step_{number} " * 5)
    small.rows("settle_step " * 100)
    assert sum(len(text) for kept in (small._young, small._old) for text in kept) <= 2 * 800
