"""A person's notes for their agents, line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.learning.notes import MAX_NOTE_CHARS, Note, notes, without_headings


def test_each_line_and_bullet_is_a_note_and_orders_are_told_apart() -> None:
    text = "The API listens on port 8080.\n\n- Use **pnpm**, not npm\n- Never push to main\n1. The docs lie in docs/\n"
    assert notes(text) == [
        Note("The API listens on port 8080.", False),
        Note("Use pnpm, not npm", True),
        Note("Never push to main", True),
        Note("The docs lie in docs/", False),
    ]


def test_a_bullet_of_few_words_takes_its_heading_or_lead_along() -> None:
    assert [note.text for note in notes("## Commands\n\n- `make test`\n")] == ["Commands: `make test`"]
    assert [note.text for note in notes("Before a commit run:\n\n- make lint\n")] == ["Before a commit run: make lint"]
    assert [note.orders for note in notes("# Tests\n- run them\n")] == [True]


def test_a_heading_is_known_by_its_signs_or_by_the_row_below_it() -> None:
    text = "# Style\n\nUse tabs.\n\nTesting\n=======\n\n- pytest\n\nA rule\n---\n\n"
    text += "- one\n---\nIt is wrapped\nover two.\n---\n"
    kept = without_headings(text)
    assert not any(title in kept for title in ("Style", "Testing", "A rule"))
    assert all(said in kept for said in ("Use tabs.", "- pytest", "- one", "It is wrapped\nover two."))
    assert "Testing: pytest" in [note.text for note in notes(text)]


def test_a_comment_in_code_and_a_tag_are_no_headings() -> None:
    for kept in ("```sh\n# build it\nmake\n```", "~~~\n# a\n```\n# b\n~~~", "#1 is fixed", "#tag", "    # code"):
        assert without_headings(kept) == kept
    assert without_headings("```\n# a\n```\n# b\n#\n") == "```\n# a\n```\n\n\n"


@pytest.mark.parametrize(
    "code",
    [
        "Intro.\n\n```sh\n\nTotal\n-----\n\n# comment\n```\n",
        "~~~\n\nTotal\n=====\n```\n\nSum\n---\n~~~~",
        "```\n\nTotal\n-----\n",
        "```\n---",
    ],
)
def test_a_row_of_signs_in_code_makes_no_heading(code: str) -> None:
    assert without_headings(code) == code
    assert without_headings("```one line``` of code\n\nTotal\n-----\n") == "```one line``` of code\n\n\n"
    assert without_headings(f"```\nx\n```\n\nTotal\n-----\n\n{code}") == f"```\nx\n```\n\n\n\n{code}"


def test_code_tables_imports_comments_and_front_matter_are_no_notes() -> None:
    front, code, table = "---\ntitle: x\n---\n", "```sh\nrm -rf build\n```\n", "| a | b |\n| - | - |\n| 1 | 2 |\n"
    assert notes(f"{front}<!-- hidden -->\n@docs/other.md\n\n{code}\n{table}") == []


def test_of_a_whole_comment_nothing_is_a_note_and_of_what_stands_behind_it_all() -> None:
    told = notes("Use tabs here\n\n  <!-- first\n  second -->\n\n <!-- short --> Sign every commit\n")
    assert [note.text for note in told] == ["Use tabs here", "Sign every commit"]


def test_a_comment_without_an_end_hides_no_note_below_it() -> None:
    for between in ("\n\n", "\n"):
        told = notes(f"- Use tabs here\n\n<!-- todo{between}Sign every commit\n\n<!-- hidden -->\n")
        assert [note.text for note in told] == ["Use tabs here", "Sign every commit"]


def test_what_we_put_on_a_page_ourselves_is_not_the_persons() -> None:
    page = (
        "Mine.\n\n<!-- palimpsest: what follows is made from memory -->\n- Ours.\n<!-- palimpsest: end -->\nMine too.\n"
    )
    assert [note.text for note in notes(page)] == ["Mine.", "Mine too."]


def test_the_same_is_noted_once() -> None:
    assert len(notes("- Use tabs\n- use TABS\n")) == 1


@given(st.text(max_size=500))
def test_any_text_can_be_read(text: str) -> None:
    for note in notes(text):
        assert note.text.strip() and len(note.text) <= MAX_NOTE_CHARS + 2 and "\n" not in note.text
