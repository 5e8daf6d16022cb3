"""The sparse vectors of one owner's points, by term: which points have it, and with what weight.

A question has few terms, so its scores are the sums of a few short columns. What was added last stands in a small
part of its own until there is enough of it to be sorted in.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from memory.ports import Sparse

LATE = 4096
"""Entries that may wait to be sorted in, which takes half a millisecond."""

EARLY = 4 * LATE
"""And as long as nobody asks."""

_GONE = -1
"""The row of an entry whose point is gone: it adds to a place that nobody reads."""


class Postings:
    """Sparse vectors by row. Rows are numbered by the caller, who says from when on scores are ``asked`` for."""

    def __init__(self, in_use: bool = True) -> None:
        self.asked = in_use
        self._terms: NDArray[np.uint32] = np.empty(0, dtype=np.uint32)  # sorted
        self._rows: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._weights: NDArray[np.float32] = np.empty(0, dtype=np.float32)
        # What it was made of, where that lies in files, which are not sorted anew.
        self._lying: tuple[NDArray[np.int32], NDArray[np.float32]] | None = None
        self._late: dict[int, dict[int, float]] = {}
        self._late_terms: dict[int, tuple[int, ...]] = {}
        self._waiting = 0

    @classmethod
    def of(
        cls, terms: NDArray[np.uint32], rows: NDArray[np.int32], weights: NDArray[np.float32], late: Postings
    ) -> Postings:
        """What consists of the :meth:`parts` of another one, with what still waits there."""
        postings = cls(late.asked)
        postings._terms, postings._rows, postings._weights, postings._lying = terms, rows, weights, (rows, weights)
        postings._late, postings._late_terms, postings._waiting = late._late, late._late_terms, late._waiting
        return postings

    def parts(self) -> tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.float32]]:
        """The sorted entries: the term, the row and the weight of each. What waits is not among them."""
        return self._terms, self._rows, self._weights

    def put(self, row: int, sparse: Sparse) -> None:
        """The vector of a row that has none."""
        for term, weight in sparse.items():
            self._late.setdefault(term, {})[row] = weight
        self._late_terms[row] = tuple(sparse)
        self._waiting += len(sparse)
        if self._waiting > (LATE if self.asked else EARLY):
            self._sort_in()

    def drop(self, rows: Collection[int]) -> None:
        """Some rows have no vector any more; nothing of them stays behind. Every entry is looked at once for all of
        them together, which takes milliseconds where there are many."""
        for row in rows:
            for term in self._late_terms.pop(row, ()):
                del self._late[term][row]
                self._waiting -= 1
        if not rows:
            return
        _blank(self._rows, self._weights, rows)
        if self._lying is not None and self._lying[0] is not self._rows:
            _blank(*self._lying, rows)

    def scores(self, query: Sparse, rows: int) -> NDArray[np.float32]:
        """The product of a question with each of the first ``rows`` vectors: all of them, by the caller's account."""
        scores = np.zeros(rows + 1, dtype=np.float32)  # the last one is nobody's
        # In the order of the terms, as the engine adds them up: sums of floats depend on it.
        names = sorted(query)
        terms = np.array(names, dtype=np.uint32)
        starts, ends = self._terms.searchsorted(terms).tolist(), self._terms.searchsorted(terms, side="right").tolist()
        for term, start, end in zip(names, starts, ends, strict=True):
            weight = np.float32(query[term])
            if start < end:
                scores[self._rows[start:end]] += weight * self._weights[start:end]
            if late := self._late.get(term):
                scores[list(late)] += weight * np.fromiter(late.values(), np.float32, len(late))
        return scores[:rows]

    def settle(self) -> None:
        """Have nothing wait to be sorted in."""
        if self._waiting:
            self._sort_in()

    def _sort_in(self) -> None:
        entries = [(term, row, weight) for term, late in sorted(self._late.items()) for row, weight in late.items()]
        terms, rows, weights = zip(*entries, strict=True) if entries else ((), (), ())
        present = self._rows != _GONE
        before = self._terms[present]
        places = np.searchsorted(before, np.array(terms, dtype=np.uint32), side="right")
        self._terms = np.insert(before, places, np.array(terms, dtype=np.uint32))
        self._rows = np.insert(self._rows[present], places, np.array(rows, dtype=np.int32))
        self._weights = np.insert(self._weights[present], places, np.array(weights, dtype=np.float32))
        self._late, self._late_terms, self._waiting = {}, {}, 0


def _blank(among: NDArray[np.int32], weights: NDArray[np.float32], rows: Collection[int]) -> None:
    """Take the entries of some rows out."""
    dropped = np.zeros(max(int(among.max(initial=0)), *rows, 0) + 2, dtype=np.bool_)
    dropped[list(rows)] = True  # the last place is that of _GONE
    gone = np.flatnonzero(dropped[among])
    among[gone] = _GONE
    weights[gone] = 0.0
