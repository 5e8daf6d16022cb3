"""What memory's edits were worth, and what a shed lost by moving the prefix: each counted once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.ports import ModelTotals
from proxy.api.savings import rows, told
from tests.fake_provider import fake_provider
from tests.proxy.web.browsing import let_in
from tests.running import running

NOW = datetime(2026, 11, 20, 13, 0, tzinfo=UTC)
SUMS = ModelTotals(
    "gpt-4o-mini", True, True, 4, 0, added=50, shown=1, shorter=90_000, longer=200, input=40_000, cached=30_000,
    sheds=1, anew=6_000, day="2026-11-20", project="loom",
)  # fmt: skip
COLD = replace(SUMS, warm=False, cached=0, anew=0, sheds=0)


async def test_what_a_cache_break_lost_is_told_apart_and_counted_once(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        memory = proxy.edge.memory
        assert memory is not None
        prices = memory.windows.prices(SUMS.model)
        assert prices is not None and prices.fresh > prices.cached
        both = told(memory, [SUMS, COLD], 7, NOW)
        assert both["lost"] == pytest.approx(6_000 * (prices.fresh - prices.cached), abs=1e-6)
        assert both["saved"] == pytest.approx(90_000 * (prices.cached + prices.fresh), abs=1e-6)
        left = (both["saved"] or 0) - (both["spent"] or 0) - (both["lost"] or 0)
        assert both["net"] == pytest.approx(left, abs=2e-6)
        unbroken = told(memory, [replace(SUMS, anew=0), COLD], 7, NOW)
        assert unbroken["saved"] == both["saved"] and unbroken["lost"] == 0
        [row] = rows(memory, [SUMS, COLD], lambda each: each.model)
        assert row.net == pytest.approx(both["net"], abs=1e-6) and row.lost == pytest.approx(both["lost"], abs=1e-6)
        nowhere = told(memory, [replace(SUMS, model="nobody-s")], 7, NOW)
        assert all(nowhere[name] is None for name in ("saved", "spent", "lost", "net"))


async def test_the_page_and_the_api_tell_it(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        page = await (await let_in(proxy)).get("money")
        assert "Lost by cache breaks" in page.text
