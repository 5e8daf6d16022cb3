"""What a request may cost at most, counted and not timed: ``python -m tests.bench.work`` says what it costs now."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.bench.scenarios import SCENARIOS
from tests.bench.work import COUNTS, count

BUDGET: Mapping[str, tuple[int, ...]] = {
    # statements, commits, JSON texts, hashes, hops between threads, calls of functions
    "plain tool result": (54, 5, 53, 77, 20, 15_500),
    "failed tool result": (54, 5, 41, 77, 19, 12_500),
    "human message of 2 KB": (170, 8, 34, 56, 29, 29_000),
    "human message to an agent": (112, 8, 31, 40, 30, 36_000),
    "known history of 400 KB, new id": (210, 8, 28, 950, 28, 480_000),
}
"""Ceilings, a little above what is counted: how the loop's turns and the threads' fall differs from run to run."""


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_request_costs_no_more_than_its_budget(name: str, tmp_path: Path) -> None:
    [counted] = await count(tmp_path, 1000, {name: SCENARIOS[name]})
    costs = {what: counted.total(what) for what in COUNTS}
    over = {what: cost for (what, cost), most in zip(costs.items(), BUDGET[name], strict=True) if cost > most}
    assert not over, counted
    assert ("message" not in name) or counted.shown > 1, "the questions of the scenario have answers in memory"
