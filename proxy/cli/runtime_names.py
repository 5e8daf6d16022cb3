"""Which runtimes can be connected."""

from __future__ import annotations

import os
from pathlib import Path

from proxy.connect import GUIDES, Address, look, plan


def titles() -> dict[str, str]:
    """Runtime → its name, as its makers write it."""
    machine = look(Path.home(), Path.cwd(), os.environ)
    return {name: plan(name, Address(), machine).title for name in GUIDES}
