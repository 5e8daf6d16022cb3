"""The parts of the recipe, on small made-up data: no download, no network to run."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from memory.language.static_embedding import StaticEmbedding
from memory.models.training import distil
from memory.models.training.distil import (
    Bags,
    Dictionary,
    among_others,
    frequency_weights,
    principal,
    read_dictionary,
    walks,
)

WORDS = ["red", "house", "blue", "car", "the"]
TEXTS = ["the red house", "the blue car", "red car", "blue house house"]


def _dictionary() -> Dictionary:
    return Dictionary({"the": 10_000, "red": 10, "house": 10}, {"the": (["red", "house"], [1.0, 3.0])})


def test_the_dictionaries_are_read_from_the_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "w.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("symspellpy/frequency_dictionary_en_82_765.txt", "\ufeffthe 5\nred 2\n")
        archive.writestr("symspellpy/frequency_bigramdictionary_en_243_342.txt", "\ufeffthe red 16\nthe house 1\n")
    dictionary = read_dictionary(wheel)
    assert dictionary.words == {"the": 5, "red": 2}
    assert dictionary.followers["the"][0] == ["red", "house"]
    assert dictionary.followers["the"][1] == [8.0, 9.0]


def test_walks_are_the_same_again_and_follow_the_pairs() -> None:
    texts = walks(_dictionary(), 200, seed=3)
    assert texts == walks(_dictionary(), 200, seed=3)
    assert all(3 <= len(text.split()) <= 12 for text in texts)
    assert sum("the house" in text for text in texts) > sum("the the" in text for text in texts)


def test_common_words_count_less_and_contractions_are_common() -> None:
    the, red, unknown, contraction = frequency_weights(["the", "red", "zyx", "don't"], _dictionary())
    assert the < 0.01 < red < unknown == 1.0
    assert contraction == pytest.approx(0.5)


def test_sums_and_their_transpose_agree() -> None:
    bags = Bags(TEXTS, WORDS)
    random = np.random.default_rng(0)
    vectors = random.standard_normal((len(WORDS), 3)).astype(np.float32)
    texts = random.standard_normal((len(TEXTS), 3)).astype(np.float32)
    np.testing.assert_allclose(bags.sums(vectors)[2], (vectors[0] + vectors[3]) / 2**0.5, rtol=1e-5)
    left, right = np.sum(bags.sums(vectors) * texts), np.sum(vectors * bags.back(texts))
    assert left == pytest.approx(right, rel=1e-4)


def test_a_text_without_words_cannot_teach() -> None:
    with pytest.raises(ValueError, match="without a word"):
        Bags(["red", "!!!"], WORDS)


def test_vectors_move_towards_their_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distil, "_HELD", 1e-3)
    bags = Bags(TEXTS, WORDS)
    random = np.random.default_rng(1)
    true = random.standard_normal((len(WORDS), 4)).astype(np.float32)
    start = np.zeros_like(true)
    found = among_others(start, bags, bags.sums(true))
    np.testing.assert_allclose(bags.sums(found), bags.sums(true), atol=0.05)


def test_principal_components_are_uncorrelated_and_the_first_are_gone() -> None:
    random = np.random.default_rng(2)
    vectors = (random.standard_normal((2000, 300)) * np.r_[np.full(8, 90), np.linspace(30, 1, 292)]).astype(np.float32)
    kept = principal(vectors)
    assert kept.shape == (2000, 256)
    covariance = np.cov(kept.T)
    off = covariance - np.diag(np.diag(covariance))
    assert np.abs(off).max() < 1.0
    assert np.abs(np.cov(vectors[:, :8].T)).max() > 5000 > np.abs(covariance).max()


def test_a_written_table_is_read_back(tmp_path: Path) -> None:
    vectors = np.random.default_rng(3).standard_normal((len(WORDS), 8)).astype(np.float32)
    vectors[1] = 0.0
    distil.write(tmp_path, WORDS, vectors)
    embedding = StaticEmbedding.load(tmp_path)
    assert embedding.name == distil.NAME
    assert embedding.dimensions == 8
    expected = vectors[0] / np.linalg.norm(vectors[0])
    np.testing.assert_allclose(embedding.documents(["red"])[0], expected, atol=0.02)
    assert not embedding.documents(["house"]).any()
