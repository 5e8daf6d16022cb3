"""A move of a journal that is killed when so many steps of it are done: in FILE, or out into it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from memory.stores.postgresql import moving, table_copying


def main(way: str, file: str, url: str, after: str) -> None:
    """Move; pieces are small, so that some are committed before."""
    table_copying.PIECE, table_copying.STEP = 7, 1

    def progress(done: int, of: int) -> None:
        if done >= int(after):
            os.kill(os.getpid(), signal.SIGKILL)

    if way == "in":
        moving.move_in(Path(file), url, lambda table, rows: None, progress)
    else:
        moving.move_out(url, Path(file), lambda table, rows: None, progress)


if __name__ == "__main__":
    main(*sys.argv[1:])
