"""One owner's points side by side, in arrays: in memory, or in files that are mapped into it.

Not safe to be changed while it is searched: whoever has it sees to that.

The sparse vectors of one owner's points, by term: which points have it, and with what weight.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Final, NamedTuple, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from memory.ports import IndexHit, Point, Query, Sparse, Vector
from memory.stores.ann_prefilter import (
    FIRST,
    Matrix,
    NearestPrefilter,
    Rows,
    Scores,
    highest,
    least_of_highest,
    nearest,
)

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
        _remove_entries(self._late, rows)
        _remove_entries(self._settled, rows)
        if self._lying is not None and self._lying is not self._settled:
            _remove_entries(self._lying, rows)

    def scores(self, query: Sparse, rows: int) -> NDArray[np.float32]:
        """The product of a question with each of the first ``rows`` vectors: all of them, by the caller's account."""
        if self._new:
            self._late, self._new = _merge_entries(self._late, self._new), []
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
        self._settled, self._late, self._new = _merge_entries(self._settled, entries), _NONE, []


def _merge_entries(columns: _Columns, entries: Sequence[tuple[int, int, float]]) -> _Columns:
    terms, rows, weights = zip(*sorted(entries, key=itemgetter(0)), strict=True) if entries else ((), (), ())
    present = columns.rows != _GONE
    before = columns.terms[present]
    places = np.searchsorted(before, np.array(terms, dtype=np.uint32), side="right")
    return _Columns(
        np.insert(before, places, np.array(terms, dtype=np.uint32)),
        np.insert(columns.rows[present], places, np.array(rows, dtype=np.int32)),
        np.insert(columns.weights[present], places, np.array(weights, dtype=np.float32)),
    )


def _remove_entries(columns: _Columns, rows: Collection[int]) -> None:
    among = columns.rows
    dropped = np.zeros(max(int(among.max(initial=0)), *rows, 0) + 2, dtype=np.bool_)
    dropped[list(rows)] = True  # the last place is that of _GONE
    gone = np.flatnonzero(dropped[among])
    among[gone] = _GONE
    columns.weights[gone] = 0.0


MANY = 2048
"""Points from which on a few dimensions are looked at first."""


KEY = 16
"""Bytes of an id."""


class Arrays(TypedDict):
    """What a table consists of. ``keys`` are the ids as bytes, zeros where a row is free; the others are those of the
    table, of its nearness and of its postings."""

    keys: NDArray[np.uint8]
    vectors: Matrix
    facts: NDArray[np.bool_]
    axes: Matrix
    shares: Scores
    first: Matrix
    others: Scores
    terms: NDArray[np.uint32]
    rows: NDArray[np.int32]
    weights: Scores


_HIT: Final = cast("Callable[[tuple[str, float, float]], IndexHit]", partial(tuple.__new__, IndexHit))
"""A hit of its parts, in half the time of calling the class: a search makes forty and more."""


class PointTable:
    """One owner's points, a row for each of ``ids``; an empty id is a free row. ``whole``: none is missing."""

    def __init__(self, dimensions: int, now: float, count: int) -> None:
        self.whole = False
        self.asked = now
        self.ids: list[str] = []
        self.rows: dict[str, int] = {}
        self.free: list[int] = []
        # Rows that are not written take no memory yet; to grow takes twice the memory for a moment.
        room = count + count // 4 + 8
        self.vectors = np.zeros((room, dimensions), dtype=np.float32)
        self.facts = np.zeros(room, dtype=np.bool_)
        self.postings = Postings(in_use=False)
        self.nearness: NearestPrefilter | None = None
        self.keys: NDArray[np.uint8] | None = None  # where it lies in files

    @classmethod
    def of(cls, arrays: Arrays) -> PointTable:
        """A table that consists of these."""
        table = cls(arrays["vectors"].shape[1], 0.0, 0)
        ids = texts_of(arrays["keys"].tobytes())
        while ids and not ids[-1]:
            ids.pop()
        table.ids = ids
        table.rows = {id: row for row, id in enumerate(ids) if id}
        table.free = [row for row, id in enumerate(ids) if not id]
        table.lie(arrays)
        return table

    def arrays(self) -> Arrays | None:
        """What it consists of; None where it is too small to be looked at in a few dimensions first. Called where it
        is not searched."""
        if self.nearness is None:
            return None
        self.postings.settle()
        keys = np.zeros((len(self.vectors), KEY), dtype=np.uint8)
        held = b"".join([key_of(id) if id else bytes(KEY) for id in self.ids])
        keys[: len(self.ids)] = np.frombuffer(held, dtype=np.uint8).reshape(-1, KEY)
        axes, shares, first, others = self.nearness.parts()
        terms, rows, weights = self.postings.parts()
        return Arrays(
            keys=keys,
            vectors=self.vectors,
            facts=self.facts,
            axes=axes,
            shares=shares,
            first=first,
            others=others,
            terms=terms,
            rows=rows,
            weights=weights,
        )

    def lie(self, arrays: Arrays) -> None:
        """From now on consist of these, which hold the same."""
        self.keys, self.vectors, self.facts = arrays["keys"], arrays["vectors"], arrays["facts"]
        self.nearness = NearestPrefilter.of(arrays["axes"], arrays["shares"], arrays["first"], arrays["others"])
        self.postings = Postings.of(arrays["terms"], arrays["rows"], arrays["weights"], self.postings)

    def put(self, points: Mapping[str, Point]) -> None:
        self.postings.drop([self.rows[id] for id in points if id in self.rows])
        for id, point in points.items():
            row = self.rows.get(id)
            if row is None:
                row = self.rows[id] = self._new_row()
                self.ids[row] = id
            self.vectors[row] = point.dense
            self.facts[row] = point.sort == "fact"
            self.postings.put(row, point.sparse)
            if self.nearness is not None:
                self.nearness.put(row, point.dense)
            if self.keys is not None:
                self.keys[row] = np.frombuffer(key_of(id), dtype=np.uint8)

    def drop(self, ids: Iterable[str]) -> None:
        rows = [self.rows.pop(id) for id in ids]
        self.postings.drop(rows)
        self.free += rows
        for row in rows:
            self.ids[row] = ""
            self.vectors[row] = 0.0  # what is forgotten leaves no numbers behind
            if self.nearness is not None:
                self.nearness.put(row, self.vectors[row])
            if self.keys is not None:
                self.keys[row] = 0  # last: after a kill amid this, whose the rest was is still known

    def sort(self) -> None:
        """Have a few dimensions to look at first, where it is large enough. Called where no point is put meanwhile."""
        if self.nearness is None and len(self.ids) >= MANY and self.vectors.shape[1] > FIRST:
            self.nearness = NearestPrefilter(self.vectors, len(self.ids))

    def finish(self) -> None:
        """None is missing. Called where no point is put meanwhile."""
        self.sort()
        self.postings.settle()
        self.postings.asked = self.whole = True

    def search(self, query: Query) -> list[IndexHit]:
        """The best by each leg, with both scores."""
        count, dense = len(self.ids), query.dense
        words = self.postings.scores(query.sparse, count)
        other = None if query.sort is None else self.facts[:count] != (query.sort == "fact")
        if other is not None:
            words[other] = 0.0
        if query.by_words or dense is None:
            rows = _rows_sharing_most_words(words, lambda even: self._cosines(even, dense), query.limit).tolist()
            shared = words[rows].tolist()
        else:
            near, wrong = self._look(dense, count)
            if other is not None:
                near[other] = -np.inf
            if self.free:
                near[self.free] = -np.inf
            rows = _rows_sharing_most_words(words, lambda even: near[even], query.limit).tolist()
            shared, known = words[rows].tolist(), set(rows)
            nearby = nearest(self.vectors, dense, near, wrong, query.limit).tolist()
            rows += [row for row in nearby if row not in known]
            shared += [0.0] * (len(rows) - len(shared))
        ids = [self.ids[row] for row in rows]
        return list(map(_HIT, zip(ids, self._cosines(rows, dense).tolist(), shared, strict=True)))

    def _cosines(self, rows: Rows | list[int], dense: Vector | None) -> Scores:
        return np.zeros(len(rows), dtype=np.float32) if dense is None else self.vectors[rows] @ dense

    def _look(self, dense: Vector, count: int) -> tuple[Scores, Scores | None]:
        if self.nearness is not None:
            return self.nearness.look(dense, count)
        return self.vectors[:count] @ dense, None

    def _new_row(self) -> int:
        if self.free:
            return self.free.pop()
        self.ids.append("")
        row = len(self.ids) - 1
        if row == len(self.vectors):
            self.keys = None  # larger than its files
            more = row // 4 + 8
            self.vectors = np.concatenate([self.vectors, np.zeros((more, self.vectors.shape[1]), dtype=np.float32)])
            self.facts = np.concatenate([self.facts, np.zeros(more, dtype=np.bool_)])
        return row


def _rows_sharing_most_words(words: Scores, near: Callable[[Rows], Scores], limit: int) -> Rows:
    """The rows with the most of the words; of those that have equally much, the nearest."""
    if np.count_nonzero(words) <= limit:  # no weight is below 0
        return words.nonzero()[0]
    floor = least_of_highest(words, limit)
    rows: Rows = (words > 0 if floor is None or floor <= 0 else words >= floor).nonzero()[0]
    shared = words[rows]
    ordered = shared.copy()
    ordered.partition(-limit)
    least = ordered[-limit]
    more, even = rows[shared > least], rows[shared == least]
    return np.concatenate([more, even[highest(near(even), limit - len(more))]])


def key_of(id: str) -> bytes:
    """A UUID as bytes."""
    return bytes.fromhex(id.replace("-", ""))


def texts_of(keys: bytes) -> list[str]:
    """The UUIDs of some keys as texts; an empty one for a key of zeros."""
    hex_keys, texts = keys.hex(), []
    for at in range(0, len(hex_keys) - 2 * KEY + 1, 2 * KEY):
        each = hex_keys[at : at + 2 * KEY]
        texts.append(f"{each[:8]}-{each[8:12]}-{each[12:16]}-{each[16:20]}-{each[20:]}" if each.strip("0") else "")
    return texts
