"""How long one heavy request holds up another: a neighbour asks all the while, and its slowest reply is told.

    python -m tests.bench.neighbours [--mib 4 16] [--only NAME …] [--seconds 30] [--settle 10] [--places]

Each body of :data:`~tests.bench.heavy_bodies.HEAVY` is sent once in each size, one after the other to the same server,
and the neighbour goes on until the server has learned from it, for ``--seconds`` at most. Beside the neighbour's
slowest reply stands how long the server stood still at most by its own doing (see ``stalls``), without what the machine
kept it waiting for: by holding Python's lock, and in its event loop. That is the delay that one request makes for
another, and it fails where it is above 100 ms. ``--places`` tells where the threads were then. Resident memory is the
most that was seen meanwhile.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import secrets
import shutil
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.bench import targets
from tests.bench.client import Broken, Connection, Timed
from tests.bench.heavy_bodies import CHAT, HEAVY, MIB, Body, chat
from tests.bench.seed import PROJECT
from tests.bench.stalls import WRITE_SECONDS, read, since

MOST_MS = 100.0


async def neighbour(port: int, until: asyncio.Event) -> list[float]:
    """Ask small things, one after the other; how long each took, and what was under way at the end."""
    took, connection, name = list[float](), Connection(port), secrets.token_hex(4)
    for number in itertools.count():
        if until.is_set():
            break
        began = time.perf_counter()
        headers = {"x-session-id": f"small-{name}-{number}", "x-palimpsest-project": PROJECT}
        with suppress(Broken):
            await connection.post(CHAT, chat(f"What was decided about retries, number {number}?"), headers)
        took.append(time.perf_counter() - began)
        await asyncio.sleep(0.01)
    await connection.close()
    return took


async def ask_until_told(port: int, at_once: int) -> list[float]:
    """Be so many neighbours until a line comes."""
    told = asyncio.Event()
    asking = [asyncio.create_task(neighbour(port, told)) for _ in range(at_once)]
    print("begun", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    told.set()
    return list(itertools.chain.from_iterable(await asyncio.gather(*asking)))


def behind(port: int, home: Path) -> int:
    """How many exchanges are still to be learned from, and how much of that is still to be indexed."""
    token = (home / "token").read_text().strip()
    url = f"http://127.0.0.1:{port}/palimpsest/api/status"
    with urllib.request.urlopen(urllib.request.Request(url, headers={"x-palimpsest-token": token})) as reply:
        status = json.load(reply)
    return int(status["stored"]["behind"]) + int(status["waiting"])


@dataclass(frozen=True, slots=True)
class Delay:
    """What one body did: the neighbour's slowest reply, seconds until its own (none where it got none), the longest
    stalls in milliseconds with the places of all that were long, and how much the server held at most, in MiB."""

    slowest: float
    answered: Timed | None
    longest: dict[str, float]
    places: list[tuple[float, str, list[str]]]
    resident: float

    def __str__(self) -> str:
        told = f"{self.answered.status} in {self.answered.last:.1f} s" if self.answered else "no reply"
        stood = f"lock {self.longest['lock']:.0f} ms, loop {self.longest['loop']:.0f} ms"
        return f"{stood}; neighbour {self.slowest * 1000:.0f} ms, {self.resident:.0f} MiB resident, {told}"


async def measured(server: targets.Target, home: Path, stalls: Path, body: Body, seconds: float) -> Delay:
    """What one body does to the neighbour."""
    assert server.process is not None
    begun, done = read(stalls), asyncio.Event()
    beside = asyncio.create_task(neighbour(server.port, done))
    connection = Connection(server.port)
    named = {"x-session-id": f"odd-{secrets.token_hex(4)}", "x-palimpsest-project": PROJECT, **body.headers}

    async def odd() -> Timed | None:
        with suppress(Broken):
            return await connection.post(body.path, body.data, named)
        return None

    began, most = time.perf_counter(), 0.0
    asked = asyncio.create_task(odd())
    while time.perf_counter() - began < seconds:
        await asyncio.sleep(0.25)
        most = max(most, server.process.resident_mib())
        if asked.done() and time.perf_counter() - began > 1 and not await asyncio.to_thread(behind, server.port, home):
            break
    done.set()
    took = sorted(await beside)
    await asyncio.sleep(2 * WRITE_SECONDS)
    stood = since(begun, read(stalls))
    answered = asked.result() if asked.done() else None
    asked.cancel()
    return Delay(took[-1], answered, stood["longest_ms"], stood["places"], most)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=float, nargs="+", default=[4, 16], help="how large the bodies are")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long to wait for each at most")
    parser.add_argument("--settle", type=float, default=10.0, help="seconds for what a server does once it has started")
    parser.add_argument("--only", nargs="+", default=[], help="some of them")
    parser.add_argument("--places", action="store_true", help="tell where the server stood still")
    parser.add_argument(
        "--ask", type=int, help="only be the neighbour of this port until a line comes; print the times"
    )
    parser.add_argument("--at-once", type=int, default=1, help="so many of them")
    arguments = parser.parse_args()
    if arguments.ask:
        print(json.dumps(asyncio.run(ask_until_told(arguments.ask, arguments.at_once))))
        return
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-neighbours-"))
    longest = 0.0
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        provider = targets.provider(folder, spacing_ms=1.0)
        assert provider.process is not None
        stack.callback(provider.process.stop)
        stalls = folder / "stalls.json"
        server = targets.palimpsest("odd", folder, folder / "home", provider.port, stalls=str(stalls))
        assert server.process is not None
        stack.callback(server.process.kill)
        time.sleep(arguments.settle)
        for mib, (name, make) in itertools.product(arguments.mib, HEAVY.items()):
            if arguments.only and name not in arguments.only:
                continue
            delay = asyncio.run(measured(server, folder / "home", stalls, make(int(mib * MIB)), arguments.seconds))
            longest = max(longest, *delay.longest.values())
            print(f"{mib:g} MiB {name:20} {delay}", flush=True)
            for took, what, where in delay.places if arguments.places else ():
                print(f"    {what} {took:.0f} ms", *where, sep="\n        ", flush=True)
    print(f"the longest stall: {longest:.0f} ms")
    sys.exit(0 if longest <= MOST_MS else 1)


if __name__ == "__main__":
    main()
