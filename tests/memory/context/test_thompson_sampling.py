"""What the legs of recall weigh for a user."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from memory.context.rank import WEIGHTS
from memory.context.thompson_sampling import BOUNDS, COUNT_DECAY, LEGS, recorded, sampled
from memory.ports import Tally

counts = st.floats(0, 5000)


def test_without_evidence_the_measured_weights_hold() -> None:
    assert sampled({}, Random(1)) is WEIGHTS


def test_the_same_request_has_the_same_weights() -> None:
    tallies = {"coverage": Tally(30, 10), "cosine": Tally(2, 50)}
    assert sampled(tallies, Random(7)) == sampled(tallies, Random(7))
    assert sampled(tallies, Random(7)) != sampled(tallies, Random(8))


def test_a_leg_that_is_used_comes_to_weigh_more() -> None:
    tallies = {"coverage": Tally(900, 100), "cosine": Tally(100, 900)}
    weights = sampled(tallies, Random(3))
    assert weights.coverage > WEIGHTS.coverage and weights.cosine < WEIGHTS.cosine


def test_a_little_evidence_moves_little() -> None:
    weights = sampled({"coverage": Tally(5, 0)}, Random(5))
    assert abs(weights.coverage - WEIGHTS.coverage) < 0.1 * WEIGHTS.coverage


@given(st.dictionaries(st.sampled_from(LEGS), st.builds(Tally, counts, counts)), st.integers())
def test_no_leg_leaves_its_bounds(tallies: dict[str, Tally], seed: int) -> None:
    weights = sampled(tallies, Random(seed))
    for leg in LEGS:
        assert BOUNDS[0] - 1e-9 <= getattr(weights, leg) / getattr(WEIGHTS, leg) <= BOUNDS[1] + 1e-9
    assert weights.person == WEIGHTS.person


def test_each_leg_answers_for_its_share_and_old_counts_fade() -> None:
    once = recorded({}, [({"coverage": 0.75, "cosine": 0.25, "recency": 1.0}, True)])
    assert once == {"coverage": Tally(0.75, 0.0), "cosine": Tally(0.25, 0.0)}
    twice = recorded(once, [({"cosine": 0.5}, False)])
    assert twice == {"coverage": Tally(0.75 * COUNT_DECAY, 0.0), "cosine": Tally(0.25 * COUNT_DECAY, 1.0)}
    assert recorded(once, [({"same error": 1.0}, True)]) == once
