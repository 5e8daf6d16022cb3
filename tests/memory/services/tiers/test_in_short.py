"""The rules by which texts are made shorter are read when they are needed, and read whole."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import asyncio, sys
from memory.services.tiers import in_short
from memory.tiers.shape import Hint
assert "memory.tiers.tier_choice" not in sys.modules
asyncio.run(in_short.at_hand())
assert "memory.tiers.tier_choice" in sys.modules
assert in_short.line("A word.", Hint()) == in_short.tiers("A word.", Hint()).line != ""
"""


def test_they_are_read_when_somebody_asks_for_them() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
