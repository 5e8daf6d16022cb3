"""What a request may cost at most, counted and not timed: ``python -m tests.bench.work`` says what it costs now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.bench.scenarios import SCENARIOS
from tests.bench.work import COUNTS, count

BUDGET: Mapping[str, tuple[int, ...]] = {
    # statements, commits, JSON texts, hashes, hops between threads, calls of functions
    "plain tool result": (19, 5, 30, 36, 8, 11_080),
    "failed tool result": (19, 4, 30, 37, 6, 9_000),
    "human message of 2 KB": (32, 4, 17, 27, 8, 13_070),
    "human message to an agent": (28, 4, 15, 22, 8, 15_600),
    "known history of 400 KB, new id": (48, 4, 14, 330, 13, 31_400),
}
"""Ceilings, a little above what is counted: in what order the threads come to their turns differs from run to run."""

ANSWERING = 10
"""Statements until the reply to a plain result of a tool has ended: an agent at work waits for each of them."""


@pytest.mark.parametrize("name", SCENARIOS)
def test_requests_that_only_lead_to_others_come_first_in_their_sessions(name: str) -> None:
    scenario, _ = SCENARIOS[name]
    counted, wanted = Counter[str](), 25
    for each in scenario(wanted):
        assert each.counted or not counted[each.session]
        counted[each.session] += each.counted
    assert counted.total() == wanted


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_request_costs_no_more_than_its_budget(name: str, tmp_path: Path) -> None:
    [counted] = await count(tmp_path, 1000, {name: SCENARIOS[name]})
    costs = {what: counted.total(what) for what in COUNTS}
    over = {what: cost for (what, cost), most in zip(costs.items(), BUDGET[name], strict=True) if cost > most}
    assert not over, counted
    assert name != "plain tool result" or counted.answering["statements"] <= ANSWERING + 0.5
    assert ("message" not in name) or counted.shown > 1, "the questions of the scenario have answers in memory"
