"""What a shed has saved is told by what the provider reported, and is a loss until it has paid for itself."""

from __future__ import annotations

import pytest

from memory.context.budget import Prices, saved, worth
from memory.conversation import Usage
from memory.ports import ModelTotals
from memory.session import Shed

PRICES = Prices(fresh=10.0, cached=1.0)


def shed(warm: bool, removed: int = 100, rewritten: int = 50) -> Shed:
    return Shed("fold", "full", removed, rewritten, warm)


def test_in_a_warm_cache_what_is_read_anew_costs_at_first_and_every_later_turn_saves() -> None:
    first, later = Usage(200, 5, cached=120), Usage(210, 5, cached=200)
    assert saved(shed(True), [first], PRICES) == pytest.approx(100 - 50 * 9)
    assert saved(shed(True), [first, later], PRICES) == pytest.approx(100 - 50 * 9 + 100)


def test_nothing_counts_as_read_anew_that_the_provider_reported_as_cached() -> None:
    assert saved(shed(True), [Usage(200, 5, cached=190)], PRICES) == pytest.approx(100 - 10 * 9)
    assert saved(shed(True), [Usage(200, 5, cached=300)], PRICES) == pytest.approx(100)


def test_in_a_cold_cache_what_was_removed_would_have_been_read_anew() -> None:
    assert saved(shed(False), [Usage(200, 5)], PRICES) == pytest.approx(1000)
    assert saved(shed(False), [Usage(200, 5), Usage(200, 5, cached=190)], PRICES) == pytest.approx(1100)
    assert saved(shed(False), [], PRICES) == 0


def test_all_edits_together_are_worth_what_their_requests_tokens_cost() -> None:
    cold = ModelTotals(
        "m", True, False, 2, 0, added=0, shown=0, shorter=100, longer=30, input=0, cached=0, sheds=0, anew=0
    )
    assert worth(cold, PRICES) == pytest.approx((1000, 300, 0))
    warm = ModelTotals(
        "m", True, True, 2, 0, added=0, shown=0, shorter=100, longer=30, input=0, cached=0, sheds=1, anew=20
    )
    assert worth(warm, PRICES) == pytest.approx((100, 30, 20 * 9))
