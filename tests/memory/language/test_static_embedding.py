"""The table that is shipped, and what an embedder promises whatever it is given."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.language.static_embedding import DATA, StaticEmbedding
from memory.language.words import stem, stems

PAIRS = Path(__file__).parents[2] / "data" / "paraphrases.tsv"
EMBEDDING = StaticEmbedding.load()
ANOTHER = StaticEmbedding.load(DATA)


def _likeness(left: str, right: str) -> float:
    vectors = EMBEDDING.documents([left, right])
    return float(vectors[0] @ vectors[1])


def test_documents_are_unit_rows_of_the_promised_shape() -> None:
    vectors = EMBEDDING.documents(["The build broke.", "We moved to Lisbon.", "x"])
    assert vectors.shape == (3, EMBEDDING.dimensions)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_no_texts_give_no_rows() -> None:
    assert EMBEDDING.documents([]).shape == (0, EMBEDDING.dimensions)


def test_a_text_without_words_is_zero() -> None:
    for text in ("", "   ", "!!! …", "\x00"):
        assert not EMBEDDING.documents([text]).any()
        assert not EMBEDDING.query(text).any()
        assert not EMBEDDING.query(text, lambda _: 1.0).any()


def test_meaning_is_nearer_than_its_absence() -> None:
    assert _likeness("he bought a car", "she purchased an automobile") > _likeness("he bought a car", "the soup is hot")
    assert _likeness("the tests fail", "broken unit testing") > _likeness("the tests fail", "a walk on the beach")


def test_an_inflection_unknown_names_and_identifiers_are_found() -> None:
    assert _likeness("paragliding", "paraglider") > 0.4
    assert _likeness("Zyxoquint", "the Zyxoquint") > 0.9
    assert _likeness("read_config_file", "read the configuration file") > 0.5


def test_every_part_of_a_compound_counts() -> None:
    for joined, apart in (
        ("well-known author", "well known author"),
        ("東京", "東 京"),
        ("parseConfig", "parse config"),
    ):
        assert _likeness(joined, apart) > 0.9, joined


def test_accents_do_not_hide_a_word() -> None:
    assert _likeness("resumé", "resume") > 0.9


def test_the_query_leans_to_the_rare_word() -> None:
    rare = {stem("cello"): 9.0}
    leaning = EMBEDDING.query("the cello and the garden", lambda word: rare.get(word, 0.5))
    plain = EMBEDDING.query("the cello and the garden")
    cello = EMBEDDING.query("cello")
    assert float(leaning @ cello) > float(plain @ cello)


def test_a_query_of_stop_words_is_embedded_plainly() -> None:
    np.testing.assert_array_equal(EMBEDDING.query("what is it", lambda _: 3.0), EMBEDDING.query("what is it"))


def test_an_idf_of_zero_or_below_still_gives_a_vector() -> None:
    np.testing.assert_array_equal(EMBEDDING.query("red house", lambda _: -1.0), EMBEDDING.query("red house"))


def test_a_table_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        StaticEmbedding(np.zeros((2, 4), np.int8), np.ones(3, np.float32), ["a", "b"], "x")


def test_a_folder_without_a_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        StaticEmbedding.load(tmp_path)


@settings(deadline=None)
@given(st.text())
def test_any_text_gives_a_unit_or_zero_vector_and_always_the_same(text: str) -> None:
    for vector in (EMBEDDING.documents([text])[0], EMBEDDING.query(text), EMBEDDING.query(text, lambda s: len(s))):
        assert np.isfinite(vector).all()
        length = float(np.linalg.norm(vector))
        assert length == 0.0 or abs(length - 1.0) < 1e-4
    np.testing.assert_array_equal(EMBEDDING.documents([text])[0], ANOTHER.documents([text])[0])


@settings(deadline=None)
@given(st.lists(st.text(max_size=40), max_size=5))
def test_a_text_does_not_depend_on_its_neighbours(texts: list[str]) -> None:
    together = EMBEDDING.documents(texts)
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_array_equal(EMBEDDING.documents([text])[0], vector)


def _pairs() -> list[tuple[str, str]]:
    lines = PAIRS.read_text(encoding="utf-8").splitlines()
    return [(memory, query) for memory, query in (line.split("\t") for line in lines)]


def test_paraphrases_share_no_content_word() -> None:
    pairs = _pairs()
    assert len(pairs) >= 120
    for memory, query in pairs:
        assert not set(stems(memory)) & set(stems(query)), (memory, query)


def test_paraphrases_are_found_among_themselves() -> None:
    pairs = _pairs()
    vectors = EMBEDDING.documents([memory for memory, _ in pairs])
    tenth = [
        n in np.argsort(-(vectors @ EMBEDDING.query(query)), kind="stable")[:10] for n, (_, query) in enumerate(pairs)
    ]
    assert np.mean(tenth) > 0.85
