"""What a person has changed in a file of the page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.page_diff import PageDiff, edited, mark_of, statement_of_line

LINES = ["- I avoid dairy.", "- I prefer tea to coffee. (unsettled)", "- Call me Bo.\n  Never Robert."]
TOLD = {"a": "I avoid dairy.", "b": "I prefer tea to coffee.", "c": "Call me Bo. Never Robert."}
MADE = [(id, mark_of(line)) for id, line in zip("abc", LINES, strict=True)]


def after(*lines: str) -> PageDiff:
    return edited(MADE, "\n".join(["# The user", "<!-- made -->", *lines]), TOLD)


def test_a_file_as_it_was_written_says_nothing() -> None:
    assert after(*LINES).nothing
    assert after("", LINES[0] + "   ", LINES[1].replace("- ", "* "), LINES[2], "").nothing


def test_a_line_that_was_only_moved_is_neither_new_nor_gone() -> None:
    assert after(LINES[2], LINES[0], LINES[1]).nothing


def test_new_changed_and_deleted_lines_are_told_apart() -> None:
    changes = after(LINES[0], "- I prefer coffee to tea.", "- The Tern sails well.")
    assert changes.gone == ("c",)
    assert [(id, line.text) for id, line in changes.changed] == [("b", "I prefer coffee to tea.")]
    assert [(line.number, line.text) for line in changes.added] == [(5, "The Tern sails well.")]


def test_a_line_without_a_dash_is_a_line_too() -> None:
    assert [line.text for line in after(*LINES, "I live in Bergen").added] == ["I live in Bergen"]


@pytest.mark.parametrize("nonsense", ["- ???", "- \x00\x01 binary stuff", "- " + "long words " * 90, "}}}}", "- 12 34"])
def test_nonsense_is_told_with_its_line_and_kept(nonsense: str) -> None:
    changes = after(LINES[0], nonsense, LINES[1], LINES[2])
    assert (changes.added, changes.gone) == ((), ())
    [odd] = changes.odd
    assert odd.number == 4
    assert odd.text == nonsense.rstrip()


@pytest.mark.parametrize("text", ["Vim", "long words " * 90, "42", "hi\n  there", "我总是使用制表符"])
def test_what_we_wrote_ourselves_is_no_edit_however_odd(text: str) -> None:
    made = [*MADE, ("d", mark_of(f"- {text}"))]
    assert edited(made, "\n".join([*LINES, f"- {text}"]), TOLD).nothing
    changes = edited(made, "\n".join([*LINES, f"- {text}", "- The Tern sails well."]), TOLD)
    assert (changes.gone, changes.odd, [line.text for line in changes.added]) == ((), (), ["The Tern sails well."])


@pytest.mark.parametrize("below", [(), ("<!-- another -->",)])
@pytest.mark.parametrize("begun", ["<!-- to be done", "  <!-- to be done", "<!--"])
def test_a_comment_without_an_end_hides_nothing_below_it(begun: str, below: tuple[str, ...]) -> None:
    changes = after(LINES[0], begun, LINES[1], *below, LINES[2], "- The Tern sails well.")
    assert (changes.gone, changes.changed, [line.text for line in changes.added]) == ((), (), ["The Tern sails well."])
    [odd] = changes.odd
    assert (odd.number, odd.text) == (4, begun)
    assert "no end" in odd.why


def test_what_a_whole_comment_encloses_is_taken_out() -> None:
    changes = after(LINES[0], "<!-- for now", LINES[1], "-->", LINES[2])
    assert (changes.gone, changes.odd, changes.added) == (("b",), (), ())


STEPS = ["Steps of a release:\n  - build it now\n  1. ship", "Use\n  # this heading\n  <!-- and this\n  too"]


@pytest.mark.parametrize("text", STEPS)
def test_what_we_wrote_in_several_lines_is_one_whatever_they_look_like(text: str) -> None:
    made = [MADE[0], ("d", mark_of(f"- {text}")), *MADE[1:]]
    lines = [LINES[0], f"- {text}", *LINES[1:]]
    assert edited(made, "\n".join(lines), {}).nothing
    changes = edited(made, "\n".join([*lines, "- The Tern sails well."]), {})
    assert (changes.gone, changes.changed, changes.odd) == ((), (), ())
    assert [line.text for line in changes.added] == ["The Tern sails well."]


@pytest.mark.parametrize("text", ["我总是使用制表符", "タブを使ってください", "ใช้แท็บเสมอ"])
def test_a_script_without_spaces_says_something(text: str) -> None:
    assert [line.text for line in after(*LINES, f"- {text}").added] == [text]


def test_when_most_of_a_file_is_gone_nothing_is_believed() -> None:
    made = [(f"f{n}", mark_of(f"- I avoid food number {n}.")) for n in range(12)]
    changes = edited(made, "- I avoid food number 3.", {})
    assert "11 of 12" in changes.accident
    assert not changes.gone
    assert edited(MADE, "", TOLD).gone == ("a", "b", "c")
    assert "new at once" in edited([], "\n".join(f"- Line of words {n}" for n in range(200)), {}).accident


@pytest.mark.parametrize("garbage", ["\x00\x01\x02 some words", "some words \ufffd\ufffd\n- more of them here"])
def test_where_lines_are_gone_and_garbage_stands_there_nothing_is_believed(garbage: str) -> None:
    changes = edited(MADE, garbage, TOLD)
    assert changes.accident and not (changes.gone or changes.odd or changes.added)


def test_what_we_put_behind_a_line_is_no_part_of_what_it_says() -> None:
    assert statement_of_line("Use pnpm. (not: npm) (unsettled)") == "Use pnpm."


@given(st.text(max_size=300))
def test_no_text_breaks_it_and_every_fact_is_accounted_for(text: str) -> None:
    changes = edited(MADE, text, TOLD)
    named = [*changes.gone, *(id for id, _ in changes.changed)]
    assert len(named) == len(set(named))
    assert set(named) <= {"a", "b", "c"}


def test_a_line_that_was_moved_to_where_one_like_it_is_gone_is_not_taken_for_it() -> None:
    lines = ["- I drink tea at home.", "- The Tern sails well.", "- I drink tea at work."]
    made = [(id, mark_of(line)) for id, line in zip("abc", lines, strict=True)]
    changes = edited(made, "\n".join([lines[2], lines[1]]), dict(zip("abc", (line[2:] for line in lines), strict=True)))
    assert (changes.gone, changes.changed, changes.added) == (("a",), (), ())
