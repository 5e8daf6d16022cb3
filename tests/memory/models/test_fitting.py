"""What the models are fitted by: labels in part, and the gradients of them."""

from __future__ import annotations

import numpy as np
import pytest

from memory.models.training.clauses import KINDS, allowed_kinds
from memory.models.training.fitting import allowed_slope, softmax_slope
from memory.models.training.talk import KEPT, PASSED, UNKNOWN, labelled_clauses
from memory.understanding.network import LASTING_KINDS, PASSING_KINDS, softmax


def told(label: str) -> int:
    session: dict[str, object] = {"turns": [{"clauses": [[label, "said"]]}]}
    [(_, _, [(kind, _, _)])] = labelled_clauses([session])
    return kind


@pytest.mark.parametrize(
    ("label", "kind"),
    [("choice", KEPT), ("spec", KEPT), ("lasting", KEPT), ("none.step", PASSED), ("none.paste", PASSED)],
)
def test_a_rough_label_says_only_whether_it_is_kept(label: str, kind: int) -> None:
    assert told(label) == kind


def test_what_both_guides_call_by_one_name_is_one_kind() -> None:
    assert told("none.fix") == len(LASTING_KINDS) + PASSING_KINDS.index("fix")


def test_a_label_that_no_guide_knows_is_told() -> None:
    with pytest.raises(KeyError, match="dce"):
        told("dce p")


def test_what_only_gives_a_reason_is_not_learnt_from() -> None:
    assert told("reason") == UNKNOWN
    assert not allowed_kinds(np.array([UNKNOWN])).any()


def test_a_full_label_allows_one_kind_and_a_rough_one_all_of_its_side() -> None:
    allowed = allowed_kinds(np.array([told("corr p +"), KEPT, PASSED]))
    assert allowed[0].tolist() == [at == LASTING_KINDS.index("corr") for at in range(KINDS)]
    assert allowed[1].tolist() == [at < len(LASTING_KINDS) for at in range(KINDS)]
    assert (allowed[2] == ~allowed[1]).all()


def test_where_one_kind_is_allowed_the_slope_is_that_of_the_cross_entropy() -> None:
    rng = np.random.default_rng(1)
    scores, wanted = rng.normal(size=(9, KINDS)).astype(np.float32), rng.integers(0, KINDS, 9)
    wanted[4] = UNKNOWN
    assert np.allclose(allowed_slope(scores, allowed_kinds(wanted)), softmax_slope(scores, wanted), atol=1e-7)


def test_the_slope_is_that_of_what_is_allowed_together() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(3, KINDS)).astype(np.float64)
    allowed = allowed_kinds(np.array([KEPT, PASSED, 3]))

    def loss(at: np.ndarray) -> float:
        return float(-np.log((softmax(at) * allowed).sum(axis=1)).mean())

    slope = allowed_slope(scores.astype(np.float32), allowed)
    for row in range(3):
        for column in range(KINDS):
            moved = np.zeros_like(scores)
            moved[row, column] = 1e-5
            assert slope[row, column] == pytest.approx((loss(scores + moved) - loss(scores - moved)) / 2e-5, abs=1e-5)
