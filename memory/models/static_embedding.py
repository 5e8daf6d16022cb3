"""The default embedder: a table of word vectors, made from MiniLM by `memory.models.distil`.

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

DATA: Final = Path(__file__).parent / "data"
TABLE: Final = "table.npy"
SCALES: Final = "scales.npy"
VOCABULARY: Final = "vocabulary.txt"

# Beyond this many characters a word is data (a hash, base64) and gets no vector.
_LONGEST: Final = 40
# What a stop word weighs in an idf-weighted query, as a share of an average word there. A store's idf cannot
# say: it indexes no stop words, so they look as rare as a word never seen.
_STOP_SHARE: Final = 0.3


class StaticEmbedding:
    """Texts to unit vectors by table look-up. Deterministic and thread-safe; the table is memory-mapped."""

    name: str
    dimensions: int

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
        self._rows = lru_cache(maxsize=65536)(self._find)

    @classmethod
    def load(cls, path: Path | None = None) -> "StaticEmbedding":
        """The table in folder `path`, by default the one shipped. Raises FileNotFoundError, ValueError."""
        folder = path or DATA
        name, *vocabulary = (folder / VOCABULARY).read_text(encoding="utf-8").split("\n")
        return cls(np.load(folder / TABLE, mmap_mode="r"), np.load(folder / SCALES), vocabulary, name)

    def documents(self, texts: Sequence[str]) -> Floats:
        """Unit vectors, shape (n, d): the plain mean of each text's words. Zero for a text with no known word."""
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for n, text in enumerate(texts):
            rows: list[int] = []
            weights: list[float] = []
            for token in tokens(text):
                for row, weight, _ in self._rows(token):
                    rows.append(row)
                    weights.append(weight)
            if rows:
                vectors[n] = self._sum(rows, weights)
        return vectors

    def query(self, text: str, idf: Callable[[str], float] | None = None) -> Floats:
        """The unit vector of a question, shape (d,), or zero; each word weighs `idf(its stem)` when that is given.

        A stem that the store does not know should be given the highest idf: that word can still be found by
        what it means. A question of stop words only is embedded plainly.
        """
        found = [entry for token in tokens(text) for entry in self._rows(token)]
        weights = [weight for _, weight, _ in found]
        if idf is not None:
            # A stop word's stem is None.
            rarities = [None if stemmed is None else max(0.0, idf(stemmed)) for _, _, stemmed in found]
            heard = [rarity for rarity in rarities if rarity is not None]
            if any(heard):
                stop = _STOP_SHARE * sum(heard) / len(heard)
                weights = [w * (stop if r is None else r) for w, r in zip(weights, rarities, strict=True)]
        if not found:
            return np.zeros(self.dimensions, np.float32)
        return self._sum([row for row, _, _ in found], weights)

    def _sum(self, rows: list[int], weights: list[float]) -> Floats:
        """The weighted sum of some rows, scaled to length one (or zero when they cancel out)."""
        scaled = self._scales[rows] * np.array(weights, np.float32)
        vector: Floats = scaled @ self._table[rows].astype(np.float32)
        length = float(np.sqrt(vector @ vector))
        return vector / np.float32(length) if length > 1e-12 else np.zeros_like(vector)

    def _find(self, token: str) -> tuple[tuple[int, float, str | None], ...]:
        """(row, weight, stem or None for a stop word) of what stands for a raw token: itself, else its parts."""
        whole, *pieces = parts(token)
        if whole in self._row or not pieces:
            return self._of_word(whole)
        return tuple(entry for piece in pieces for entry in self._of_word(piece))

    def _of_word(self, word: str) -> tuple[tuple[int, float, str | None], ...]:
        row = self._row.get(word)
        stemmed = None if word in STOP else stem(word)
        if row is not None:
            return ((row, 1.0, stemmed),)
        if len(word) > _LONGEST:
            return ()
        rows = self._pieces(word)
        # Together the pieces weigh about what one word does: their directions differ, so lengths add as squares.
        return tuple((piece, len(rows) ** -0.5, stemmed) for piece in rows)

    def _pieces(self, word: str) -> list[int]:
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
