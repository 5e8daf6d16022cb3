"""What lies in a home folder whose journal is gone: an index and pages that were made from it.

A journal that is begun anew knows none of their memories: the index would be removed, and the pages' files made anew
without a line. So these files are set aside first, where no night and no forgetting reaches them. A person's own words
(MEMORY.md) stay where they are: they hold without a journal.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from datetime import date
from itertools import count
from pathlib import Path
from typing import Final

from memory.ports import StoreError

JOURNAL: Final = "journal.db"
SET_ASIDE: Final = "lost-journal-"
"""How the folders begin in which such pages lie, with the day behind it."""
REPLACED: Final = "replaced"
"""How the folders begin in which what a restored backup took the place of lies."""
_OWN: Final = "MEMORY.md"


@dataclass(frozen=True, slots=True)
class OrphanedFiles:
    """What was made from a journal that is gone: the indexes' folders, the pages' files, and with how many of a
    person's own words are in no danger."""

    indexes: tuple[Path, ...]
    made: tuple[Path, ...]
    own: int

    async def vectors(self) -> int:
        """How many memories the indexes hold; one that cannot be opened counts for none. Nobody else may have them
        open."""
        from memory.stores.index_edge import EdgeIndex  # whoever only looks need not wait for the engine

        held = 0
        for folder in self.indexes:
            dimensions = folder.name.split("-")[-3:-2]
            if not dimensions or not dimensions[0].isdigit():
                continue
            with contextlib.suppress(StoreError):
                index = await EdgeIndex.open(folder, int(dimensions[0]), 0)
                try:
                    held += await index.count()
                finally:
                    await index.close()
        return held


def begun(home: Path) -> bool:
    """Whether there is a memory: a journal, what was made from one that is gone, or a person's own words."""
    return (home / JOURNAL).exists() or any(home.glob("index/*-g*/")) or any(home.glob("pages/*/*/*"))


def left_behind(home: Path) -> OrphanedFiles | None:
    """What lies there without its journal; None where there is a journal, or nothing was made from one."""
    journal = home / JOURNAL
    if journal.exists() and journal.stat().st_size:
        return None
    indexes = tuple(sorted((home / "index").glob("*-g*/")))
    files = sorted((home / "pages").glob("*/*/*"))
    files_made = tuple(file for file in files if file.name != _OWN)
    return OrphanedFiles(indexes, files_made, len(files) - len(files_made)) if indexes or files_made else None


def files_aside(home: Path) -> list[Path]:
    """The files that were set aside, or replaced by a backup, and still lie there."""
    folders = [folder for name in (SET_ASIDE, f"{REPLACED}-") for folder in home.glob(f"{name}*/")]
    return [file for folder in folders for file in folder.rglob("*") if file.is_file()]


def set_aside(home: Path, day: date) -> Path | None:
    """Move the pages' files out of the way of a journal that is about to be begun anew. The folder that they are in
    now, which stays empty where only an index was left; None where nothing was.

    Raises:
        OSError: when they cannot be moved.
    """
    left = left_behind(home)
    if left is None:
        return None
    names = (f"{SET_ASIDE}{day:%Y-%m-%d}{f'-{number}' if number else ''}" for number in count())
    folder = next(home / name for name in names if not (home / name).exists())
    folder.mkdir(mode=0o700)
    for file in left.made:
        target = folder / file.relative_to(home)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.replace(file, target)
    return folder
