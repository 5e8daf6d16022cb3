"""What the vectors of all texts have in common is taken out of them."""

from __future__ import annotations

import numpy as np
import pytest

from memory.language.common_directions import Floats, common_directions, topics, without_common
from memory.language.static_embedding import StaticEmbedding

UNRELATED = {
    "en": ("the lift is inspected in March", "soup needs more salt", "her brother plays the cello"),
    "de": ("der Aufzug wird im März geprüft", "die Suppe braucht mehr Salz", "ihr Bruder spielt Cello"),
    "es": ("el ascensor se revisa en marzo", "a la sopa le falta sal", "su hermano toca el violonchelo"),
}


@pytest.mark.parametrize("language", UNRELATED)
def test_sentences_of_one_language_are_not_alike_for_that(language: str) -> None:
    def alike(vectors: Floats) -> float:
        return float((vectors @ vectors.T)[np.triu_indices(3, 1)].mean())

    here = alike(topics(UNRELATED[language]))
    assert here < 0.25
    if language != "en":
        assert here < alike(StaticEmbedding.load().documents(UNRELATED[language])) - 0.1


def test_what_is_about_the_same_stays_alike() -> None:
    one, same, other = topics(["the lift is inspected in March", "lift inspection: every March", "soup needs salt"])
    assert one @ same > 0.6 > 0.2 > one @ other


def test_they_are_unit_vectors_and_what_says_nothing_is_like_nothing() -> None:
    vectors = topics(["", "soup"])
    assert not vectors[0].any() and np.isclose(np.linalg.norm(vectors[1]), 1.0)
    rest = without_common(StaticEmbedding.load().documents(["soup"]), common_directions())
    assert np.allclose(rest[0], vectors[1])


def test_the_directions_are_orthogonal_units() -> None:
    _, *directions = common_directions()
    assert np.allclose(np.array(directions) @ np.array(directions).T, np.eye(len(directions)), atol=1e-5)
