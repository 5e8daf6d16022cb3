"""Files of a home, read and copied without their holes: an index reserves a hundred megabytes and writes a few."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path


def read_written(file: Path) -> bytes:
    """All that was ever written into a file: a zero byte stands for each hole, in which there is nothing else."""
    with file.open("rb") as opened:
        pieces = [os.pread(opened.fileno(), end - start, start) for start, end in _extents(opened.fileno())]
    return b"\0".join(pieces)


def copy_tree(source: Path, target: Path, *without: str) -> None:
    """Copy a folder, its holes as holes; what exists already is written over. Files ``without`` are left out."""
    ignore = shutil.ignore_patterns(*without)
    shutil.copytree(source, target, ignore=ignore, copy_function=_copy, dirs_exist_ok=True)


def _copy(source: str, target: str) -> str:
    with Path(source).open("rb") as read, Path(target).open("wb") as write:
        for start, end in _extents(read.fileno()):
            os.pwrite(write.fileno(), os.pread(read.fileno(), end - start, start), start)
        os.truncate(write.fileno(), os.fstat(read.fileno()).st_size)
    shutil.copystat(source, target)
    return target


def _extents(file: int) -> Iterator[tuple[int, int]]:
    """Where something is written: from, to."""
    end = 0
    while True:
        try:
            start = os.lseek(file, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return
            raise
        end = os.lseek(file, start, os.SEEK_HOLE)
        yield start, end
