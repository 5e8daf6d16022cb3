"""The table of what each runtime can do: rows of a run, and those of others left as they were."""

from __future__ import annotations

from tests.e2e.stage import Check
from tests.e2e.tried import COLUMNS, FILE, row, table

KNOWS, APART = "a new session of the project recalls it, and nothing else", "another project does not know it"


def test_a_row_says_what_was_shown_and_what_was_not_tried() -> None:
    results = {
        ("gemini", "once"): [Check(KNOWS, True), Check(APART, False)],
        ("gemini", "branches"): [Check("x", True)],
    }
    told = row("gemini", results, "2026-11-25").split(" | ")
    assert told[0] == "| gemini" and told[2] == "2026-11-25"
    shown = dict(zip((column.title for column in COLUMNS), told[3:], strict=True))
    assert (shown["recall in the next session"], shown["none in another project"]) == ("yes", "**no**")
    assert shown["resume"] == "–" and shown["branches"] == "yes |"


def test_rows_of_clients_that_were_not_played_stay() -> None:
    first = table({("gemini", "once"): [Check(KNOWS, True)]}, "2026-01-01", "")
    both = table({("cline", "once"): [Check(KNOWS, True)]}, "2026-02-02", first)
    assert [line.split(" | ")[2] for line in both.splitlines()[2:]] == ["2026-02-02", "2026-01-01"]
    assert table({("gemini", "once"): [Check(KNOWS, False)]}, "2026-03-03", both).count("| gemini |") == 1


def test_what_was_shown_by_the_same_version_stays_where_it_was_not_tried_again() -> None:
    first = row("gemini", {("gemini", "once"): [Check(KNOWS, True)], ("gemini", "long"): [Check("x", False)]}, "1")
    told = row("gemini", {("gemini", "long"): [Check("x", True)]}, "2", first).strip("| ").split(" | ")
    shown = dict(zip((column.title for column in COLUMNS), told[3:], strict=True))
    assert told[2] == "2" and shown["long session, no compaction"] == "yes"
    assert shown["recall in the next session"] == "yes (1)", "it is of the code of that day"
    again = row("gemini", {("gemini", "long"): [Check("x", True)]}, "3", f"| {' | '.join(told)} |").split(" | ")
    assert again[2] == "3" and again.count("yes (1)") == 1 and again.count("yes") == 1
    assert "(" not in row("gemini", {("gemini", "long"): [Check("x", True)]}, "1", first)
    other = first.replace("0.61.0", "0.60.0")
    assert row("gemini", {("gemini", "long"): [Check("x", True)]}, "2", other).count("yes") == 1


def test_the_page_has_a_place_for_it() -> None:
    text = FILE.read_text(encoding="utf-8")
    assert text.index("<!-- table -->") < text.index("<!-- /table -->")
