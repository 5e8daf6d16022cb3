"""What a newer statement is to an older one: the same, a refinement, its replacement, a contradiction, or unrelated.

People change what holds without naming what held: "we're on SQLite" ends "we use Postgres". Which words the two have in
common, which only one of them has, and how near they are in meaning is read by a small model that was trained on pairs
of statements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.language.words import stems
from memory.understanding.features import number
from memory.understanding.network import Floats, Layer, Table, softmax
from memory.understanding.tokens import tokens

RELATIONS: Final = ("same", "refines", "replaces", "contradicts", "unrelated")
LONGEST: Final = 400
"""Characters of a statement that are read."""
CACHED: Final = 4096
"""Statements whose features are at hand."""
_PRODUCT: Final = np.float32(40.0)
_DIFFERENCE: Final = np.float32(4.0)
"""What makes the parts of unit vectors about as large as the other inputs."""
_NUMBER: Final = re.compile(r"\d+(?:[.:]\d+)*")
_NAME: Final = re.compile(r"\b[A-Z][\w-]+")
_DENIES: Final = frozenset(
    (
        *("no", "not", "never", "nothing", "none", "cannot", "without", "stop", "don't", "doesn't", "isn't", "aren't"),
        *("won't", "can't", "n't", "nicht", "kein", "keine", "nie", "nunca", "sin"),
    )
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One text: its words in order, its stems, its vector, the numbers and the names in it, whether it denies."""

    words: tuple[str, ...]
    stems: frozenset[str]
    vector: Floats
    numbers: frozenset[str]
    names: frozenset[str]
    denies: bool


def statement(text: str, vector: Floats) -> Statement:
    """A text as the model reads it."""
    text = text[:LONGEST]
    words = tuple(tokens(text))
    return Statement(
        words,
        frozenset(stems(text)),
        vector,
        frozenset(_NUMBER.findall(text)),
        frozenset(_NAME.findall(text)),
        not _DENIES.isdisjoint(words),
    )


def bags(older: Statement, newer: Statement) -> tuple[list[int], list[int], list[int]]:
    """The rows of the newer one's words, of the older one's, and of what they share and do not share."""
    new, old = set(newer.words), set(older.words)
    first = {number(f"n={word}") for word in new} | {number(f"nb={one} {two}") for one, two in pairwise(newer.words)}
    if newer.words:
        first.add(number(f"n1={newer.words[0]}"))
    second = {number(f"o={word}") for word in old}
    third = {number(f"s={word}") for word in new & old}
    third |= {number(f"on={word}") for word in new - old} | {number(f"oo={word}") for word in old - new}
    return sorted(first), sorted(second), sorted(third)


def inputs(older: Statement, newer: Statement) -> Floats:
    """The other inputs: how near the two are, and what differs in numbers, names and denial, shape (d,)."""
    both = len(older.stems & newer.stems)
    told = np.array(
        [
            4.0 * float(older.vector @ newer.vector),
            2.0 * both / (len(older.stems) + 1),
            2.0 * both / (len(newer.stems) + 1),
            both / 3,
            float(bool(newer.numbers)),
            float(bool(older.numbers)),
            float(bool(newer.numbers & older.numbers)),
            float(bool(newer.numbers) and bool(older.numbers) and not newer.numbers & older.numbers),
            float(newer.denies),
            float(older.denies),
            float(newer.denies != older.denies),
            float("?" in newer.words),
            len(newer.names & older.names) / 2,
            float(bool(newer.names - older.names)),
            min(len(newer.words), 30) / 15,
            min(len(older.words), 30) / 15,
            float(older.stems <= newer.stems),
            float(newer.stems <= older.stems),
        ],
        np.float32,
    )
    product = older.vector * newer.vector * _PRODUCT
    found: Floats = np.concatenate([told, product, (newer.vector - older.vector) * _DIFFERENCE]).astype(np.float32)
    return found


class Change:
    """The model. ``embed`` gives texts their vectors in the table that it was trained on. Deterministic; safe to share
    between threads."""

    def __init__(
        self, tables: Sequence[Table], hidden: Layer, out: Layer, embed: Callable[[Sequence[str]], Floats]
    ) -> None:
        self._tables = tuple(tables)
        self._hidden = hidden
        self._out = out
        self._embed = embed
        self._read = lru_cache(maxsize=CACHED)(self._statement)

    def judge(self, newer: str, older: Sequence[str]) -> NDArray[np.float32]:
        """The probability of each of :data:`RELATIONS` of a newer statement to some older ones, shape (n, 5)."""
        if not older:
            return np.zeros((0, len(RELATIONS)), np.float32)
        own = self._read(newer)
        rows = []
        for text in older:
            known = self._read(text)
            found = [table.bag(bag) for table, bag in zip(self._tables, bags(known, own), strict=True)]
            rows.append(np.concatenate([*found, inputs(known, own)]))
        judged: NDArray[np.float32] = softmax(self._out(np.maximum(self._hidden(np.stack(rows)), 0.0)))
        return judged

    def _statement(self, text: str) -> Statement:
        return statement(text, self._embed([text[:LONGEST]])[0])
