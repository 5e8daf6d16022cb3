"""Whether the disk has room: below a watermark nothing more is journaled, so that nobody else's writes fail."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import time
from pathlib import Path

LOOK_AGAIN_SECONDS = 5.0


class DiskRoom:
    """Callable: whether more than ``least`` bytes are free where ``folder`` lies; looked up every few seconds."""

    def __init__(self, folder: Path, least: int) -> None:
        self._folder = folder
        self._least = least
        self._looked = float("-inf")
        self._room = True

    def __call__(self) -> bool:
        now = time.monotonic()
        if now - self._looked > LOOK_AGAIN_SECONDS:
            self._looked = now
            self._room = shutil.disk_usage(self._folder).free >= self._least
        return self._room


_DONTNEED = 4


def drop_page_cache(folder: Path) -> int:
    """Let go of the resident pages of shared mappings of files below a folder; how many mappings that were.

    Called in the thread that maps and unmaps them, so that none of them goes meanwhile.
    """
    done = 0
    with contextlib.suppress(OSError, AttributeError, ValueError):
        advise = ctypes.CDLL(None).madvise
        advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines():
            if f" {folder}/" not in line:
                continue  # at once: there are thousands of them
            span, flags, _, _, _, *file = line.split(maxsplit=5)
            # Only of what is shared with the file: of a private mapping, what was written would be lost.
            if flags.endswith("s") and file and file[0].startswith(f"{folder}/"):
                start, end = (int(address, 16) for address in span.split("-"))
                done += advise(start, end - start, _DONTNEED) == 0
    return done


def write_out(folder: Path) -> int:
    """Have the system write what has changed in the files below a folder; how many files that were.

    An engine that does so itself may hold Python's lock as long as the disk takes: afterwards it has less to wait for.
    """
    done = 0
    for file in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if file.is_file():
                descriptor = os.open(file, os.O_RDWR)
                try:
                    os.fsync(descriptor)
                    done += 1
                finally:
                    os.close(descriptor)
    return done
