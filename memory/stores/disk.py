"""Whether the disk has room: below a watermark nothing more is journaled, so that nobody else's writes fail."""

from __future__ import annotations

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
