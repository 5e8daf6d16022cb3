"""What a client leaves running is ended."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.e2e.sandbox import end_left


def test_what_a_client_leaves_running_is_ended_and_nothing_else(tmp_path: Path) -> None:
    left = subprocess.Popen(["sleep", "60"], env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home")})
    other = subprocess.Popen(["sleep", "60"], env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home2")})
    try:
        assert end_left(tmp_path / "home") == 1
        assert left.wait(20) != 0 and other.poll() is None
    finally:
        other.kill()
        other.wait()
