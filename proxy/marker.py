"""``.palimpsest.toml``: how far memory takes part in a folder and below it, said in the folder itself.

Such a file comes along with any repository that is cloned. So it can only make memory do less: it names no project and
gives nothing to anybody. One that cannot be understood switches memory off: whoever wrote it wanted less than usual.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from memory.session import Mode

NAME: Final = ".palimpsest.toml"
DEEPEST: Final = 40
LARGEST: Final = 64 * 1024
KEPT: Final = 256


@dataclass(frozen=True, slots=True)
class Marked:
    """What files on the way to a folder allow, and why it is less than all."""

    mode: Mode = Mode.ON
    why: str = ""


class Markers:
    """Reads those files; one that was read is not read again until it changes."""

    def __init__(self) -> None:
        self._read: OrderedDict[str, tuple[tuple[int, int], Marked]] = OrderedDict()

    def of(self, directory: str | None) -> Marked:
        """What holds in a folder of this machine: the strictest of what is said in it and above it."""
        if directory is None or not os.path.isabs(directory):
            return Marked()
        folder = Path(os.path.normpath(directory))
        found = [self._file(each / NAME) for each in (folder, *folder.parents)[:DEEPEST]]
        return min(found, key=lambda each: _ORDER.index(each.mode), default=Marked())

    def _file(self, file: Path) -> Marked:
        try:
            told = file.stat()
        except FileNotFoundError:
            return Marked()
        except (OSError, ValueError):
            # A folder that cannot be looked into is none of ours; a link in a circle says nothing.
            return Marked()
        if not stat.S_ISREG(told.st_mode):
            # What a clone brings may be a link to a device or a pipe, which would be waited for.
            return Marked(Mode.OFF, f"{NAME} is no file")
        stamp = (told.st_mtime_ns, told.st_size)
        known = self._read.get(str(file))
        if known is None or known[0] != stamp:
            known = stamp, _marked(file)
            self._read[str(file)] = known
            if len(self._read) > KEPT:
                self._read.popitem(last=False)
        return known[1]


_ORDER: Final = (Mode.OFF, Mode.READ_ONLY, Mode.ON)


def _marked(file: Path) -> Marked:
    try:
        with file.open("rb") as opened:
            said = tomllib.loads(opened.read(LARGEST).decode())
        unknown = sorted(said.keys() - {"memory"})
        if unknown:
            raise ValueError(f"there is no {unknown[0]!r} in it, only memory")
        mode = Mode(said.get("memory", Mode.ON))
    except (OSError, ValueError, RecursionError) as error:
        told = " ".join(str(error).split()).encode("ascii", "replace").decode()[:120]
        return Marked(Mode.OFF, f"{NAME} cannot be understood: {told}")
    return Marked(mode, "" if mode is Mode.ON else f"{NAME} says {mode}")
