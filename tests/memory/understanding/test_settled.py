"""What settles something is told from a step, by what is said and what it answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memory.understanding.network import FLAGS, LASTING_KINDS, PASSING_KINDS, Judgement
from memory.understanding.packaged_weights import encoder, reader, settled_head
from memory.understanding.settled import SETTLES, Outcome, SettledHead
from memory.understanding.wording import UNCERTAIN

OFFER = "Two ways: a lock file beside each archive, or one table in the catalogue that holds all locks. Which one?"
WIZARD = "The wizard has five pages now."


def likely(said: str, reply: str = "") -> float:
    [outcome] = settled_head()(encoder().clause_states(said, [(0, len(said))], reply))
    assert 0.0 <= outcome.settles <= outcome.settles + outcome.lasting <= 1.0 + 1e-6
    return outcome.settles


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (OFFER, "the table, lock files get lost when somebody copies a folder"),
        (WIZARD, "three pages at most, address and payment go together"),
        ("I kept the SOAP endpoint working.", "the soap endpoint can go for good, the last customer left in spring"),
    ],
)
def test_what_settles_something_is_likelier_than_a_step_in_the_same_place(reply: str, said: str) -> None:
    steps = ("run the tests again please", "have a look at why it is so slow", "commit that and push")
    assert likely(said, reply) >= 0.5
    assert likely(said, reply) > 5 * max(likely(step, reply) for step in steps)


def test_a_clause_that_settles_something_is_kept() -> None:
    said, reply = "the second way, a file can be copied with its folder", OFFER
    [found], [before] = (each.read(said, reply) for each in (reader(), replace(reader(), settled=None)))
    assert before.judged.worth_keeping < SETTLES <= found.judged.worth_keeping
    assert found.judged.kind == "dec"


def test_what_is_of_the_moment_stays_of_the_moment() -> None:
    said = "rerun the import with --verbose and paste me the last ten lines"
    for found, before in zip(
        reader().read(said, OFFER), replace(reader(), settled=None).read(said, OFFER), strict=True
    ):
        assert found.judged.passing == before.judged.passing
        assert found.judged.worth_keeping < UNCERTAIN


@given(st.lists(st.floats(0.01, 1.0), min_size=16, max_size=16), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_a_second_opinion_moves_the_worth_so_far_and_no_kind_beside_another(
    weights: list[float], lasts: float, share: float
) -> None:
    kinds = tuple(each / sum(weights) for each in weights)
    before = Judgement(kinds, (0.2, 0.7, 0.1), (0.0,) * len(FLAGS))
    found = before.weighed(lasts, share)
    assert sum(found.kinds) == pytest.approx(1.0)
    assert found.worth_keeping == pytest.approx((1 - share) * before.worth_keeping + share * lasts)
    if found.worth_keeping > 1e-6:
        assert found.kind == before.kind


def test_a_second_opinion_on_what_is_certain_leaves_it() -> None:
    sure = Judgement((1.0,) + (0.0,) * 15, (0.2, 0.7, 0.1), (0.0,) * len(FLAGS))
    assert sure.weighed(0.0, 0.5) == sure


class Sure(SettledHead):
    """Finds of every clause that it settles something."""

    def __call__(self, states: NDArray[np.float32]) -> list[Outcome]:
        return [Outcome(SETTLES, 0.15)] * len(states)


def test_what_is_surer_to_guide_than_to_settle_something_stays_what_it_is() -> None:
    said, shipped = "wrong, the retries belong in the queue and not in the client", reader()
    assert shipped.settled is not None
    sure = replace(shipped, settled=Sure(shipped.settled.hidden, shipped.settled.out))
    [found], [before] = sure.read(said), replace(shipped, settled=None).read(said)
    assert before.judged.kind == found.judged.kind == "corr"
    assert before.judged.worth_keeping > SETTLES


@pytest.mark.parametrize("lasting", [0.0, 0.3, 0.7])
@pytest.mark.parametrize("probability", [0.8, 0.95, 1.0])
def test_what_passes_or_is_merely_so_becomes_a_decision_and_what_guides_goes_on_to(
    lasting: float, probability: float
) -> None:
    kinds = np.full(len(LASTING_KINDS) + len(PASSING_KINDS), (1 - lasting) / len(PASSING_KINDS))
    kinds[: len(LASTING_KINDS)] = lasting / len(LASTING_KINDS)
    before = Judgement(tuple(kinds.tolist()), (0.2, 0.7, 0.1), (0.0,) * len(FLAGS))
    found = before.settling(probability)
    assert sum(found.kinds) == pytest.approx(1.0)
    assert found.kind == "dec" and found.worth_keeping >= max(probability, before.worth_keeping) - 1e-9
    for at, kind in enumerate(LASTING_KINDS):
        if kind in ("rule", "pref", "corr"):
            assert found.kinds[at] == before.kinds[at]
        elif kind != "dec":
            assert found.kinds[at] == pytest.approx(before.kinds[at] * (1 - probability))
    assert found.passing == before.passing


def test_many_are_read_as_each_alone() -> None:
    states = np.random.default_rng(3).normal(size=(7, 768)).astype(np.float32)
    head = settled_head()
    assert np.allclose(head(states), [head(states[at : at + 1])[0] for at in range(7)], atol=1e-6)
