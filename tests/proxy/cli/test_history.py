"""As-of searches, a fact's history and its curve, on sessions that were imported with their own times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proxy.cli.history import draw
from tests.proxy.cli.running import run
from tests.proxy.cli.transcripts import files

pytestmark = pytest.mark.usefixtures("server")

OLD = "We decided to use PostgreSQL for the billing service."
NEW = "We switched the billing service from PostgreSQL to SQLite."


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Facts by their texts: one took the other's place in June."""
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    files.claude(tmp_path, "s1", [("user", "2026-01-10T10:00:00Z", OLD)])
    files.claude(tmp_path, "s2", [("user", "2026-06-01T10:00:00Z", NEW)])
    assert run("import", str(tmp_path)).code == 0
    return {each["text"]: each["id"] for each in run("facts", "--state", "all", "--json").json["facts"]}


def found(*arguments: str) -> set[str]:
    """The texts that a search finds, as facts or as what was said."""
    done = run("search", "Which database does the billing service use?", *arguments, "--json")
    return {each["text"] for each in done.json["results"]}


def test_a_search_as_of_a_day_finds_what_was_known_then(changed: dict[str, str]) -> None:
    assert found() == {NEW}
    assert found("--as-of", "2026-03") == {OLD}
    assert found("--as-of", "2026-06-01") == {NEW}
    assert found("--as-of", "2025") == set()


def test_an_impossible_date_is_told(changed: dict[str, str]) -> None:
    done = run("search", "database", "--as-of", "2026-02-30")
    assert done.code == 1 and "as_of" in done.err and "2026-02-30" in done.err


def test_a_question_about_the_past_finds_what_was_superseded_by_itself(changed: dict[str, str]) -> None:
    done = run("search", "Which database did the billing service use before?", "--json")
    states = {each["text"]: each.get("state", "said") for each in done.json["results"]}
    assert states == {OLD: "superseded", NEW: "said"}


def test_a_history_is_the_same_from_either_end(changed: dict[str, str]) -> None:
    chains = [run("history", changed[text][:8], "--json").json["history"] for text in (OLD, NEW)]
    assert [[each["text"] for each in chain] for chain in chains] == [[OLD, NEW]] * 2
    assert chains[0][0]["superseded_by"] == [changed[NEW]]
    shown = run("history", changed[OLD][:8]).out
    assert "2026-01-10 – 2026-06-01" in shown and "superseded by" in shown


def test_a_history_fits_a_terminal_of_eighty_columns(changed: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("history", changed[OLD][:8]).out
    assert changed[OLD][:8] in shown and changed[NEW][:8] in shown and "2026-06-01" in shown
    said = " ".join(shown.split())
    assert all(word in said for word in OLD.split() + NEW.split())
    assert max(map(len, shown.splitlines())) <= 80


def test_a_curve_is_drawn_from_the_making_to_a_year_from_now(changed: dict[str, str]) -> None:
    told = run("fact", changed[OLD], "--curve", "--json").json
    assert told["times"][0].startswith("2026-01-10")
    assert told["strengths"][0] > told["strengths"][-1] > 0
    drawn = run("fact", changed[OLD][:8], "--curve").out
    assert "█" in drawn and "now" in drawn and "2026-01-10" in drawn


def test_a_passage_has_no_history(changed: dict[str, str]) -> None:
    results = run("search", "billing service", "--json").json["results"]
    passage = next(each["id"] for each in results if each["sort"] == "turn")
    assert "only facts" in run("history", passage).err
    assert "only facts" in run("fact", passage, "--curve").err


def test_a_drawing_fits_its_columns_and_marks_now_and_the_uses() -> None:
    times = [f"2026-01-{day:02}T00:00:00+00:00" for day in range(1, 31)]
    told: dict[str, Any] = {"times": times, "strengths": [1 - place / 30 for place in range(30)], "now": times[10]}
    lines = list(draw(told | {"uses": [times[3]]}, 30))
    assert max(map(len, lines)) <= 38
    axis = lines[-2][8:]
    assert (axis.index("┬"), axis.index("╵")) == (10, 3)
    flat = list(draw({"times": times[:2], "strengths": [0.0, 0.0], "now": times[0], "uses": []}, 80))
    assert "█" not in "".join(flat)
