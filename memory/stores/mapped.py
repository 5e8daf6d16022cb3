"""Give memory back that an engine keeps resident for files that it has mapped.

Such pages are copies of what the files hold: the system reads them again when they are asked for. Linux only;
elsewhere nothing happens.
"""

from __future__ import annotations

import contextlib
import ctypes
from pathlib import Path

_DONTNEED = 4


def let_go(folder: Path) -> int:
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
