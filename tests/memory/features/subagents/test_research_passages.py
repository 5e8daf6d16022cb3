"""The pieces by which a research is found."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.fact import Sensitivity
from memory.features.subagents.research_index import MENTIONED, passages_of
from memory.research import Research, ResearchOutcome

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("report", "guard"),
    [
        ("The admin password: hunter2 (vault/prod.yaml line 4).", Sensitivity.RESTRICTED),
        ("Retries stop behind five attempts, in billing/retry.py.", Sensitivity.NORMAL),
    ],
)
def test_the_line_of_a_research_is_as_guarded_as_what_it_tells_of_the_report(report: str, guard: Sensitivity) -> None:
    research = Research(
        "5ad4c2f0-0000-4000-8000-000000000001", "p", "u", "How is it?", NOW, NOW, reports=(report,),
        outcome=ResearchOutcome.FINISHED, line="What is known",
    )  # fmt: skip
    [line] = [each for each in passages_of(research, ()) if each.speaker == MENTIONED]
    assert report[:20] in line.text
    assert line.sensitivity is guard
