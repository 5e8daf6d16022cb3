"""The rules by which is learned are read when they are needed, and read whole."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import asyncio, sys
from memory.day.lessons import rules
assert not rules.whole() and "memory.learning.extract" not in sys.modules
asyncio.run(rules.at_hand())
assert rules.whole() and "memory.learning.extract" in sys.modules
"""


def test_they_are_read_when_somebody_asks_for_them() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
