"""What is remembered is written into files that only their owner can read, whatever library writes them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

_OWNER_ALONE = 0o077
_SHARED_FILE = 0o666
_SHARED_FOLDER = 0o777

_UMASKS: list[int] = []
"""The person's own umask, and those that were in force when it was set again."""


@contextlib.contextmanager
def private_files(home: Path) -> Iterator[None]:
    """While this lasts, every new file of the process is its owner's alone; so is, at once, all that lies in the data
    folder. It is the whole process's: not to be entered where others create files beside."""
    _UMASKS.append(os.umask(_OWNER_ALONE))
    try:
        _close(home.resolve())
        yield
    finally:
        os.umask(_UMASKS.pop())


def share(file: Path | int) -> None:
    """Give a new file, also by its descriptor, the mode that the person's own umask gives: it is a project's."""
    if _UMASKS:
        os.chmod(file, _SHARED_FILE & ~_UMASKS[0])


def share_folder(folder: int) -> None:
    """The same of a new folder, by its descriptor."""
    if _UMASKS:
        os.chmod(folder, _SHARED_FOLDER & ~_UMASKS[0])


def _close(home: Path) -> None:
    """Take from others what an earlier version, or a copy, has left open to them. Links are not followed."""
    for folder, _, files in os.walk(home):
        for file in (folder, *(os.path.join(folder, name) for name in files)):
            # Gone meanwhile, or another user's: the folder around it is closed all the same.
            with contextlib.suppress(OSError):
                mode = os.lstat(file).st_mode
                if mode & _OWNER_ALONE and not stat.S_ISLNK(mode):
                    os.chmod(file, stat.S_IMODE(mode) & ~_OWNER_ALONE)
