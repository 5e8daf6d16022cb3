"""How much time Palimpsest adds, measured in one interleaved run against the same scripted provider.

    python -m tests.bench.load [--full] [--rivals litellm,headroom] [--facts 10000] [--seconds N] [--json FILE]

Every round visits each target in turn, so that a noisy minute is noisy for all, and what a target adds is its time
less the time straight to the provider *in the same round*. Streamed replies come in spaced chunks. Requests follow each
other without a pause, in sessions of a few turns, and none is the same as another, so that recall and learning have
their work to do each time; what a target puts off until it is quiet is waited for before the next one's turn. Figures
on a shared machine are to be read as ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import platform
import shutil
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench import targets
from tests.bench.client import Connection
from tests.bench.report import floors, markdown
from tests.bench.seed import seed_home
from tests.bench.targets import Target
from tests.bench.workload import Workload

SIZES = (2_000, 40_000, 400_000)
CLIENTS = (1, 16)
SPACING_MS = 1.0
REST_SECONDS = 20.0
"""How long a target is waited for after its turn, at most."""
IDLE_SHARE = 0.1
"""Of one processor: less is rest."""
CHAT = "/v1/chat/completions"


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """What is measured at once."""

    size: int
    stream: bool
    clients: int


@dataclass(slots=True)
class Sample:
    """One target's share of one round: milliseconds to the first and to the last byte of each reply."""

    first: list[float] = field(default_factory=list)
    last: list[float] = field(default_factory=list)
    seconds: float = 0.0
    failed: int = 0


Samples = dict[tuple[Cell, str], list[Sample]]


async def measure(competitors: list[Target], seconds: float, rounds: int) -> Samples:
    """Visit every target in every round of every cell, for about ``seconds`` in all."""
    cells = [Cell(*each) for each in itertools.product(SIZES, (True, False), CLIENTS)]
    share = seconds / (len(cells) * len(competitors) * rounds)
    workloads = {(size, stream): Workload(size, stream=stream) for size in SIZES for stream in (True, False)}
    samples: Samples = {}
    for cell in cells:
        workload = workloads[cell.size, cell.stream]
        for target in competitors:
            await _visit(target, cell.clients, 0.1, workload)
            await _at_rest(target)
        for turn in range(rounds):
            order = competitors[turn % len(competitors) :] + competitors[: turn % len(competitors)]
            for target in order:
                sample = await _visit(target, cell.clients, share, workload)
                samples.setdefault((cell, target.name), []).append(sample)
                await _at_rest(target)
    return samples


async def _at_rest(target: Target) -> None:
    """Wait until a target has done what it put off: its learning must not fall into the next one's turn."""
    if target.process is None:
        return
    until, before = time.perf_counter() + REST_SECONDS, target.process.cpu_seconds()
    while time.perf_counter() < until:
        await asyncio.sleep(0.3)
        now = target.process.cpu_seconds()
        if now - before <= IDLE_SHARE * 0.3:
            return
        before = now


async def _visit(target: Target, clients: int, seconds: float, workload: Workload) -> Sample:
    sample = Sample()
    connections = [Connection(target.port) for _ in range(clients)]
    began = time.perf_counter()

    async def client(connection: Connection) -> None:
        while True:
            for session, body in workload.session():
                headers = {"x-session-id": session, "Authorization": "Bearer none", **target.headers}
                try:
                    timed = await connection.post(CHAT, body, headers)
                except OSError:
                    sample.failed += 1
                else:
                    sample.failed += timed.status != 200
                    sample.first.append(timed.first * 1000)
                    sample.last.append(timed.last * 1000)
                if time.perf_counter() - began >= seconds:
                    return

    await asyncio.gather(*(client(connection) for connection in connections))
    sample.seconds = time.perf_counter() - began
    for connection in connections:
        await connection.close()
    return sample


def summary(samples: Samples, competitors: list[Target]) -> list[dict[str, Any]]:
    """A row for each cell and target."""
    rows = []
    for cell, target in sorted({(cell, name) for cell, name in samples}):
        mine, direct = samples[cell, target], samples[cell, "direct"]
        pairs = list(zip(mine, direct, strict=True))
        answered = sum(len(sample.last) for sample in mine)
        seconds = sum(sample.seconds for sample in mine)
        rows.append(
            {
                "size": cell.size,
                "stream": cell.stream,
                "clients": cell.clients,
                "target": target,
                "first_p50_ms": _percentile(_all(mine, "first"), 50),
                "added_first_p50_ms": statistics.median(
                    _percentile(a.first, 50) - _percentile(b.first, 50) for a, b in pairs
                ),
                "added_first_p99_ms": _percentile(_all(mine, "first"), 99) - _percentile(_all(direct, "first"), 99),
                "added_last_p50_ms": statistics.median(
                    _percentile(a.last, 50) - _percentile(b.last, 50) for a, b in pairs
                ),
                "requests_per_second": answered / seconds,
                "requests": answered,
                "failed": sum(sample.failed for sample in mine),
            }
        )
    order = [target.name for target in competitors]
    return sorted(rows, key=lambda row: (row["size"], not row["stream"], row["clients"], order.index(row["target"])))


def _all(samples: list[Sample], which: str) -> list[float]:
    return [value for sample in samples for value in getattr(sample, which)]


def _percentile(values: list[float], percent: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else float("nan")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Start everything, measure, stop everything."""
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-bench-"))
    rivals = [name for name in arguments.rivals.split(",") if name]
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        print(f"seeding {arguments.facts} facts …", file=sys.stderr, flush=True)
        (folder / "on").mkdir(mode=0o700)
        asyncio.run(seed_home(folder / "on", arguments.facts))
        competitors: list[Target] = []

        def started(target: Target) -> int:
            assert target.process is not None
            stack.callback(target.process.stop)
            competitors.append(target)
            return target.port

        upstream = started(targets.provider(folder, SPACING_MS))
        started(targets.bare_relay(folder, upstream))
        started(targets.palimpsest("memory off", folder, folder / "off", upstream, MEMORY__MODE="off"))
        started(targets.palimpsest("memory on", folder, folder / "on", upstream))
        for name in rivals:
            print(f"starting {name} …", file=sys.stderr, flush=True)
            started(targets.RIVALS[name](folder, upstream))
        print(f"measuring for about {arguments.seconds:.0f} s …", file=sys.stderr, flush=True)
        samples = asyncio.run(measure(competitors, arguments.seconds, arguments.rounds))
        servers = [
            {
                "target": target.name,
                "start_seconds": target.process.start_seconds,
                "resident_mib_at_start": target.resident_mib_at_start,
                "resident_mib": target.process.resident_mib(),
            }
            for target in competitors
            if target.process is not None
        ]
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    return {"machine": machine, "facts": arguments.facts, "rows": summary(samples, competitors), "servers": servers}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="five minutes in place of one")
    parser.add_argument("--seconds", type=float, help="how long to measure")
    parser.add_argument("--rounds", type=int, help="how often each target is visited")
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--rivals", default="", help=f"any of {','.join(targets.RIVALS)}; installed below .bench/")
    parser.add_argument("--json", type=Path, default=targets.WORK / "load.json")
    arguments = parser.parse_args()
    arguments.seconds = arguments.seconds or (270 if arguments.full else 45)
    arguments.rounds = arguments.rounds or (6 if arguments.full else 3)
    result = run(arguments)
    result["floors"] = floors(result)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=1))
    print(markdown(result))


if __name__ == "__main__":
    main()
