"""What a sub-agent found about code may leave its project, and what is guarded or about people may not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.learning.crossing import LARGEST, may_cross
from memory.learning.research import in_confidence
from memory.research import Research

AT = datetime(2026, 3, 4, tzinfo=UTC)


def research(report: str, question: str = "How are releases cut?", title: str = "Releases") -> Research:
    return Research("r1", "p:acme/loom", "u:acme/ada", question, AT, AT, description=title, reports=(report,))


@pytest.mark.parametrize(
    "report",
    [
        "Releases are cut from `main` by release.yml, with actions/checkout@v4.1 and lodash@4.17.21.",
        "Clone it with git@github.com:acme/loom.git; commits of noreply@github.com are squashed.",
        "The hash has 64 bits: a birthday attack takes 2^32 tries. Logs say 12:00:00 +0200 2026-11-28 10.",
        "- the tokeniser keeps 30_000 words\n- `Parser.next` returns None at the end\n\n```\n+1 line\n```",
        "The session is healthy, its token budget is 4096, and its cache key is the user's id.",
    ],
)
def test_what_is_about_code_may_cross(report: str) -> None:
    assert may_cross(research(report))


@pytest.mark.parametrize(
    "report",
    [
        "The password is hunter2hunter2.",
        "Between us: strictly confidential, the product is sold.",
        "Ask Rosa, she cuts them.",
        "Rosa's birthday is a holiday there.",
        "The contact is rosa.meier@mail.acme.example.",
        "Call +49 170 1234567 before a release.",
        "My name is Rosa and I live in Lisbon.",
        "x" * LARGEST,
    ],
)
def test_what_is_guarded_or_about_people_or_too_long_may_not(report: str) -> None:
    assert not may_cross(research(report))
    code = "Releases are cut from `main`."
    assert may_cross(research(code))
    assert not may_cross(research(f"{code}\n" * 300 + report)), "however late it stands"
    assert not may_cross(research(code, question=report)) and not may_cross(research(code, title=report))


def test_a_research_that_says_late_what_is_confidential_stays_with_its_person() -> None:
    late = research(f"{'Releases are cut from `main` by a script. ' * 150}Strictly confidential: it is sold.")
    assert in_confidence(late).owner == "u:acme/ada"
    assert in_confidence(research("Releases are cut from `main`.")).owner == "p:acme/loom"
