"""Words that many sentences of the command line have in them. Without rich: a server that starts needs no tables."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path


def program() -> str:
    """How this command can be called again from where the person is: by its name, or by the path it was called by."""
    if shutil.which("palimpsest") or Path(sys.argv[0]).name != "palimpsest":
        return "palimpsest"
    return os.path.relpath(sys.argv[0])


def count(number: int, what: str) -> str:
    """So many of something."""
    many = f"{what[:-1]}ies" if what.endswith("y") and what[-2:-1] not in "aeiou" else f"{what}s"
    return f"{number} {what if number == 1 else many}"
