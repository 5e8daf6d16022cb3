"""The window's parts, and when a shed pays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.budget import Prices, break_even, budget, gain, maker, pays, remaining, reserve
from memory.settings import SheddingSettings

CLAUDE = Prices(fresh=3.75e-6, cached=0.3e-6)
OLDER_GPT = Prices(fresh=2.5e-6, cached=0.25e-6)
DEEPSEEK = Prices(fresh=0.139e-6, cached=0.028e-6)


def test_the_thresholds_are_shares_of_what_the_reply_leaves() -> None:
    found = budget(100_000, 20_000, SheddingSettings(trim=0.6, fold=0.75, rotate=0.85, target=0.45), fixed=500)
    assert (found.window, found.trim, found.fold, found.rotate, found.target) == (
        80_000,
        48_000,
        60_000,
        68_000,
        36_000,
    )
    assert found.fixed == 500


def test_a_budget_is_in_our_tokens() -> None:
    assert budget(100_000, 0, SheddingSettings(), ours=lambda tokens: tokens // 2).window == 50_000


def test_a_reply_never_takes_more_than_half_of_the_window() -> None:
    assert budget(8000, 64_000, SheddingSettings()).window == 4000


@pytest.mark.parametrize(
    ("dialect", "model", "asked", "kept"),
    [
        ("anthropic-messages", "claude-sonnet-4-5", 32_000, 32_000),
        ("anthropic-messages", "claude-sonnet-4-5", 0, 4000),
        ("openai-chat", "deepseek-chat", 8192, 8192),
        ("openai-chat", "gpt-4o", 1000, 1000),
        ("openai-chat", "openai/gpt-5.1", 128_000, 4000),
        ("openai-responses", "gpt-4.1", 30_000, 4000),
    ],
)
def test_the_reply_is_counted_where_the_provider_counts_it(dialect: str, model: str, asked: int, kept: int) -> None:
    assert reserve(dialect, model, asked, 4000) == kept


def test_of_a_small_window_little_is_kept_for_a_reply_that_was_not_asked_for() -> None:
    assert reserve("openai-chat", "local", 0, 4000, 8192) == 1024
    assert reserve("openai-chat", "local", 0, 4000, 128_000) == 4000
    assert reserve("openai-chat", "local", 2000, 4000, 8192) == 2000


@pytest.mark.parametrize(("prices", "factor"), [(CLAUDE, 11.5), (OLDER_GPT, 9.0), (DEEPSEEK, 3.964), (None, 11.5)])
def test_break_even_is_the_rewritten_over_the_removed_times_the_makers_factor(
    prices: Prices | None, factor: float
) -> None:
    assert break_even(1000, 1000, prices) == pytest.approx(factor, rel=1e-3)
    assert break_even(2000, 1000, prices) == pytest.approx(break_even(1000, 1000, prices) / 2)


def test_what_removes_nothing_never_pays_and_what_rewrites_nothing_always_does() -> None:
    assert not pays(0, 100, 1000, CLAUDE)
    assert not pays(0, 0, 1000, CLAUDE)
    assert pays(10, 0, 0, CLAUDE)
    assert not pays(10, 100, 1e9, Prices(fresh=1.0, cached=0.0)), "what is read for free saves nothing when it leaves"


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.floats(0, 1000))
def test_what_pays_gains_and_the_other_way_round(removed: int, rewritten: int, turns: float) -> None:
    gained = gain(removed, rewritten, turns, CLAUDE, warm=True)
    if abs(gained) > 1e-9:
        assert pays(removed, rewritten, turns, CLAUDE) == (gained > 0)


def test_in_a_cold_cache_every_shed_gains() -> None:
    assert gain(1000, 10**6, 0, CLAUDE, warm=False) == pytest.approx(1000 * CLAUDE.fresh)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_an_older_session_is_not_expected_to_end_sooner(one: int, other: int) -> None:
    assert (remaining(one) <= remaining(other)) or one > other
    assert 15 <= remaining(one) <= 45


@pytest.mark.parametrize(
    ("dialect", "model", "whose"),
    [
        ("openai-chat", "anthropic/claude-sonnet-4-5", "anthropic"),
        ("anthropic-messages", "claude-opus-5", "anthropic"),
        ("anthropic-messages", "an-alias", "anthropic"),
        ("openai-responses", "gpt-5.1-codex", "openai"),
        ("openai-chat", "deepseek-chat", "other"),
        ("openai-chat", "openai/gpt-oss-120b", "other"),
    ],
)
def test_a_models_name_says_whose_cache_it_is(dialect: str, model: str, whose: str) -> None:
    assert maker(dialect, model) == whose
