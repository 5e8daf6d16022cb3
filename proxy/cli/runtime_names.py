"""Which runtimes can be connected."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from proxy.connect import GUIDES, Address, look, plan


def titles() -> dict[str, str]:
    """Runtime → its name, as its makers write it."""
    machine = look(Path.home(), Path.cwd(), os.environ)
    return {name: plan(name, Address(), machine).title for name in GUIDES}


def installed() -> frozenset[str]:
    """The runtimes whose program is on the PATH."""
    return frozenset(name for name in GUIDES if name not in _NO_PROGRAMS and shutil.which(name) is not None)


_NO_PROGRAMS = frozenset({"curl", "other"})
"""What is called as a program is, or is none, and says nothing of what agent is used here."""
