"""Two weeks through the real proxy: what was said stands on the page, what changed is changed, a rule is shared."""

from __future__ import annotations

import pytest

from proxy.cli.demo_story import RULE, Scene, StoryTurn, print_story
from tests.proxy.cli.running import run


def test_the_story_goes_as_it_is_told() -> None:
    scenes = {each["title"]: each for each in run("demo", "--story", "--json").json["scenes"]}
    early, now = scenes["The page, MEMORY.md, by now"]["lines"], scenes["The page now"]["lines"]
    assert any("MySQL 8" in line for line in early) and not any("PostgreSQL" in line for line in early)
    assert any("PostgreSQL 16" in line for line in now) and f"- {RULE}" in now
    assert "- We decided to use MySQL 8 for the orders service." not in now
    assert "- We decided to use MySQL 8 for the orders service." in scenes["What holds no longer"]["lines"]
    # The exception stands beside its rule.
    assert any("always use pnpm" in line for line in now) and any("legacy/" in line for line in now)
    approved = next(each for title, each in scenes.items() if title.startswith("A rule waits"))
    assert f"+- {RULE}" in approved["lines"] and approved["day"] == 14
    [asked] = scenes["Two weeks later, a new session"]["turns"]
    assert "PostgreSQL 16" in str(asked["page"] + asked["recalled"])
    [unrelated] = scenes["Something that has nothing to do with it"]["turns"]
    assert unrelated["recalled"] == []


def test_a_page_that_is_as_before_is_only_counted(capsys: pytest.CaptureFixture[str]) -> None:
    page = ["- We use pnpm."]
    print_story(
        [
            Scene(
                1,
                "2026-11-09T10:00:00",
                "One",
                [StoryTurn("Hello", page), StoryTurn("Again", page, ["2026-11-08  user: Hi"])],
            ),
            Scene(2, "2026-11-10T10:00:00", "Two"),
        ]
    )
    told = capsys.readouterr().out
    assert told.count("- We use pnpm.") == 1 and "the page as before, 1 line" in told
    assert "recall  2026-11-08  user: Hi" in told and "day 2, 2026-11-10  Two\n  nothing" in told
