"""Does anything grow that should not? Many requests through one server, which is weighed now and then.

    python -m tests.bench.growth [--requests 20000] [--clients 8] [--seed 1] [--nameless]

Clients talk in sessions of a few turns, streamed and whole, half of them with an id of their own; each thousand
requests a line tells what the server holds: resident memory, open files, threads, bytes in the home folder, series of
metrics, and how long a request took. What is said and learned grows by itself (the journal, the index, the memories at
hand); the last figures tell that apart: growth in the second half, in which a leak shows, and a full cache does not.
With ``--nameless`` the sessions name no project, so that each is a project of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

from tests.bench import targets
from tests.bench.client import Connection
from tests.bench.processes import Process
from tests.bench.seed import PROJECT, questions

CHAT = "/v1/chat/completions"
TURNS = 8
EVERY = 1000


async def talk(
    port: int, left: Iterator[int], most: int, rng: random.Random, took: list[float], project: dict[str, str]
) -> None:
    """One client, until so many requests were sent by all of them."""
    connection = Connection(port)
    asked = questions(rng.randrange(10**9))
    while True:
        session, messages = f"growth-{rng.randrange(10**12)}", list[dict[str, str]]()
        headers = project | ({"x-session-id": session} if rng.random() < 0.5 else {})
        for turn in range(rng.randrange(1, TURNS)):
            if next(left) >= most:
                await connection.close()
                return
            messages.append({"role": "user", "content": f"{next(asked)} ({session}, {turn})"})
            body = json.dumps({"model": "bench", "messages": messages, "stream": rng.random() < 0.5}).encode()
            timed = await connection.post(CHAT, body, headers)
            if timed.status != 200:
                sys.exit(f"a request was answered {timed.status}: {timed.body[:200]!r}")
            took.append(timed.first)
            messages.append({"role": "assistant", "content": "The retries stay at three, as decided."})


def weighed(server: targets.Target, home: Path, took: list[float]) -> dict[str, Any]:
    """What the server holds now; the latencies since the last time are taken off the list."""
    process = _process(server)
    metrics = _get(server, home, "metrics").decode()
    since, took[:] = took[:], []
    return {
        "resident_mib": round(process.resident_mib(), 1),
        "open_files": len(os.listdir(f"/proc/{process.pid}/fd")),
        "threads": len(os.listdir(f"/proc/{process.pid}/task")),
        "journal_mib": _mib(home.glob("journal.db*")),
        "index_mib": _mib((home / "index").rglob("*")),
        "series": sum(not line.startswith("#") for line in metrics.splitlines()),
        "cpu_seconds": round(process.cpu_seconds(), 1),
        "first_byte_ms_p50": round(1000 * statistics.median(since), 1) if since else None,
    }


async def run(arguments: argparse.Namespace, server: targets.Target, home: Path) -> list[dict[str, Any]]:
    """Send everything, and weigh now and then."""
    rng, took = random.Random(arguments.seed), list[float]()
    project = {} if arguments.nameless else {"x-palimpsest-project": PROJECT}
    rows: list[dict[str, Any]] = []
    done = 0
    while done < arguments.requests:
        done += EVERY
        some = count()
        await asyncio.gather(
            *(
                talk(server.port, some, EVERY, random.Random(rng.random()), took, project)
                for _ in range(arguments.clients)
            )
        )
        rows.append({"requests": done, **weighed(server, home, took)})
        print(json.dumps(rows[-1]), flush=True)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        status = json.loads(_get(server, home, "api/status"))
        if not status["stored"]["behind"] and not status["waiting"]:
            break
        await asyncio.sleep(1)
    rows.append({"requests": done, "caught_up": True, **weighed(server, home, took)})
    print(json.dumps(rows[-1]), flush=True)
    return rows


def told(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Growth per thousand requests in the second half."""
    half = [row for row in rows[:-1] if row["requests"] >= rows[-1]["requests"] / 2]
    first, last = half[0], half[-1]
    thousands = max((last["requests"] - first["requests"]) / 1000, 1)
    names = ("resident_mib", "open_files", "threads", "journal_mib", "index_mib", "series")
    return {f"{name}_per_thousand": round((last[name] - first[name]) / thousands, 2) for name in names}


def _get(server: targets.Target, home: Path, path: str) -> bytes:
    token = (home / "token").read_text().strip()
    url = f"http://127.0.0.1:{server.port}/palimpsest/{path}"
    with urllib.request.urlopen(urllib.request.Request(url, headers={"x-palimpsest-token": token})) as reply:
        return bytes(reply.read())


def _process(server: targets.Target) -> Process:
    assert server.process is not None
    return server.process


def _mib(files: Iterator[Path]) -> float:
    return round(sum(file.stat().st_blocks * 512 for file in files if file.is_file()) / 2**20, 1)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nameless", action="store_true", help="sessions that name no project")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-growth-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        provider = targets.provider(folder, spacing_ms=0.0)
        stack.callback(_process(provider).stop)
        server = targets.palimpsest("growth", folder, folder / "home", provider.port)
        stack.callback(_process(server).stop)
        rows = asyncio.run(run(arguments, server, folder / "home"))
    print(json.dumps(told(rows), indent=1))


if __name__ == "__main__":
    main()
