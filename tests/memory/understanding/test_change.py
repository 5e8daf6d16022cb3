"""The model of change with the weights of the package: what it says of an older statement and a newer one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.understanding.change import RELATIONS
from memory.understanding.shipped import change


@pytest.mark.parametrize(
    ("older", "newer", "relation"),
    [
        ("The kiosk firmware is built with Bazel.", "we moved the kiosk firmware build over to Meson", "replaces"),
        ("Photos of the samples go to the bucket sable-raw.", "the lab closes at six on Fridays", "unrelated"),
        ("Never merge without a second reviewer.", "I told you, no merge without a second pair of eyes!", "same"),
    ],
)
def test_what_clear_pairs_are(older: str, newer: str, relation: str) -> None:
    [shares] = change().judge(newer, [older])
    assert RELATIONS[int(shares.argmax())] == relation


@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=4))
def test_any_texts_have_a_judgement_and_always_the_same(newer: str, older: list[str]) -> None:
    judged = change().judge(newer, older)
    assert judged.shape == (len(older), len(RELATIONS))
    assert np.allclose(judged.sum(axis=1), 1.0, atol=1e-4)
    assert (judged == change().judge(newer, older)).all()
