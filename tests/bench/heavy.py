"""A neighbour's slowest replies beside those of a bare relay, while heavy and odd requests are sent to both in turns.

    python -m tests.bench.heavy [--samples 5000] [--askers 4] [--mib 16] [--seconds 1500] [--only NAME]

Both servers run all the while, before one provider. In turns of some seconds one of them gets the heavy bodies (see
``heavy_bodies``), one after the other, and small requests of several askers in a process of their own; our own turn
goes on until all is learned, so that no work of ours falls into the relay's. Told: both servers' times with p99.9, the
load of the machine at each turn, and how long either stood still by its own doing (see ``stalls``): the longest hold of
Python's lock and of the event loop. What a client waits for on a busy machine is mostly the machine's; so it fails
where our longest stall is more than 100 ms above the relay's, or where there are fewer samples than asked for.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from tests.bench import targets
from tests.bench.client import Broken, Connection
from tests.bench.heavy_bodies import HEAVY, MIB, Body
from tests.bench.neighbours import behind
from tests.bench.odd import times
from tests.bench.seed import PROJECT
from tests.bench.stalls import read, since

TURN = 6.0
LEARNING = 30.0
"""Seconds for which our own turn goes on at most, until all is learned."""
ABOVE_MS = 100.0


@dataclass
class Side:
    """One of the servers: how long its small requests took, and the load of the machine meanwhile."""

    target: targets.Target
    took: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)
    heavy: int = 0

    async def turn(self, bodies: Iterator[Body], askers: int, home: Path | None = None) -> None:
        """Some seconds of it; with a ``home`` until all is learned there."""
        port = self.target.port
        beside = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tests.bench.neighbours", "--ask", str(port), "--at-once", str(askers)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert beside.stdout is not None
        await beside.stdout.readline()  # it has begun
        until, connection = time.monotonic() + TURN, Connection(port)
        while time.monotonic() < until:
            body = next(bodies)
            named = {"x-session-id": f"heavy-{self.heavy}", "x-palimpsest-project": PROJECT, **body.headers}
            with suppress(Broken):
                await connection.post(body.path, body.data, named)
            self.heavy += 1
        await connection.close()
        while home is not None and time.monotonic() < until + LEARNING:
            if not await asyncio.to_thread(behind, port, home):
                break
            await asyncio.sleep(0.5)
        told, _ = await beside.communicate(b"\n")
        self.took += json.loads(told)
        self.load.append(os.getloadavg()[0])

    def told(self) -> dict[str, Any]:
        """As it is printed."""
        return {**times(sorted(self.took)), "heavy": self.heavy, "load_average": round(fmean(self.load or [0.0]), 1)}


async def measured(arguments: argparse.Namespace, ours: Side, relay: Side, home: Path) -> None:
    """Both in turns, until there are enough samples of each or the time is over."""
    bodies = [make(arguments.mib * MIB) for name, make in HEAVY.items() if arguments.only in ("", name)]
    for_ours, for_relay = itertools.cycle(bodies), itertools.cycle(bodies)
    until = time.monotonic() + arguments.seconds
    while min(len(ours.took), len(relay.took)) < arguments.samples and time.monotonic() < until:
        await ours.turn(for_ours, arguments.askers, home)
        await relay.turn(for_relay, arguments.askers)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=5000, help="small requests to each")
    parser.add_argument("--askers", type=int, default=4)
    parser.add_argument("--mib", type=int, default=16, help="how large the bodies are")
    parser.add_argument("--seconds", type=float, default=1500.0, help="no new turn begins after so long")
    parser.add_argument("--only", default="", help="one of the bodies")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-heavy-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        provider = targets.provider(folder, spacing_ms=1.0)
        stalls = folder / "ours.json", folder / "relay.json"
        relay = targets.bare_relay(folder, provider.port, str(stalls[1]))
        server = targets.palimpsest("heavy", folder, folder / "home", provider.port, stalls=str(stalls[0]))
        for each in (provider, relay, server):
            assert each.process is not None
            stack.callback(each.process.kill)
        sides = Side(server), Side(relay)
        begun = [read(each) for each in stalls]
        asyncio.run(measured(arguments, *sides, folder / "home"))
        stood = [since(at, read(each)) for at, each in zip(begun, stalls, strict=True)]
    if not all(each.took for each in sides):
        sys.exit("the time was over before both had answered")
    ours, bare = (side.told() | still for side, still in zip(sides, stood, strict=True))
    above = {what: round(ours["longest_ms"][what] - bare["longest_ms"][what], 1) for what in ("lock", "loop")}
    enough = min(len(each.took) for each in sides) >= arguments.samples
    told = {"ours": ours, "bare_relay": bare, "p99.9_above_ms": round(ours["p99.9"] - bare["p99.9"], 1)}
    print(json.dumps({**told, "longest_stall_above_ms": above, "enough": enough}, indent=1))
    sys.exit(0 if max(above.values()) <= ABOVE_MS and enough else 1)


if __name__ == "__main__":
    main()
