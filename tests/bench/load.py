"""What Palimpsest adds and costs, measured in one interleaved run against the same scripted provider.

    python -m tests.bench.load [--only NAME] [--clients 1,16] [--rivals litellm,headroom] [--facts 10000] [--seconds N]

For each cell every target is started anew, ours with a home of its own: what was asked in one is known to none of the
others. Every round visits each target in turn, so that a noisy minute is noisy for all, and what a target adds is its
time less the time straight to the provider *in the same round*. What is asked has an answer in memory, and a request
counts as remembered when that answer stands in the body that reached the provider: a cell of ours in which fewer than
95 % are is no evidence. What a target puts off until it is quiet is waited for before the next one's turn; the
sustained rate has that time in it, and its processor time is told beside that of the requests. A target that ends or
answers nothing is started anew once in a cell, and its cell is no evidence. Replies are streamed in spaced chunks.
Figures on a shared machine are to be read as ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proxy.fail_open import LATE
from tests.bench import targets
from tests.bench.asking import SCENARIOS, Requests
from tests.bench.client import Connection
from tests.bench.planted import ALONE, REMEMBERED, planted
from tests.bench.processes import NotReady
from tests.bench.report import floors, markdown
from tests.bench.scenarios import Asked
from tests.bench.seed import seed_home
from tests.bench.targets import Target

CLIENTS = (1, 16)
SPACING_MS = 1.0
LEAST_SECONDS = 2.5
"""A visit takes at least so long: in less, agents at work hardly come to the results of their tools."""
LEAST_REQUESTS = 10
"""Of each client, on average, before a visit ends."""
REPLY_SECONDS = 60.0
"""How long a reply is waited for, at most."""
PAUSE_SECONDS = 0.1
"""Between a request that failed and the next one."""
REST_SECONDS = 60.0
"""How long a target is waited for after its turn, at most."""
IDLE_SHARE = 0.1
"""Of one processor: less is rest."""
CHAT = "/v1/chat/completions"
DIRECT = "direct"
OURS = (DIRECT, "bare relay", "memory off", "memory on")
PERCENTS = (50, 95, 99)


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """What is measured at once."""

    scenario: str
    clients: int


@dataclass(slots=True)
class Sample:
    """One target's share of one round: milliseconds to the first and to the last byte of each reply, those to the first
    byte apart of questions before an agent's loop, how long it took and then to come to rest, the processor's seconds
    of both, how many requests asked something, and got it answered by memory, and how many it was too ``late`` for.
    ``died`` says that the target ended or
    answered nothing: then none of it is evidence."""

    first: list[float] = field(default_factory=list)
    last: list[float] = field(default_factory=list)
    opening: list[float] = field(default_factory=list)
    seconds: float = 0.0
    drained: float = 0.0
    cpu_during: float = 0.0
    cpu_after: float = 0.0
    asked: int = 0
    remembered: int = 0
    late: int = 0
    late_sessions: set[str] = field(default_factory=set)
    failed: int = 0
    died: bool = False


@dataclass(frozen=True, slots=True)
class Weight:
    """How long a target's start took, and what it holds, in MiB."""

    start_seconds: float = 0.0
    resident_mib: float = 0.0
    proportional_mib: float = 0.0


@dataclass(slots=True)
class Measured:
    """What was seen of a target in a cell, one sample a round; its weight ``before`` it was asked anything, at rest."""

    cell: Cell
    target: str
    before: Weight
    afterwards: Weight = Weight()
    samples: list[Sample] = field(default_factory=list)


def planned(visits: int, seconds: float, rounds: int) -> tuple[int, float]:
    """How many rounds of so many visits are made, and the seconds of a visit: fewer rounds, before a visit becomes too
    short, and more time in all, where a single round does not suffice."""
    possible = max(1, min(rounds, int(seconds / (visits * LEAST_SECONDS))))
    return possible, max(LEAST_SECONDS, seconds / (visits * possible))


async def measure(competitors: list[Target], cell: Cell, share: float, rounds: int) -> list[Measured]:
    """Visit every target in every round of a cell, for ``share`` seconds each. They have just been started."""
    requests, lives = SCENARIOS[cell.scenario](), Counter({target.name: 1 for target in competitors})
    found = []
    for target in competitors:
        await _at_rest(target)
        found.append(Measured(cell, target.name, _weight(target)))
        await _visited(target, cell.clients, 0.1, requests, lives)
    of_target = {each.target: each for each in found}
    for turn in range(rounds):
        order = competitors[turn % len(competitors) :] + competitors[: turn % len(competitors)]
        for target in order:
            sample = await _visited(target, cell.clients, share, requests, lives)
            of_target[target.name].samples.append(sample)
    for target in competitors:
        of_target[target.name].afterwards = _weight(target)
    return found


def _weight(target: Target) -> Weight:
    if target.process is None:
        return Weight()
    return Weight(target.process.start_seconds, target.process.resident_mib(), target.process.proportional_mib())


async def _visited(target: Target, clients: int, seconds: float, requests: Requests, lives: Counter[str]) -> Sample:
    """A visit. A target that died is started anew while it has a life left, and then let be."""
    if target.ended and not await _revived(target, lives):
        return Sample(died=True)
    try:
        sample = await _visit(target, clients, seconds, requests)
    except NotReady as error:
        print(error, file=sys.stderr, flush=True)
        return Sample(died=True)
    sample.died = target.ended or not (sample.first or sample.opening)
    if sample.died and not target.ended:
        # It is there and answers nothing.
        target.stop()
    return sample


async def _revived(target: Target, lives: Counter[str]) -> bool:
    lives[target.name] -= 1
    if lives[target.name] < 0:
        return False
    print(f"{target.name} died, and is started anew …", file=sys.stderr, flush=True)
    try:
        await asyncio.to_thread(target.restart)
    except NotReady as error:
        print(error, file=sys.stderr, flush=True)
        return False
    return True


async def _visit(target: Target, clients: int, seconds: float, requests: Requests) -> Sample:
    if requests.restarts:
        return await _interrupted(target, clients, seconds, requests)
    sample = Sample()
    connections = [Connection(target.port) for _ in range(clients)]
    began, cpu, sent = time.perf_counter(), _cpu(target), 0

    async def client(connection: Connection) -> None:
        nonlocal sent
        while True:
            for each in requests.session():
                await _ask(target, connection, each, sample)
                sent += 1
                if target.ended:
                    return
                if time.perf_counter() - began >= seconds and sent >= LEAST_REQUESTS * clients:
                    return

    await asyncio.gather(*(client(connection) for connection in connections))
    sample.seconds = time.perf_counter() - began
    answered = _cpu(target)
    for connection in connections:
        await connection.close()
    sample.drained = await _at_rest(target)
    sample.cpu_during, sample.cpu_after = answered - cpu, _cpu(target) - answered
    return sample


async def _interrupted(target: Target, clients: int, seconds: float, requests: Requests) -> Sample:
    """A target is started anew in the middle of everybody's session, again and again. Only what is asked of it then is
    in the sample, and in its processor time the start. The provider itself goes on."""
    sample, began = Sample(), time.perf_counter()
    while not target.ended and (not sample.seconds or time.perf_counter() - began < seconds):
        connections = [Connection(target.port) for _ in range(clients)]
        sessions = [[*requests.session()] for _ in connections]
        for turns in zip(*sessions, strict=True):
            if turns[0].counted:
                await _at_rest(target)
                cpu = await _started_anew(target)
                asked = time.perf_counter()
            await asyncio.gather(
                *(_ask(target, each, turn, sample) for each, turn in zip(connections, turns, strict=True))
            )
        sample.seconds += time.perf_counter() - asked
        answered = _cpu(target)
        for connection in connections:
            await connection.close()
        sample.drained += await _at_rest(target)
        sample.cpu_during += answered - cpu
        sample.cpu_after += _cpu(target) - answered
    return sample


async def _started_anew(target: Target) -> float:
    """The processor time that it had taken before it started."""
    if target.name == DIRECT:
        return _cpu(target)
    await asyncio.to_thread(target.restart)
    return 0.0


async def _ask(target: Target, connection: Connection, each: Asked, sample: Sample) -> None:
    headers = {"x-session-id": each.session, "Authorization": "Bearer none", **target.headers}
    try:
        async with asyncio.timeout(REPLY_SECONDS):
            timed = await connection.post(CHAT, each.body, headers)
    except OSError:
        sample.failed += each.counted
        await connection.close()
        await asyncio.sleep(PAUSE_SECONDS)
        return
    if not each.counted:
        return
    remembered = REMEMBERED in timed.body
    sample.failed += timed.status != 200
    sample.asked += remembered or ALONE in timed.body
    sample.remembered += remembered
    # Nothing is recalled for the results behind a question that memory was late for.
    if LATE in timed.header("x-palimpsest-status"):
        sample.late_sessions.add(each.session)
    sample.late += not remembered and each.session in sample.late_sessions
    if each.opening:
        sample.opening.append(timed.first * 1000)
    else:
        sample.first.append(timed.first * 1000)
        sample.last.append(timed.last * 1000)


def _cpu(target: Target) -> float:
    return target.process.cpu_seconds() if target.process is not None else 0.0


async def _at_rest(target: Target) -> float:
    """Wait until a target has done what it put off: its learning must not fall into the next one's turn, and is its
    own; how long that took."""
    began = quiet = time.perf_counter()
    before = _cpu(target)
    while time.perf_counter() - began < REST_SECONDS and time.perf_counter() - quiet < 0.6:
        await asyncio.sleep(0.2)
        now = _cpu(target)
        if now - before > IDLE_SHARE * 0.2:
            quiet = time.perf_counter()
        before = now
    return quiet - began


def summary(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    """A row for each cell and target."""
    direct = {each.cell: each for each in measured if each.target == DIRECT}
    rows = []
    for each in measured:
        mine = each.samples
        answered = sum(len(sample.last) + len(sample.opening) for sample in mine)
        asked = sum(sample.asked for sample in mine)
        seconds, drained = sum(sample.seconds for sample in mine), sum(sample.drained for sample in mine)
        row: dict[str, Any] = {
            "scenario": each.cell.scenario,
            "clients": each.cell.clients,
            "target": each.target,
            "requests": answered,
            "seconds": seconds,
            "failed": sum(sample.failed for sample in mine),
            "died": sum(sample.died for sample in mine),
            "remembered": sum(sample.remembered for sample in mine) / asked if asked else 0.0,
            "late": sum(sample.late for sample in mine) / asked if asked else 0.0,
            **_times(mine, direct[each.cell].samples),
            "requests_per_second": answered / seconds if seconds else float("nan"),
            "sustained_per_second": answered / (seconds + drained) if seconds else float("nan"),
            "cpu_during_ms": sum(sample.cpu_during for sample in mine) / max(answered, 1) * 1000,
            "cpu_after_ms": sum(sample.cpu_after for sample in mine) / max(answered, 1) * 1000,
            "start_seconds": each.before.start_seconds,
            "resident_mib_at_start": each.before.resident_mib,
            "resident_mib": each.afterwards.resident_mib,
            "proportional_mib_at_start": each.before.proportional_mib,
            "proportional_mib": each.afterwards.proportional_mib,
        }
        rows.append(row)
    return rows


def _times(mine: list[Sample], direct: list[Sample]) -> dict[str, float]:
    """Milliseconds, and those beyond the provider's own. What is added in the middle is told of each round; the slowest
    ones of a round are too few for that."""
    told = {}
    for which in ("first", "last", "opening"):
        for percent in PERCENTS:
            all_of_mine, all_direct = (_percentile(_all(each, which), percent) for each in (mine, direct))
            told[f"{which}_p{percent}_ms"] = all_of_mine
            told[f"added_{which}_p{percent}_ms"] = all_of_mine - all_direct
        told[f"added_{which}_p50_ms"] = _added(mine, direct, which)
    return told


def _added(mine: list[Sample], direct: list[Sample], which: str) -> float:
    rounds = [(getattr(a, which), getattr(b, which)) for a, b in zip(mine, direct, strict=True)]
    added = [_percentile(a, 50) - _percentile(b, 50) for a, b in rounds if a and b]
    return statistics.median(added) if added else float("nan")


def _all(samples: list[Sample], which: str) -> list[float]:
    return [value for sample in samples for value in getattr(sample, which)]


def _percentile(values: list[float], percent: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else float("nan")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Start everything anew for each cell, measure, stop everything."""
    rivals = [name for name in arguments.rivals.split(",") if name]
    clients = [int(each) for each in arguments.clients.split(",")]
    cells = [Cell(name, each) for name in SCENARIOS if arguments.only in name for each in clients]
    visits = len(cells) * (len(OURS) + len(rivals))
    rounds, share = planned(visits, arguments.seconds, arguments.rounds)
    measured: list[Measured] = []
    about: dict[str, str] = {}
    load = os.getloadavg()[0]
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="palimpsest-bench-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        _say(f"seeding {arguments.facts} facts …")
        (folder / "seeded").mkdir(mode=0o700)
        asyncio.run(seed_home(folder / "seeded", arguments.facts, more=planted()))
        _say(f"{rounds} rounds of {visits} visits, {share:.1f} s each and more …")
        for cell in cells:
            _say(f"{cell.scenario}, {cell.clients} at a time …")
            with ExitStack() as of_cell:
                competitors = list[Target]()
                for target in _started(folder, rivals):
                    of_cell.callback(target.stop)
                    competitors.append(target)
                about |= {target.name: target.about for target in competitors if target.about}
                measured += asyncio.run(measure(competitors, cell, share, rounds))
    told = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "at": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
        "load": [round(each, 1) for each in (load, os.getloadavg()[0])],
        "facts": arguments.facts,
        "rounds": rounds,
        "visit_seconds": share,
        "about": about,
    }
    return {**told, "rows": summary(measured)}


def _started(folder: Path, rivals: Sequence[str]) -> Iterator[Target]:
    """Every target with nothing behind it but what was seeded: what one cell asks would be known to the next one."""
    provider = targets.provider(folder, SPACING_MS)
    yield provider
    yield targets.bare_relay(folder, provider.port)
    for mode in ("off", "on"):
        shutil.rmtree(folder / mode, ignore_errors=True)
        shutil.copytree(folder / "seeded", folder / mode)
        yield targets.palimpsest(f"memory {mode}", folder, folder / mode, provider.port, MEMORY__MODE=mode)
    for name in rivals:
        yield targets.RIVALS[name](folder, provider.port)


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="scenarios in whose name this stands")
    parser.add_argument("--clients", default=",".join(map(str, CLIENTS)), help="how many at a time")
    parser.add_argument("--full", action="store_true", help="fifteen minutes in place of two")
    parser.add_argument("--seconds", type=float, help="how long to measure")
    parser.add_argument("--rounds", type=int, help="how often each target is visited")
    parser.add_argument("--facts", type=int, default=10_000)
    parser.add_argument("--rivals", default="", help=f"any of {','.join(targets.RIVALS)}; installed below .bench/")
    parser.add_argument("--json", type=Path, default=targets.WORK / "load.json")
    arguments = parser.parse_args()
    arguments.seconds = arguments.seconds or (900 if arguments.full else 120)
    arguments.rounds = arguments.rounds or (6 if arguments.full else 3)
    result = run(arguments)
    result["floors"] = floors(result)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(result, indent=1))
    print(markdown(result))


if __name__ == "__main__":
    main()
