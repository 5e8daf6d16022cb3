"""The sparse vectors of one owner's points, by term: which points have it, and with what weight.

A question has few terms, so its scores are the sums of a few short columns. What was added last stands in small
columns of its own until there is enough of it to be sorted in.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory.ports import Sparse

LATE = 4096
"""Entries that may wait to be sorted in, which takes half a millisecond."""

EARLY = 4 * LATE
"""And as long as nobody asks."""

_GONE = -1
"""The row of an entry whose point is gone: it adds to a place that nobody reads."""


class _Columns(NamedTuple):
    """Entries in the order of their terms: the term, the row and the weight of each."""

    terms: NDArray[np.uint32]
    rows: NDArray[np.int32]
    weights: NDArray[np.float32]


_NONE = _Columns(np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32))


class Postings:
    """Sparse vectors by row. Rows are numbered by the caller, who says from when on scores are ``asked`` for."""

    def __init__(self, in_use: bool = True) -> None:
        self.asked = in_use
        self._settled = _NONE
        # What it was made of, where that lies in files, which are not sorted anew.
        self._lying: _Columns | None = None
        self._late = _NONE
        self._new: list[tuple[int, int, float]] = []

    @classmethod
    def of(
        cls, terms: NDArray[np.uint32], rows: NDArray[np.int32], weights: NDArray[np.float32], late: Postings
    ) -> Postings:
        """What consists of the :meth:`parts` of another one, with what still waits there."""
        postings = cls(late.asked)
        postings._settled = postings._lying = _Columns(terms, rows, weights)
        postings._late, postings._new = late._late, late._new
        return postings

    def parts(self) -> tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.float32]]:
        """The sorted entries: the term, the row and the weight of each. What waits is not among them."""
        return self._settled

    def put(self, row: int, sparse: Sparse) -> None:
        """The vector of a row that has none."""
        self._new += [(term, row, weight) for term, weight in sparse.items()]
        if self._waiting > (LATE if self.asked else EARLY):
            self._sort_in()

    def drop(self, rows: Collection[int]) -> None:
        """Some rows have no vector any more; nothing of them stays behind. Every entry is looked at once for all of
        them together, which takes milliseconds where there are many."""
        if not rows:
            return
        gone = set(rows)
        self._new = [entry for entry in self._new if entry[1] not in gone]
        _blank(self._late, rows)
        _blank(self._settled, rows)
        if self._lying is not None and self._lying is not self._settled:
            _blank(self._lying, rows)

    def scores(self, query: Sparse, rows: int) -> NDArray[np.float32]:
        """The product of a question with each of the first ``rows`` vectors: all of them, by the caller's account."""
        if self._new:
            self._late, self._new = _inserted(self._late, self._new), []
        scores = np.zeros(rows + 1, dtype=np.float32)  # the last one is nobody's
        # In the order of the terms, as the engine adds them up: sums of floats depend on it.
        names = sorted(query)
        terms = np.array(names, dtype=np.uint32)
        for columns in (self._settled, self._late):
            starts = columns.terms.searchsorted(terms).tolist()
            ends = columns.terms.searchsorted(terms, side="right").tolist()
            for term, start, end in zip(names, starts, ends, strict=True):
                if start < end:
                    scores[columns.rows[start:end]] += np.float32(query[term]) * columns.weights[start:end]
        return scores[:rows]

    def settle(self) -> None:
        """Have nothing wait to be sorted in."""
        if self._waiting:
            self._sort_in()

    @property
    def _waiting(self) -> int:
        return len(self._new) + len(self._late.terms)

    def _sort_in(self) -> None:
        late = zip(*(column.tolist() for column in self._late), strict=True)
        entries = [entry for entry in (*late, *self._new) if entry[1] != _GONE]
        self._settled, self._late, self._new = _inserted(self._settled, entries), _NONE, []


def _inserted(columns: _Columns, entries: Sequence[tuple[int, int, float]]) -> _Columns:
    """Entries of which none is gone, sorted into the others."""
    terms, rows, weights = zip(*sorted(entries, key=itemgetter(0)), strict=True) if entries else ((), (), ())
    present = columns.rows != _GONE
    before = columns.terms[present]
    places = np.searchsorted(before, np.array(terms, dtype=np.uint32), side="right")
    return _Columns(
        np.insert(before, places, np.array(terms, dtype=np.uint32)),
        np.insert(columns.rows[present], places, np.array(rows, dtype=np.int32)),
        np.insert(columns.weights[present], places, np.array(weights, dtype=np.float32)),
    )


def _blank(columns: _Columns, rows: Collection[int]) -> None:
    """Take the entries of some rows out."""
    among = columns.rows
    dropped = np.zeros(max(int(among.max(initial=0)), *rows, 0) + 2, dtype=np.bool_)
    dropped[list(rows)] = True  # the last place is that of _GONE
    gone = np.flatnonzero(dropped[among])
    among[gone] = _GONE
    columns.weights[gone] = 0.0
