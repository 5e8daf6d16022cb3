"""Texts as sparse vectors, such that the product of a document's and a query's is their BM25 score.

A *term* is a stem under a number of 32 bits. What a text teaches about its words (how often, how long it is) goes
into the document's vector when it is indexed; how rare a word is among the memories of the one who asks goes into
the query's vector when it is asked. So rarity is always the asker's own and today's, and no document is ever
rewritten because others were added. Knows nothing of stores, facts or conversations.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from math import log
from typing import Final

from memory.language.words import stems

_SATURATION: Final = 1.2
"""BM25's k1: how soon a word said again stops counting."""
_LENGTH: Final = 0.6
"""BM25's b: how much a long text is held against its words."""
_TYPICAL: Final = 20.0
"""Stems of a typical memory. A constant, because the store's own mean moves and vectors are written once."""


@lru_cache(maxsize=16384)
def term(stem: str) -> int:
    """The number of a stem, the same on every machine and in every version: CRC-32 of its UTF-8."""
    return zlib.crc32(stem.encode("utf-8", "surrogatepass"))


def document_terms(text: str, speaker: str = "", typical: float = _TYPICAL) -> dict[int, float]:
    """A memory as a sparse vector of BM25's term-frequency weights.

    ``speaker`` is indexed like a word of the text: who said it is half of what is asked for later. ``typical`` is how
    many stems a text of its kind has.
    """
    return _weighed(stems(text) + stems(speaker), typical)


@lru_cache(maxsize=6144)
def words_of(text: str) -> frozenset[int]:
    """The terms of a text as a set, for comparing."""
    return frozenset(map(term, stems(text)))


def rarity(documents: int, frequency: int) -> float:
    """BM25's inverse document frequency; positive, and largest for a word that no document has."""
    held = frequency if frequency < documents else documents
    return log(1.0 + (documents - held + 0.5) / (held + 0.5))


def product(left: Mapping[int, float], right: Mapping[int, float]) -> float:
    """The dot product of two sparse vectors."""
    if len(left) > len(right):
        left, right = right, left
    return sum(weight * right[key] for key, weight in left.items() if key in right)


def _weighed(found: list[str], typical: float) -> dict[int, float]:
    norm = _SATURATION * (1.0 - _LENGTH + _LENGTH * len(found) / typical)
    return {term(stem): count * (_SATURATION + 1.0) / (count + norm) for stem, count in Counter(found).items()}
