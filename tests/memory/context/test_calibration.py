"""What a provider reports turns our counts into its own, and nonsense does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.calibration import Anchor, Calibration, calibration_of
from memory.conversation import Usage

ANY = st.integers(-(10**12), 10**12)


def after(scale: float, beside: int, counts: list[int]) -> tuple[Calibration, Anchor | None]:
    """A session of a provider whose tokens are ``scale`` of ours, with ``beside`` that nobody sees."""
    known, anchor = Calibration(), None
    for counted in counts:
        known, anchor = known.learned(counted, Usage(input=round(scale * counted) + beside), anchor)
    return known, anchor


def test_at_first_a_token_is_taken_for_a_little_more_than_one() -> None:
    assert Calibration().expected(1000) == 1050
    assert Calibration().ours(1050) == pytest.approx(1000, abs=1)


@given(
    st.floats(0.5, 2.5),
    st.integers(0, 2000),
    st.lists(st.integers(500, 20_000), min_size=8, max_size=20),
    st.integers(5000, 100_000),
)
def test_after_a_few_exchanges_the_next_is_known_within_three_percent(
    scale: float, beside: int, grown: list[int], start: int
) -> None:
    counts = [start]
    for growth in grown:
        counts.append(counts[-1] + growth)
    known, anchor = after(scale, beside, counts[:-1])
    truth = round(scale * counts[-1]) + beside
    assert abs(known.expected(counts[-1], anchor) - truth) <= 0.03 * truth + 2


def test_a_new_session_of_a_known_model_is_near_from_its_first_request() -> None:
    known, _ = after(1.3, 0, list(range(5000, 60_000, 5000)))
    assert abs(known.expected(20_000) - 26_000) <= 10


@given(st.lists(st.tuples(ANY, ANY), max_size=40), ANY)
def test_no_estimate_is_ever_negative(seen: list[tuple[int, int]], counted: int) -> None:
    known, anchor = Calibration(), None
    for count, reported in seen:
        known, anchor = known.learned(count, Usage(input=reported), anchor)
    for each in (None, anchor):
        assert known.expected(counted, each) >= 0
        assert known.ours(counted, each) >= 0
    assert 0.3 <= known.whole <= 3.5 and 0.3 <= known.growth <= 3.5


def test_nonsense_is_ignored() -> None:
    known, anchor = after(1.2, 100, list(range(10_000, 90_000, 10_000)))
    for usage in (None, Usage(), Usage(input=-5), Usage(input=10**12), Usage(input=1)):
        assert known.learned(90_000, usage, anchor) == (known, anchor)
    assert known.learned(0, Usage(input=100), anchor) == (known, anchor)


def test_a_figure_that_leaves_out_what_was_cached_moves_neither_anchor_nor_model() -> None:
    known, anchor = after(1.0, 0, list(range(10_000, 90_000, 10_000)))
    known, moved = known.learned(90_000, Usage(input=45_000), anchor)
    assert moved == anchor
    assert abs(known.expected(100_000, moved) - 100_000) <= 10


def test_after_a_shed_the_anchor_still_holds() -> None:
    known, anchor = after(1.25, 500, list(range(10_000, 90_000, 10_000)))
    assert abs(known.expected(30_000, anchor) - (1.25 * 30_000 + 500)) <= 10


@given(st.floats(0.6, 1.5), st.integers(1, 100_000))
def test_a_session_unlike_its_models_others_shrinks_in_its_own_measure(scale: float, counted: int) -> None:
    known, _ = after(1.0, 0, list(range(10_000, 90_000, 10_000)))
    known, anchor = known.learned(100_000, Usage(input=round(100_000 * scale)), None)
    assert anchor is None or known.expected(counted, anchor) >= counted * min(scale, 1.0) - 2


@given(st.floats(0.5, 2.0), st.integers(2000, 10**6))
def test_the_way_back_is_the_way_there(scale: float, tokens: int) -> None:
    known, anchor = after(scale, 0, list(range(10_000, 90_000, 10_000)))
    for each in (None, anchor):
        assert abs(known.expected(known.ours(tokens, each), each) - tokens) <= 5


def test_what_is_new_may_be_as_dear_as_the_dearest_in_ten_were() -> None:
    known = Calibration(wholes=(1.0,) * 20, growths=(1.0,) * 17 + (1.4, 1.5, 1.6))
    anchor = Anchor(counted=10_000, reported=10_000)
    assert known.doubt(20_000, anchor) == 5_000
    assert known.doubt(9_000, anchor) == 0
    assert known.doubt(20_000, None) == 0
    assert Calibration(growths=(1.0, 3.0)).doubt(20_000, anchor) == 0


def test_it_is_kept_as_plain_values() -> None:
    known, _ = after(1.25, 0, list(range(10_000, 90_000, 10_000)))
    assert calibration_of(known.as_json()) == known


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda x: st.lists(x) | st.dictionaries(st.sampled_from(["whole", "growth"]), x),
    )
)
def test_what_was_not_stored_by_us_is_left_out(stored: object) -> None:
    assert 0.3 <= calibration_of(stored).whole <= 3.5
