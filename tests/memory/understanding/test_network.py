import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.understanding.features import SIZE, around, of_text
from memory.understanding.network import (
    ABOUT_PERSON,
    FLAGS,
    LASTING_KINDS,
    PASSING_KINDS,
    PERSONAL,
    SCOPES,
    Judgement,
    Table,
    judgements,
    reach,
    softmax,
)
from memory.understanding.packaged_weights import reader


def judged(texts: list[str], reply: str = "") -> list[Judgement]:
    shipped = reader()
    says = [of_text(text) for text in texts]
    beside = [around(texts, at, reply) for at in range(len(texts))]
    return judgements(shipped.model.outputs(says, beside, shipped.embed(texts)))


@given(st.lists(st.text(max_size=120), min_size=1, max_size=5), st.text(max_size=120))
def test_whatever_the_text_the_heads_give_probabilities(texts: list[str], reply: str) -> None:
    found = judged(texts, reply)
    assert len(found) == len(texts)
    for each in found:
        assert (len(each.kinds), len(each.scopes), len(each.flags)) == (
            *(len(LASTING_KINDS) + len(PASSING_KINDS), len(SCOPES), len(FLAGS)),
        )
        assert sum(each.kinds) == pytest.approx(1.0, abs=1e-4)
        assert sum(each.scopes) == pytest.approx(1.0, abs=1e-4)
        assert all(0.0 <= share <= 1.0 for share in (*each.kinds, *each.scopes, *each.flags))
        assert each.kind in LASTING_KINDS and each.passing in PASSING_KINDS and each.scope in SCOPES


def test_nothing_is_read_in_nothing() -> None:
    assert reader().read("") == []


def test_the_shipped_weights_fit_the_features() -> None:
    shipped = reader()
    assert len(shipped.model.says.rows) == len(shipped.model.around.rows) == SIZE
    assert len(shipped.splitter.weights) == SIZE + 1, "a weight for each feature of a gap, and the bias"
    assert shipped.model.out.bias.shape == (len(LASTING_KINDS) + len(PASSING_KINDS) + len(SCOPES) + len(FLAGS),)


def test_what_stands_around_a_clause_may_turn_what_it_is() -> None:
    alone, answering = judged(["the first one"])[0], judged(["the first one"], "Should I use Redis or a plain file?")[0]
    assert answering.flag("answers") > alone.flag("answers")


@given(st.lists(st.lists(st.floats(-1e4, 1e4, width=32), min_size=4, max_size=4), min_size=1, max_size=4))
def test_scores_of_any_size_become_shares_of_one(rows: list[list[float]]) -> None:
    shares = softmax(np.asarray(rows, np.float32))
    assert np.isfinite(shares).all() and (shares >= 0).all()
    assert shares.sum(axis=1) == pytest.approx(np.ones(len(rows)), abs=1e-5)


@given(st.lists(st.integers(0, 7), max_size=30))
def test_a_bag_does_not_know_the_order_and_may_be_empty(rows: list[int]) -> None:
    table = Table(np.arange(32, dtype=np.int8).reshape(8, 4) - 16, 0.5)
    bag = table.bag(rows)
    assert (bag.shape, bag.dtype) == ((4,), np.dtype(np.float32))
    assert (bag == table.bag(rows[::-1])).all()


@pytest.mark.parametrize(
    ("kind", "least"), [("rule", PERSONAL["rule"]), ("pref", PERSONAL["pref"]), ("fact", ABOUT_PERSON)]
)
def test_what_is_the_persons_own_has_to_be_likely_enough_for_its_kind(kind: str, least: float) -> None:
    assert reach(kind, (least, 1.0 - least, 0.0)) == "user"
    assert reach(kind, (least - 0.01, 1.0 - least, 0.01)) == "project"
    assert reach(kind, (0.1, 0.3, 0.6)) == "other"


def test_a_judgement_names_what_is_likeliest_on_each_side() -> None:
    kinds = [0.0] * (len(LASTING_KINDS) + len(PASSING_KINDS))
    (
        kinds[LASTING_KINDS.index("dec")],
        kinds[LASTING_KINDS.index("fact")],
        kinds[len(LASTING_KINDS) + PASSING_KINDS.index("feel")],
    ) = 0.4, 0.3, 0.3
    each = Judgement(tuple(kinds), (0.0, 1.0, 0.0), (0.9, 0.0, 0.0, 0.2))
    assert (each.kind, each.passing, each.scope) == ("dec", "feel", "project")
    assert each.worth_keeping == pytest.approx(0.7)
    assert (each.flag("ends"), each.flag("refers")) == (0.9, 0.2)
