"""Odd and malformed requests over raw sockets, and a neighbour who asks ordinary things meanwhile.

    python -m tests.bench.odd [--requests 20000] [--clients 4] [--piece 20000] [--seconds 3600] [--resume FILE]
        [--rate 0] [--depth 1] [--alone] [--seed 1]

The server is the real command with memory on. Told: how many requests of each kind came to what, tracebacks and replies
of status 500, bodies that reached the provider changed although nothing was added, the slowest replies, the neighbour's
times (beside those of a bare relay under the same load, in turns of some seconds, so that both see the same machine),
and resident memory by the quarter. The neighbour is a process of its own. The
clients ask as fast as they are answered, so that the quicker server has more to do; with ``--rate`` both are asked so
often a second. ``--depth`` sends so many whole requests at once over a connection; ``--alone`` leaves out the neighbour
and the relay, so that the server has the whole time. Fails where a traceback, a 500 or a changed byte was seen. With
``--resume`` a million of them are sent in as many sittings as it takes.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench import pieces, targets
from tests.bench.echo import NAME
from tests.bench.odd_requests import LEAVES, Odd, odd
from tests.bench.processes import Process, free_port
from tests.bench.raw import RawConnection, Reply, ask_once
from tests.bench.targets import Target

UNTOLD = 0.1
"""Seconds for which a reply is waited for to what is no whole request."""
SLOWEST = 10
"""Replies of which it is told how long they were waited for."""
TURN = 10.0
RELAYED = 4.0
"""Seconds for which the server is asked, then the bare relay, and so on."""


@dataclass
class Seen:
    """What came of the requests."""

    ends: dict[str, Counter[str]] = field(default_factory=dict)
    asked: int = 0
    same: int = 0
    edited: int = 0
    changed: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    resident: list[float] = field(default_factory=list)
    slow: list[tuple[float, str]] = field(default_factory=list)

    def waited(self, seconds: float, asked: Sequence[Odd]) -> None:
        """So long for the replies to what was asked at once; the longest few are kept."""
        kinds = ", ".join(sorted({each.kind for each in asked}))
        self.slow.append((round(seconds * 1000), f"{kinds}: {asked[0].data[:80]!r} … {asked[0].data[-80:]!r}"))
        self.slow = sorted(self.slow, reverse=True)[:SLOWEST]


def told_of(each: Odd, reply: Reply, seen: Seen) -> None:
    """Note what came of a request."""
    seen.ends.setdefault(each.kind, Counter())[str(reply.status)] += 1
    if reply.status == 500:
        seen.failed.append(f"{each.kind}: {each.data[:200]!r}")
    if each.sent is None or NAME not in reply.headers:
        return
    if reply.headers[NAME] == hashlib.sha256(each.sent).hexdigest():
        seen.same += 1
    elif "edits=" in reply.headers.get("x-palimpsest-status", ""):
        seen.edited += 1
    else:
        seen.changed.append(f"{each.kind}: {each.data[:200]!r}")


async def client(
    port: int, seen: Seen, lot: random.Random, most: float, until: float, every: float = 0.0, depth: int = 1
) -> None:
    """Ask odd things, one after the other, one in ``every`` so many seconds at most. Whole requests go over one
    connection, ``depth`` of them at once; each of the others has its own."""
    due = time.monotonic() + every * random.random()
    connection = RawConnection(port)
    while seen.asked < most and time.monotonic() < until:
        await asyncio.sleep(max(due - time.monotonic(), 0))
        due = max(due + every * depth, time.monotonic())
        asked = [odd(lot, f"127.0.0.1:{port}") for _ in range(int(min(depth, most - seen.asked)))]
        seen.asked += len(asked)
        whole = [each for each in asked if each.whole]
        began = time.monotonic()
        for each, reply in zip(whole, await connection.ask([each.data for each in whole]), strict=True):
            told_of(each, reply, seen)
        if whole:
            seen.waited(time.monotonic() - began, whole)
        for each in asked:
            if not each.whole:
                told_of(each, await ask_once(port, each.data, 0.0 if each.kind == LEAVES else UNTOLD), seen)
    await connection.close()


@dataclass
class Loaded:
    """A server under load: what came of it, and how long its neighbour waited each time. Each client goes on in the
    next turn where it was."""

    target: Target
    lots: list[random.Random]
    every: float
    depth: int
    seen: Seen = field(default_factory=Seen)
    took: list[float] = field(default_factory=list)

    async def turn(self, most: float, seconds: float) -> None:
        """Some seconds of it."""
        process, port = self.target.process, self.target.port
        assert process is not None
        until = time.monotonic() + seconds
        clients = [
            asyncio.create_task(client(port, self.seen, lot, most, until, self.every, self.depth)) for lot in self.lots
        ]
        while not all(each.done() for each in clients):
            self.seen.resident.append(process.resident_mib())
            await asyncio.wait(clients, timeout=1)
        await asyncio.gather(*clients)

    async def turn_beside(self, most: float, seconds: float) -> None:
        """The same, with a neighbour beside it."""
        neighbour = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tests.bench.neighbours", "--ask", str(self.target.port)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert neighbour.stdout is not None
        await neighbour.stdout.readline()  # it has begun
        await self.turn(most, seconds)
        told, _ = await neighbour.communicate(b"\n")
        self.took += json.loads(told)


async def in_turns(server: Loaded, relay: Loaded, count: int, alone: bool) -> None:
    """Both under the same load, one after the other and again, until the server was asked so often."""
    while server.seen.asked < count:
        if alone:
            await server.turn(count, TURN)
        else:
            await server.turn_beside(count, TURN)
            await relay.turn_beside(float("inf"), RELAYED)


def run(arguments: argparse.Namespace, seed: int, count: int) -> dict[str, Any]:
    """Both servers under the same load; what was seen."""
    every = arguments.clients / arguments.rate if arguments.rate else 0.0
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-odd-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        port = free_port()
        provider = Process([sys.executable, "-m", "tests.bench.echo", str(port)], folder / "echo.log")
        stack.callback(provider.kill)
        provider.wait_ready(f"http://127.0.0.1:{port}/v1/models")
        relay = targets.bare_relay(folder, port)
        server = targets.palimpsest("odd", folder, folder / "home", port)
        assert relay.process is not None and server.process is not None
        stack.callback(relay.process.kill)
        stack.callback(server.process.kill)
        began = time.monotonic()
        loaded, bare = (
            Loaded(
                each, [random.Random(f"{seed} {number}") for number in range(arguments.clients)], every, arguments.depth
            )
            for each in (server, relay)
        )
        asyncio.run(in_turns(loaded, bare, count, arguments.alone))
        seen, seconds = loaded.seen, time.monotonic() - began
        log = server.process.written()
        stopped = server.process.stop()
    quarter = max(len(seen.resident) // 4, 1)
    quarters = [seen.resident[at : at + quarter] for at in range(0, min(4 * quarter, len(seen.resident)), quarter)]
    return {
        "load_average": [round(os.getloadavg()[0], 1)],
        "seconds": round(seconds),
        "requests": seen.asked,
        "ends": {
            f"{kind}: {status}": many for kind, ends in sorted(seen.ends.items()) for status, many in ends.items()
        },
        "tracebacks": log.count("Traceback (most recent call last)"),
        "status_500": seen.failed[:5],
        "same_bytes": seen.same,
        "edited_by_memory": seen.edited,
        "changed_bytes": seen.changed[:5],
        "slowest_ms": seen.slow,
        "neighbour_ms": [round(each * 1000, 1) for each in loaded.took],
        "neighbour_of_a_bare_relay_ms": [round(each * 1000, 1) for each in bare.took],
        "resident_mib_by_quarter": [[round(max(each)) for each in quarters]],
        "stopped_with": [stopped],
    }


def times(took: list[float]) -> dict[str, float]:
    """The neighbour's times at some places of their order."""
    if not took:
        return {}
    places = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "most": 1.0}
    told = {name: round(took[min(int(len(took) * place), len(took) - 1)] * 1000, 1) for name, place in places.items()}
    return {"asked": len(took), **told}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--rate", type=float, default=0.0, help="odd requests a second at most; 0: as fast as answered")
    pieces.add_options(parser, piece=20_000, seconds=3600)
    parser.add_argument("--depth", type=int, default=1, help="requests that a client sends at once")
    parser.add_argument("--alone", action="store_true", help="no neighbour, and no bare relay in turns")
    arguments = parser.parse_args()
    done = pieces.in_pieces(arguments, arguments.requests, lambda seed, count: run(arguments, seed, count))
    result = {name: pieces.summed(done, name) for name in done[0]}
    for name in ("neighbour_ms", "neighbour_of_a_bare_relay_ms"):
        result[name] = times(sorted(each / 1000 for each in result[name]))
    result["slowest_ms"] = sorted(result["slowest_ms"], reverse=True)[:SLOWEST]
    print(json.dumps(result, indent=1))
    clean = not (result["tracebacks"] or result["status_500"] or result["changed_bytes"] or any(result["stopped_with"]))
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
