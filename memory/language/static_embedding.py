"""The default embedder: a table of word vectors, made from MiniLM by `memory.models.training.distil`.

A text's vector is the mean of its words' vectors: no network, no wait (about 0.03 ms for twenty words). How much
a common word counts is in the length of its row. The query may also be weighted by how rare each word is in the
store that is searched; documents never are, so they need not be embedded again when the store grows.
"""

import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.language.words import STOP, parts, stem, tokens

Floats = NDArray[np.float32]
Entry = tuple[int, float, str | None]

DATA: Final = Path(__file__).parents[1] / "models" / "data"
TABLE: Final = "table.npy"
SCALES: Final = "scales.npy"
VOCABULARY: Final = "vocabulary.txt"

# Beyond this many characters a word is data (a hash, base64) and gets no vector.
_MAX_WORD_CHARS: Final = 40
# What a stop word weighs in an idf-weighted query, as a share of an average word there. A store's idf cannot
# say: it indexes no stop words, so they look as rare as a word never seen.
_STOP_SHARE: Final = 0.3


class StaticEmbedding:
    """Texts to unit vectors by table look-up. Deterministic and thread-safe; the table is memory-mapped."""

    name: str
    dimensions: int
    quick = True

    def __init__(self, table: NDArray[np.int8], scales: Floats, vocabulary: Sequence[str], name: str) -> None:
        """`table` (n, d) times `scales` (n,) are the rows; `vocabulary` names them, a word piece by a leading ##.

        Raises ValueError when the three do not fit together.
        """
        if table.ndim != 2 or table.shape[0] != len(scales) or len(scales) != len(vocabulary):
            raise ValueError(f"{len(vocabulary)} words, {len(scales)} scales and a table of {table.shape} do not fit")
        self.name = name
        self.dimensions = int(table.shape[1])
        self._table = table
        self._scales = scales
        self._row = {word: row for row, word in enumerate(vocabulary)}
        # One cache an instance: tokens recur, and cutting one up is most of the work.
        self._rows = lru_cache(maxsize=8192)(self._rows_for_token)

    @classmethod
    def load(cls, path: Path | None = None) -> "StaticEmbedding":
        """The table in folder `path`, by default the one shipped, which is read once a process.

        Raises FileNotFoundError, ValueError.
        """
        return cls._read(path) if path is not None else _shipped(DATA)

    @classmethod
    def _read(cls, folder: Path) -> "StaticEmbedding":
        name, *vocabulary = (folder / VOCABULARY).read_text(encoding="utf-8").split("\n")
        return cls(np.asarray(np.load(folder / TABLE, mmap_mode="r")), np.load(folder / SCALES), vocabulary, name)

    def documents(self, texts: Sequence[str]) -> Floats:
        """Unit vectors, shape (n, d): the plain mean of each text's words. Zero for a text with no known word."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for n, text in enumerate(texts):
            vectors[n] = self._mean(self.entries(text))
        return vectors

    def query(self, text: str, idf: Callable[[str], float] | None = None) -> Floats:
        """The unit vector of a question, shape (d,), or zero; each word weighs `idf(its stem)` when that is given.

        A stem that the store does not know should be given the highest idf: that word can still be found by
        what it means. A question of stop words only is embedded plainly.
        """
        found = self.entries(text)
        if idf is None:
            return self._mean(found)
        rarities = [None if stemmed is None else max(0.0, idf(stemmed)) for _, _, stemmed in found]
        heard = [rarity for rarity in rarities if rarity is not None]
        if not any(heard):
            return self._mean(found)
        stop = _STOP_SHARE * sum(heard) / len(heard)
        weights = [
            weight * (stop if rarity is None else rarity)
            for (_, weight, _), rarity in zip(found, rarities, strict=True)
        ]
        vectors = self._vectors(found)
        # Rows are the shorter the commoner their word is anywhere; half of that is enough beside the store's idf.
        squares = np.einsum("rd,rd->r", vectors, vectors)
        balanced = np.array(weights, np.float32) / np.sqrt(np.sqrt(np.maximum(squares, 1e-12)))
        return _normalized(balanced @ vectors)

    def entries(self, text: str) -> list[Entry]:
        """What the words of `text` are in the table: (row, weight, stem or None for a stop word) of each."""
        return [entry for token in tokens(text) for entry in self._rows(token)]

    def _vectors(self, entries: list[Entry]) -> Floats:
        rows = [row for row, _, _ in entries]
        vectors: Floats = self._table[rows].astype(np.float32)
        vectors *= self._scales[rows, None]
        return vectors

    def _mean(self, entries: list[Entry]) -> Floats:
        if not entries:
            return np.zeros(self.dimensions, np.float32)
        rows = [row for row, _, _ in entries]
        weights = self._scales[rows] * np.array([weight for _, weight, _ in entries], np.float32)
        return _normalized(weights @ self._table[rows].astype(np.float32))

    def _rows_for_token(self, token: str) -> tuple[Entry, ...]:
        """(row, weight, stem or None for a stop word) of what stands for a raw token: itself, else its parts."""
        first, *rest = found = parts(token)
        # Some tokens have no whole among their parts: well-known, a run of Han.
        if rest and all(piece in first for piece in rest):
            found = (first,) if first in self._row else tuple(rest)
        return tuple(entry for word in found for entry in self._of_word(word))

    def _of_word(self, word: str) -> tuple[Entry, ...]:
        row = self._row.get(word)
        stemmed = None if word in STOP else stem(word)
        if row is not None:
            return ((row, 1.0, stemmed),)
        if len(word) > _MAX_WORD_CHARS:
            return ()
        rows = self._wordpiece_rows(word)
        # Together the pieces weigh about what one word does: their directions differ, so lengths add as squares.
        return tuple((piece, len(rows) ** -0.5, stemmed) for piece in rows)

    def _wordpiece_rows(self, word: str) -> list[int]:
        """Rows of the longest pieces, from the left, as WordPiece cuts them; characters it lacks are passed over."""
        plain = "".join(c for c in unicodedata.normalize("NFD", word) if unicodedata.category(c) != "Mn")
        if (row := self._row.get(plain)) is not None:
            return [row]
        rows: list[int] = []
        start = 0
        while start < len(plain):
            for end in range(len(plain), start, -1):
                row = self._row.get(("##" if start else "") + plain[start:end])
                if row is not None:
                    rows.append(row)
                    start = end
                    break
            else:
                start += 1
        return rows


def _normalized(vector: Floats) -> Floats:
    """The vector scaled to length one, or zero when its parts cancel out."""
    length = float(np.sqrt(vector @ vector))
    scaled: Floats = vector / np.float32(length) if length > 1e-12 else np.zeros_like(vector)
    return scaled


@lru_cache(maxsize=1)
def _shipped(folder: Path) -> StaticEmbedding:
    return StaticEmbedding._read(folder)
