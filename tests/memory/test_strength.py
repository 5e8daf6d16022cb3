"""Decay and reinforcement."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.fact import MemoryTier
from memory.strength import Decay, curve, effective, fading, recency, saturated
from tests.memory.context.making import NOW, fact


def test_a_new_memory_has_its_base() -> None:
    assert effective(fact("x", confidence=0.7, recorded_at=NOW), NOW) == pytest.approx(0.7)


def test_the_law_by_hand() -> None:
    old = fact("x", confidence=0.5, access=3, sessions=3, recorded_at=NOW - timedelta(days=16))
    slow = Decay(episodic=0.5, monthly=1e9)
    assert effective(old, NOW, slow) == pytest.approx(0.5 * 2.0 * 2.0 * 16**-0.5)


def test_it_fades_with_age_and_comes_back_with_use() -> None:
    fresh = fact("x", recorded_at=NOW - timedelta(days=2))
    old = fact("x", recorded_at=NOW - timedelta(days=200))
    used = fact("x", recorded_at=NOW - timedelta(days=200), used_at=NOW, access=2)
    assert effective(old, NOW) < effective(fresh, NOW) < effective(used, NOW)


def test_what_is_used_often_fades_slower_and_knowledge_slower_still() -> None:
    once = fact("x", recorded_at=NOW - timedelta(days=60))
    often = fact("x", recorded_at=NOW - timedelta(days=60), access=20)
    known = fact("x", recorded_at=NOW - timedelta(days=60), access=20, tier=MemoryTier.LONG_TERM)
    assert fading(known, NOW) < fading(often, NOW) < fading(once, NOW)


def test_what_is_pinned_does_not_fade() -> None:
    pinned = fact("x", confidence=0.4, recorded_at=NOW - timedelta(days=3000), pinned=True)
    assert effective(pinned, NOW) == pytest.approx(0.4)
    assert saturated(pinned, NOW) == 1.0


def test_recency_halves_with_each_half_life() -> None:
    assert recency(NOW, NOW) == 1.0
    assert recency(NOW + timedelta(days=3), NOW) == 1.0
    assert recency(NOW - timedelta(days=30), NOW) == pytest.approx(0.5)
    assert recency(NOW - timedelta(days=30), NOW, half_life_days=10) == pytest.approx(0.125)


@given(
    st.floats(0, 5000),
    st.floats(0, 1),
    st.integers(1, 10_000),
    st.integers(1, 1000),
    st.sampled_from(list(MemoryTier)),
)
def test_strength_is_never_negative_and_saturates_below_one(
    days: float, confidence: float, access: int, sessions: int, tier: MemoryTier
) -> None:
    memory = fact("x", recorded_at=NOW - timedelta(days=days), confidence=confidence, access=access,
                  sessions=sessions, tier=tier)  # fmt: skip
    assert effective(memory, NOW) >= 0.0
    assert 0.0 <= saturated(memory, NOW) < 1.0


@given(st.floats(1, 3000), st.floats(1.01, 10))
def test_no_memory_grows_stronger_by_lying_still(days: float, times: float) -> None:
    memory = fact("x", recorded_at=NOW - timedelta(days=days))
    assert effective(memory, NOW + timedelta(days=days * times)) <= effective(memory, NOW)


def test_a_curve_ends_where_the_strength_is_now_and_rises_with_each_use() -> None:
    made = NOW - timedelta(days=100)
    used = [made + timedelta(days=30), made + timedelta(days=60)]
    held = fact("x", recorded_at=made, access=3, sessions=3, used_at=used[-1])
    days = [made + timedelta(days=day) for day in range(101)]
    line = curve(held, used, days)
    assert line[-1] == pytest.approx(effective(held, NOW))
    assert line[0] == pytest.approx(held.confidence)
    assert line[30] > line[29] and line[60] > line[59] and line[59] < line[30]
    assert curve(held, used, [made - timedelta(days=1)]) == [0.0]
