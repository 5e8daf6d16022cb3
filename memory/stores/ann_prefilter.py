"""Which of many vectors are nearest to one, by a few of their dimensions first.

The vectors are turned so that their first dimensions carry most of them (the principal axes of all of them), and a
product over these alone reads a quarter of the memory, which is what a search among thousands waits for. What it leaves
out of a row's score is a sum of many small terms: more than SURE times its standard deviation is not reckoned with, so
that only rows that can still be among the best are looked at whole (as ADSampling does, Gao and Long, SIGMOD 2023).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memory.ports import Vector

Rows = NDArray[np.intp]
Scores = NDArray[np.float32]
Matrix = NDArray[np.float32]

FIRST = 64
"""Dimensions that are looked at first."""

SURE = 5.0
"""Standard deviations. Of the sixty nearest among 12,000 sentences of talk, one in seven hundred was overlooked so, the
last of them mostly; with four, one in a hundred."""

SAMPLE = 4096
"""Vectors by which the axes are found."""

_LANES = 16


class NearestPrefilter:
    """The first dimensions of each row of ``vectors``, turned, and how much of it stands in the others."""

    def __init__(self, vectors: Matrix, count: int) -> None:
        sample = vectors[: count : -(-count // SAMPLE)]
        weights, axes = np.linalg.eigh(sample.T @ sample)  # the weightiest last
        self._axes = np.ascontiguousarray(axes.T[::-1])
        left_out = np.maximum(weights[::-1][FIRST:], 0.0)
        self._shares = np.asarray(left_out / (left_out.sum() or 1.0), dtype=np.float32)
        self._first = np.zeros((len(vectors), FIRST), dtype=np.float32)
        self._others = np.zeros(len(vectors), dtype=np.float32)
        self._first[:count] = vectors[:count] @ self._axes[:FIRST].T
        self._others[:count] = _length(_squares(vectors[:count]) - _squares(self._first[:count]))

    @classmethod
    def of(cls, axes: Matrix, shares: Scores, first: Matrix, others: Scores) -> NearestPrefilter:
        """The inverse of :meth:`parts`."""
        prefilter = cls.__new__(cls)
        prefilter._axes, prefilter._shares, prefilter._first, prefilter._others = axes, shares, first, others
        return prefilter

    def parts(self) -> tuple[Matrix, Scores, Matrix, Scores]:
        """What it consists of."""
        return self._axes, self._shares, self._first, self._others

    def put(self, row: int, vector: Vector) -> None:
        """A row's vector has changed, or is new."""
        while row >= len(self._first):
            self._first = np.concatenate([self._first, np.zeros_like(self._first[: row // 4 + 64])])
            self._others = np.concatenate([self._others, np.zeros_like(self._others[: row // 4 + 64])])
        self._first[row] = self._axes[:FIRST] @ vector
        self._others[row] = _length(vector @ vector - self._first[row] @ self._first[row])

    def look(self, vector: Vector, count: int) -> tuple[Scores, Scores]:
        """About the score of each row, and by how much it may be wrong."""
        turned = self._axes @ vector
        deviation = _length(turned[FIRST:] ** 2 @ self._shares)
        return self._first[:count] @ turned[:FIRST], self._others[:count] * (np.float32(SURE) * deviation)


def nearest(vectors: Matrix, vector: Vector, near: Scores, wrong: Scores | None, limit: int) -> Rows:
    """The rows of the ``limit`` highest scores, of which ``near`` is known, and ``wrong``: by how much it may be so.
    Rows at -inf are none."""
    if wrong is None or len(near) <= 2 * limit:
        rows = highest(near, limit)
        return rows[near[rows] > -np.inf]
    rows = highest(near, 2 * limit)
    scores = np.where(near[rows] > -np.inf, vectors[rows] @ vector, -np.inf).astype(np.float32)
    ordered = scores.copy()
    ordered.partition(-limit)
    possible = near + wrong >= ordered[-limit]
    possible[rows] = False
    others = possible.nonzero()[0]
    others = others[near[others] > -np.inf]
    rows, scores = np.concatenate([rows, others]), np.concatenate([scores, vectors[others] @ vector])
    best = highest(scores, limit)
    return rows[best][scores[best] > -np.inf]


def highest(scores: Scores, limit: int) -> Rows:
    """The places of the highest scores, in no order."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    if (least := least_of_highest(scores, limit)) is None:
        return np.argpartition(scores, -limit)[-limit:]
    rows: Rows = (scores >= least).nonzero()[0]
    return rows[np.argpartition(scores[rows], -limit)[-limit:]]


def least_of_highest(scores: Scores, limit: int) -> np.float32 | None:
    """A score below which there is none of the ``limit`` highest; None where there are too few to be told apart so."""
    among = len(scores) // _LANES
    if among <= 4 * limit:
        return None
    # The best of each lane are so many scores at least: what is lower than the limit-th of them is none of the highest.
    best = scores[: among * _LANES].reshape(_LANES, among).max(axis=0)
    best.partition(-limit)
    least: np.float32 = best[-limit]
    return least


def _squares(matrix: Matrix) -> Scores:
    squares: Scores = np.einsum("ij,ij->i", matrix, matrix)
    return squares


def _length(square: Scores | np.float32) -> Scores:
    return np.sqrt(np.maximum(square, np.float32(0.0)), dtype=np.float32)
