"""Kill the real server again and again under load, and count what was acknowledged and is not in the journal.

    python -m tests.bench.kill [--rounds 200] [--clients 8] [--busy 0] [--longest 0.9] [--hold-ms 50]
        [--piece 50] [--seconds 3600] [--resume FILE] [--seed 1]

A round: start `serve` on the same data folder, let clients talk through it (streamed and whole, sessions that grow and
outlive the kills), and send SIGKILL at a random moment, in every fifth round while it still starts. An exchange counts
as acknowledged when its client has seen the end of the reply. After the last round the server catches up, stops by
itself, and each acknowledged exchange must stand in the journal, complete; the database must be sound, every start
clean, and what reached the provider of a session must begin with what had reached it before.

``--busy`` loops take the processors meanwhile, as a build does. The rounds run in pieces, each with a data folder of
its own: with ``--resume`` a thousand of them are run in as many sittings as it takes.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import shutil
import sqlite3
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench import pieces, targets
from tests.bench.client import Broken, Connection
from tests.bench.processes import NotReady, Process
from tests.bench.seed import PROJECT, questions

CHAT = "/v1/chat/completions"
BUSY = "while True: sum(number * number for number in range(10_000))"
TURNS = 12
CATCH_UP_SECONDS = 300.0


@dataclass
class Told:
    """What the rounds told. ``acknowledged`` are receipts of exchanges whose end a client saw, each with
    what its reply said of memory; ``open`` are sessions that a kill has cut, to be gone on with."""

    acknowledged: dict[str, str] = field(default_factory=dict)
    cut: int = 0
    refused: int = 0
    unheard: int = 0
    aside: int = 0
    let_go: int = 0
    without_memory: Counter[str] = field(default_factory=Counter)
    open: list[tuple[str, list[dict[str, str]]]] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


async def talk(port: int, told: Told, tags: Iterator[int], rng: random.Random, until: asyncio.Event) -> None:
    """One client: sessions of a few turns each, until the server is gone."""
    connection = Connection(port)
    asked = questions(rng.randrange(10**9))
    with suppress(OSError):
        while not until.is_set():
            session, messages = told.open.pop() if told.open else (f"kill-{next(tags)}", list[dict[str, str]]())
            for _ in range(rng.randrange(1, TURNS)):
                tag = f"t{next(tags)}"
                if not messages or messages[-1]["role"] == "assistant":
                    padding = "x " * rng.choice((0, 0, 0, 5_000))
                    messages.append({"role": "user", "content": f"{padding}{next(asked)}"})
                body = json.dumps({"model": "bench", "messages": messages, "stream": rng.random() < 0.7}).encode()
                headers = {"x-session-id": session, "x-palimpsest-project": PROJECT, "x-bench-tag": tag}
                try:
                    timed = await connection.post(CHAT, body, headers)
                except OSError as error:
                    told.cut += isinstance(error, Broken)
                    told.open.append((session, messages))
                    raise
                if timed.status != 200 or tag.encode() not in timed.body:
                    told.refused += 1
                    continue
                receipt, status = timed.header("x-palimpsest-receipt"), timed.header("x-palimpsest-status")
                if status.startswith("degraded"):
                    told.without_memory[status] += 1
                if receipt:
                    told.acknowledged[receipt] = status
                else:
                    told.unheard += 1
                messages.append(
                    {"role": "assistant", "content": "".join(("The retries stay at three, as decided.", tag))}
                )
    await connection.close()


async def one_round(
    server: targets.Target, told: Told, tags: Iterator[int], rng: random.Random, clients: int, longest: float
) -> None:
    """Talk for a random while, then kill."""
    assert server.process is not None
    gone = asyncio.Event()
    talks = [asyncio.create_task(talk(server.port, told, tags, rng, gone)) for _ in range(clients)]
    await asyncio.sleep(rng.uniform(0.01, longest))
    server.process.kill()
    gone.set()
    await asyncio.gather(*talks)
    log = server.process.written()
    told.let_go += log.count("while journaling: late")
    told.aside += log.count("while journaling: aside")


def run(arguments: argparse.Namespace, seed: int, rounds: int) -> dict[str, Any]:
    """So many rounds, and the reckoning."""
    rng = random.Random(seed)
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-kill-"))
    told, tags = Told(), itertools.count()
    home = folder / "home"
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        provider = targets.provider(folder, spacing_ms=2.0, log=folder / "taken")
        stack.callback(_process(provider).stop)
        for number in range(arguments.busy):
            stack.callback(Process([sys.executable, "-c", BUSY], folder / f"busy-{number}.log").kill)
        settings = {"MEMORY__JOURNAL__HOLD_MS": str(arguments.hold_ms)}

        def start(ready: bool = True) -> targets.Target:
            server = targets.palimpsest("killed", folder, home, provider.port, ready=ready, **settings)
            stack.callback(_process(server).kill)
            return server

        for number in range(rounds):
            if number % 5 == 4:
                server = start(ready=False)
                time.sleep(rng.uniform(0, 0.7))
                _process(server).kill()
                continue
            try:
                server = start()
            except NotReady as error:
                told.faults.append(f"round {number}: {error}")
                break
            told.starts.append(_process(server).start_seconds)
            told.faults += [f"round {number}: {why}" for why in _unwell(server, home)]
            asyncio.run(one_round(server, told, tags, rng, arguments.clients, arguments.longest))
        caught_up, status = False, -1
        try:
            last = start()
            caught_up = _catch_up(last, home)
            status = _process(last).stop()
        except NotReady as error:
            told.faults.append(f"the last start: {error}")
        missing, sound = _missing(home, told.acknowledged.keys())
        checked, broken = _prefixes(folder / "taken")
    return {
        "rounds": rounds,
        "acknowledged": len(told.acknowledged),
        "lost": len(missing),
        "status_of_the_lost": Counter(told.acknowledged[receipt] for receipt in missing),
        "prefixes_checked": checked,
        "prefixes_broken": broken,
        "without_memory": dict(told.without_memory),
        "let_go_before_durable": told.let_go,
        "set_aside": told.aside,
        "cut_by_the_kill": told.cut,
        "refused": told.refused,
        "without_receipt": told.unheard,
        "start_seconds": [round(each, 2) for each in told.starts],
        "faults": told.faults[:20],
        "caught_up": [caught_up],
        "stopped_with": [status],
        "database": [sound],
    }


def _process(server: targets.Target) -> Process:
    assert server.process is not None
    return server.process


def _unwell(server: targets.Target, home: Path) -> list[str]:
    """What a fresh start complains of. To be behind is no complaint: the worker has just begun."""
    url = f"http://127.0.0.1:{server.port}/palimpsest/health"
    with urllib.request.urlopen(_with_token(url, home), timeout=10) as reply:
        told = json.load(reply)
    why = [sentence for sentence in told["why"] if "behind" not in sentence and "still to take in" not in sentence]
    return why if told["memory"] == "on" else [*why, f"memory is {told['memory']}"]


def _with_token(url: str, home: Path) -> urllib.request.Request:
    return urllib.request.Request(url, headers={"x-palimpsest-token": (home / "token").read_text().strip()})


def _catch_up(server: targets.Target, home: Path) -> bool:
    """Wait until everything is learned from and indexed."""
    url = f"http://127.0.0.1:{server.port}/palimpsest/api/status"
    deadline = time.monotonic() + CATCH_UP_SECONDS
    while time.monotonic() < deadline:
        with urllib.request.urlopen(_with_token(url, home)) as reply:
            status = json.load(reply)
        if not status["stored"]["behind"] and not status["waiting"]:
            return True
        time.sleep(0.5)
    return False


def _prefixes(taken: Path) -> tuple[int, int]:
    """How many requests came to the provider behind others of their session, and how many of them did not begin with
    the whole of the one before."""
    before, checked, broken = dict[str, list[Any]](), 0, 0
    for line in taken.read_bytes().splitlines():
        session, _, body = line.decode().partition("\t")
        messages = json.loads(body)["messages"]
        if session in before:
            checked += 1
            broken += messages[: len(before[session])] != before[session]
        before[session] = messages
    return checked, broken


def _missing(home: Path, acknowledged: Set[str]) -> tuple[Set[str], str]:
    """Acknowledged exchanges that are not in the journal, complete; and what SQLite says of the database."""
    if not (home / "journal.db").exists():
        return acknowledged, "there is none"
    connection = sqlite3.connect(home / "journal.db")
    try:
        stored = {row[0] for row in connection.execute("SELECT id FROM exchanges WHERE complete AND reply IS NOT NULL")}
        (sound,) = connection.execute("PRAGMA integrity_check").fetchone()
    finally:
        connection.close()
    return acknowledged - stored, str(sound)


def main() -> None:
    """The command: prints what it found, and fails where something was lost or unclean."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--busy", type=int, default=0, help="loops that take the processors meanwhile")
    parser.add_argument("--longest", type=float, default=0.9, help="seconds that a round lasts at most")
    parser.add_argument("--hold-ms", type=int, default=50, help="how long a reply's end waits for the journal")
    pieces.add_options(parser, piece=50, seconds=3600)
    arguments = parser.parse_args()
    done = pieces.in_pieces(arguments, arguments.rounds, lambda seed, rounds: run(arguments, seed, rounds))
    result = reckoned({name: pieces.summed(done, name) for name in done[0]})
    print(json.dumps(result, indent=1))
    clean = not result["faults"] and all(result["caught_up"]) and not any(result["stopped_with"])
    sound = set(result["database"]) == {"ok"}
    sys.exit(0 if clean and sound and not result["lost"] and not result["prefixes_broken"] else 1)


def reckoned(told: dict[str, Any]) -> dict[str, Any]:
    """The sums of all pieces with what follows from them."""
    without, starts = sum(told["without_memory"].values()), sorted(told.pop("start_seconds"))
    return {
        **told,
        "share_with_memory": round(1 - without / max(told["acknowledged"], 1), 4),
        "starts": len(starts),
        "start_seconds_median": starts[len(starts) // 2] if starts else None,
        "start_seconds_most": starts[-1] if starts else None,
    }


if __name__ == "__main__":
    main()
