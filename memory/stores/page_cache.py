"""Give memory back that an engine keeps resident for files that it has mapped, and have the files written beforehand.

Such pages are copies of what the files hold: the system reads them again when they are asked for. That is done on Linux
only; elsewhere nothing happens.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from pathlib import Path

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
