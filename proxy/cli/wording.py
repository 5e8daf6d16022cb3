"""Words that many sentences of the command line have in them. Without rich: a server that starts needs no tables."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from memory.hooks.command import count as count


def program() -> str:
    """How this command can be called again from where the person is: by its name, or by the path it was called by,
    whole where that is not below the current folder."""
    if shutil.which("palimpsest") or Path(sys.argv[0]).name != "palimpsest":
        return "palimpsest"
    path = os.path.relpath(sys.argv[0])
    return os.path.abspath(sys.argv[0]) if path.startswith(os.pardir) else path
