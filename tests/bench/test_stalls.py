"""Of a delay, what a process did itself is told apart from what the machine kept it waiting for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.stalls import Clocks, Stalls, since, stall

BEGAN = Clocks(time=10.0, computed=1.0, waited=2.0, others_waited=3.0)


@pytest.mark.parametrize(
    ("computed", "waited", "others", "seconds"),
    [
        (0.0, 0.5, 0.0, 0.0),  # it waited for a processor all the while
        (0.5, 0.5, 0.0, 0.0),  # and others of the process computed meanwhile
        (0.0, 0.0, 0.5, 0.0),  # who had the lock waited
        (0.5, 0.0, 0.0, 0.5),  # who had the lock computed
        (0.2, 0.0, 0.3, 0.2),  # and waited
        (0.2, 0.1, 4.0, 0.2),  # and so did many others
        (0.0, 0.0, 0.0, 0.5),  # who had the lock waited for a disk
        (0.9, 0.0, 0.0, 0.5),  # others computed without the lock, too
    ],
)
def test_what_counts_is_the_process_own_doing(computed: float, waited: float, others: float, seconds: float) -> None:
    after = Clocks(10.5, 1.0 + computed, 2.0 + waited, 3.0 + others)
    assert stall(BEGAN, after) == pytest.approx(seconds)
    assert stall(BEGAN, after, usual=0.5) == 0.0


def test_what_was_long_before_is_left_out() -> None:
    before, after = Stalls(), Stalls()
    for each in (before, after):
        each.add("lock", 0.3)
    after.add("lock", 0.05)
    assert since(before.told(), after.told())["longest_ms"] == {"lock": 50.0, "loop": 0.0}


HELD = """
import asyncio, time
from tests.bench.stalls import watch
watch(PATH)

async def main():
    until = time.process_time() + 0.3
    await asyncio.sleep(0.1)
    while time.process_time() < until:
        pass
    await asyncio.sleep(1.5)

asyncio.run(main())
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="Linux tells how long threads wait")
def test_a_loop_that_computes_is_seen_to_stall(tmp_path: Path) -> None:
    told = tmp_path / "stalls.json"
    subprocess.run([sys.executable, "-c", HELD.replace("PATH", repr(str(told)))], check=True)
    seen = json.loads(told.read_text())
    assert seen["longest_ms"]["loop"] > 100 > seen["longest_ms"]["lock"]
