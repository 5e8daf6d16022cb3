"""Replicas are killed while sessions go on, as the bench does it, with small numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import postgresql
from tests.bench.team import run


async def test_nothing_is_lost_broken_or_learnt_twice_where_a_replica_is_killed(tmp_path: Path) -> None:
    if postgresql.server() is None:
        pytest.skip("there is no PostgreSQL on this machine")
    outcome = await run(replicas=2, sessions=4, turns=3, kills=1, people=2, folder=tmp_path, again=False)
    assert outcome.held, outcome.told()
    assert outcome.acknowledged == outcome.learnt == 12 and outcome.kills == 1
