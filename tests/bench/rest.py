"""What the server takes at rest, and what it and the commands take to start.

    python -m tests.bench.rest [--times 3] [--facts 0]

Each time the real command is started in a new data folder, with so many ``--facts`` in it. Told of the server:
processor time until it listens and until memory is open, and once it does nothing any more its resident memory, alone
(RSS) and with what it shares divided among those who share it (PSS), and the most that it ever was (HWM). Told of
commands that ask it: their processor time from their start to their end. Of all that the least and the median, since
a busy machine only ever adds. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Final

from proxy.cli.home_owner import ANNOUNCED
from tests.bench import targets
from tests.bench.processes import ROOT, Process, free_port

OPENED: Final = "See that it works"
"""What is told once memory is open."""

WITHIN: Final = 300.0
STILL: Final = 8.0
"""Seconds of rest after which what a start leaves to be done behind it is done."""

INITIALIZE: Final = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "rest", "version": "1"}},
    }
)

COMMANDS: Final = {"--version": "", "status": "", "facts": "", "mcp": INITIALIZE + "\n"}
"""What is run, and what it is given to read."""


def waited(done: Callable[[], bool], what: str) -> None:
    """Wait until that is so."""
    until = time.monotonic() + WITHIN
    while not done():
        if time.monotonic() > until:
            sys.exit(f"not {what} within {WITHIN:.0f} s")
        time.sleep(0.02)


def settled(process: Process) -> None:
    """Wait until it has done nothing for a while."""
    spent, since = process.cpu_seconds(), time.monotonic()
    while time.monotonic() - since < STILL:
        time.sleep(0.5)
        before, spent = spent, process.cpu_seconds()
        if spent > before + 0.02:
            since = time.monotonic()


def most_mib(pid: int) -> float:
    """The most that it was ever resident."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def seconds_of(name: str, home: Path) -> float:
    """Processor time of a command, which must do what it is asked to."""
    command = [sys.executable, "-c", targets.PALIMPSEST, name, *(["--home", str(home)] if name[0] != "-" else [])]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input=COMMANDS[name], capture_output=True, text=True, cwd=ROOT, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or not done.stdout:
        sys.exit(f"{name}: {done.stderr or done.stdout}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def once(facts: int) -> dict[str, float]:
    """One start, and each command once."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-rest-") as folder:
        home = Path(folder) / "home"
        if facts:
            seeding = [sys.executable, "-m", "tests.bench.seed", str(home), str(facts)]
            subprocess.run(seeding, cwd=ROOT, check=True, capture_output=True)
        process = targets.palimpsest("rest", Path(folder), home, free_port(), ready=False).process
        assert process is not None
        try:
            waited((home / ANNOUNCED).exists, "listening")
            told = {"server, until it listens, s": process.cpu_seconds()}
            log = Path(folder) / "rest.log"
            waited(lambda: OPENED in log.read_text(errors="replace"), "open")
            told["server, until memory is open, s"] = process.cpu_seconds()
            settled(process)
            told |= {
                "server, until it rests, s": process.cpu_seconds(),
                "resident (RSS), MiB": process.own_mib(),
                "– shared divided (PSS), MiB": process.proportional_mib(),
                "– at most (HWM), MiB": most_mib(process.pid),
            }
            return told | {f"palimpsest {name}, s": seconds_of(name, home) for name in COMMANDS}
        finally:
            process.stop()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--facts", type=int, default=0)
    arguments = parser.parse_args()
    seen: dict[str, list[float]] = defaultdict(list)
    for _ in range(arguments.times):
        for name, figure in once(arguments.facts).items():
            seen[name].append(figure)
    print(f"load {os.getloadavg()[0]:.1f}, {arguments.times} times: least, median")
    for name, figures in seen.items():
        print(f"{name:34} {min(figures):7.2f} {statistics.median(figures):7.2f}")


if __name__ == "__main__":
    main()
