"""Give back to the system what the C library keeps free: a body of 20 MB, and what is learned of it, come and go.

Only glibc is asked, and only on Linux; elsewhere all of it does nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

# Parameters of mallopt(3).
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8

MUCH = 8 * 2**20
"""Bytes by which the process has to have grown, and that have to be free in it, before they are given back."""

LOOK_SECONDS = 15.0
"""How often it is looked."""

PATIENCE = 4
"""How often it is left for a quieter moment, one time after the other."""

QUIET_SECONDS, QUIET_SHARE = 0.5, 0.1
"""For how long the process has to have been idle, but for this share of a processor: who asks for memory meanwhile
waits, some ten milliseconds for a hundred MiB."""


def large_buffers_apart() -> None:
    """Ask for few arenas and for large buffers that go back to the system: bodies come and go in several threads, and
    what they leave behind would otherwise stay resident for ever."""
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, value in ((_ARENA_MAX, 2), (_MMAP_THRESHOLD, 2**17), (_TRIM_THRESHOLD, 2**18)):
            mallopt(parameter, value)


class HeapTrimmer:
    """Gives back what is free between things that are used: that the C library never does by itself.

    Args:
        resident: bytes that the process holds; 0 where nobody can tell.
        free: bytes that the C library has in hand and nobody uses, what was given back before included.
        give_back: has it give back what it can. Called in a thread.
        quiet: whether nothing much is done.
    """

    def __init__(
        self,
        resident: Callable[[], int],
        free: Callable[[], int],
        give_back: Callable[[], object],
        quiet: Callable[[], Awaitable[bool]],
    ) -> None:
        self._resident = resident
        self._free = free
        self._give_back = give_back
        self._quiet = quiet
        self._held = resident()
        self._left = 0

    async def look(self) -> bool:
        """Whether there was much that was free, and it was given back."""
        if self._resident() < self._held + MUCH or self._free() < MUCH:
            return False
        if self._left < PATIENCE and not await self._quiet():
            self._left += 1
            return False
        await asyncio.to_thread(self._give_back)
        self._held, self._left = self._resident(), 0
        return True

    async def forever(self) -> None:
        """Look again and again."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.look()


def giving_back() -> HeapTrimmer | None:
    """Of this process; None where its C library cannot be asked."""
    try:
        library = ctypes.CDLL(None)
        library.mallinfo2.restype = _Mallinfo
        trim = library.malloc_trim
        _resident()
    except (OSError, AttributeError, ValueError):
        return None
    return HeapTrimmer(_resident, lambda: int(library.mallinfo2().free), lambda: trim(0), quiet)


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def quiet() -> bool:
    """Whether this process does nothing much: it is looked at for half a second."""
    spent = time.process_time()
    await asyncio.sleep(QUIET_SECONDS)
    return time.process_time() - spent < QUIET_SHARE * QUIET_SECONDS


class _Mallinfo(ctypes.Structure):
    """See mallinfo(3), whose names are less telling."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("arena", "chunks", "bins", "maps", "mapped", "most", "in_bins", "used")),
        ("free", ctypes.c_size_t),
        ("at_the_top", ctypes.c_size_t),
    )
