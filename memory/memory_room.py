"""Room in memory for large bodies: where the system has none left, a request goes on without being read.

The native code that reads and writes JSON does not survive an allocation that fails: the process would die, and with
it every other stream. So the system is asked first, for all bodies that are being read at the time.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LARGE = 2**20
"""Bytes of a body from which on it is asked: what a smaller one takes is always there, or nothing is."""

TIMES = 10
"""How many times a body's size its reading, comparing and writing take at most, at a time."""

DECOMPRESSING = 3
"""How many times a body's size, uncompressed, its decompression takes at most, at a time."""

SPARE = 64 * 2**20
"""Bytes that are left for everything else."""

NO_ROOM = "the system has no memory left for a body of this size"


class MemoryRoom:
    """Who reads large bodies at the moment. ``there`` says whether so many bytes could be had."""

    def __init__(self, there: Callable[[int], bool] | None = None) -> None:
        self._there = there or could_be_had
        self._taken = 0

    @contextmanager
    def taken(self, size: int, times: int = TIMES) -> Iterator[bool]:
        """Whether there is room to read a body of this size; it counts as taken meanwhile."""
        need = times * size if size >= LARGE else 0
        if need and not self._there(self._taken + need + SPARE):
            yield False
            return
        self._taken += need
        try:
            yield True
        finally:
            self._taken -= need


def could_be_had(size: int) -> bool:
    """Whether the system would give so many bytes: they are asked for, not touched, and given back at once. A limit on
    a group of processes (a container's) is not told so: there the system ends the process that touches too much."""
    try:
        mmap.mmap(-1, size).close()
    except (OSError, MemoryError, OverflowError):
        return False
    return True
