"""Everything at once for a while: talks, sub-agents, nights, forgets, page edits and backups on one running server.

    python -m tests.bench.soak [--minutes 3] [--clients 4] [--pause 0.1] [--things 300] [--seed 1]

Each client has so many ``--things`` to say and as many to ask, and says them again and again: what is stored of them,
and what of that is kept at hand, comes to an end, so that what still grows is what every request, session, night,
forget, edit and backup leaves behind. With ``--things 0`` each says something new every time, and memory grows with
what is known, by design.

Told: what was asked and how often it went wrong or was put off (503 and ``Retry-After``: asked again later), how long
the model calls took, resident memory (see ``flatness``), and at the end whether the journal, the index and every backup
hold together and health complains of nothing. Fails where any of that is not so. 45 minutes are the length that counts:
``--minutes 45``.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
import urllib.error
import urllib.request
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from memory.stores.backups.backup import JOURNAL, backups_in, take
from memory.stores.backups.places import own_place
from memory.stores.backups.upgrading import faults_of, faults_of_backup
from tests.bench import targets
from tests.bench.client import Broken, Connection
from tests.bench.flatness import Sample, flatness
from tests.bench.kill import CHAT
from tests.bench.odd import times
from tests.bench.processes import Process
from tests.bench.seed import PROJECT, facts, questions

CATCH_UP_SECONDS = 60.0
SAMPLE_SECONDS = 1.0
BACKUP_SECONDS = 20.0


@dataclass
class Seen:
    """What was asked, what went wrong, and how large the server was."""

    done: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    put_off: Counter[str] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)
    resident: list[Sample] = field(default_factory=list)


@dataclass(frozen=True)
class Server:
    """The server, and a way to ask its own endpoints."""

    port: int
    home: Path

    def ask(self, method: str, path: str, query: dict[str, Any] | None = None, body: Any = None) -> Any:
        """An answer of our own endpoints."""
        url = f"http://127.0.0.1:{self.port}/palimpsest/{path}?{urlencode({'project': PROJECT, **(query or {})})}"
        headers = {"x-palimpsest-token": (self.home / "token").read_text().strip(), "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=150) as reply:
            return json.load(reply)


def said_and_asked(lot: random.Random, things: int) -> tuple[Iterator[str], Iterator[str]]:
    """What a client says and what it asks, without end: so many things, or with 0 always another one."""
    told = (fact.text for fact in facts(things or 10**6, lot.randrange(10**6), ("local",)))
    asked = questions(lot.randrange(10**6))
    return (cycle(list(told)), cycle(list(islice(asked, things)))) if things else (told, asked)


async def talks(
    server: Server, seen: Seen, lot: random.Random, arguments: Namespace, until: float, number: int
) -> None:
    """One client: sessions of a few turns, some of them sub-agents', until the time is over."""
    connection, (told, asked), session = Connection(server.port), said_and_asked(lot, arguments.things), 0
    while time.monotonic() < until:
        session += 1
        name, messages = f"soak-{number}-{session}", list[dict[str, str]]()
        headers = {"x-session-id": name, "x-palimpsest-project": PROJECT}
        if lot.random() < 0.2:
            headers["x-parent-session-id"] = f"soak-{number}-{session - 1}"
        for _ in range(lot.randrange(1, 9)):
            words = next(told) if lot.random() < 0.5 else next(asked)
            messages.append({"role": "user", "content": words + " x" * lot.choice((0, 0, 0, 3000))})
            body = json.dumps({"model": "bench", "messages": messages, "stream": lot.random() < 0.7}).encode()
            began = time.perf_counter()
            try:
                timed = await connection.post(CHAT, body, headers)
                seen.done["request"] += 1
                seen.failed["request"] += timed.status != 200
            except Broken:
                seen.failed["request"] += 1
            seen.took.append(time.perf_counter() - began)
            messages.append({"role": "assistant", "content": "The retries stay at three, as decided."})
            await asyncio.sleep(arguments.pause)
    await connection.close()


def forget(server: Server, lot: random.Random) -> None:
    """Forget what was learnt last but a few."""
    found = server.ask("GET", "api/facts", {"limit": 20})["facts"]
    if found:
        server.ask("POST", "api/forget", body={"ids": [lot.choice(found)["id"]]})


def edit(server: Server, lot: random.Random) -> None:
    """Write on the page."""
    server.ask("PUT", "api/page", body={"own": f"# Mine\n\n- Ask me before release {lot.randrange(1000)}.\n"})


def night(server: Server, _: random.Random) -> None:
    """Let a night begin, unless one is going on."""
    try:
        server.ask("POST", "api/consolidate", body={})
    except urllib.error.HTTPError as error:
        if error.code != 409:
            raise


def quarantine(server: Server, lot: random.Random) -> None:
    """Take what one program said out of the way, and back."""
    where = {"from": {"session": f"soak-0-{lot.randrange(1, 50)}"}}
    server.ask("POST", "api/quarantine", body=where)
    server.ask("POST", "api/quarantine", body={**where, "release": True})


def back_up(server: Server, _: random.Random) -> None:
    """Copy the home folder of the running server."""
    take(server.home, own_place(server.home), datetime.now(UTC), "soak")


WORKS = {"forget": forget, "edit": edit, "night": night, "quarantine": quarantine, "backup": back_up}
EVERY = {"forget": 1.5, "edit": 3.0, "night": 25.0, "quarantine": 7.0, "backup": BACKUP_SECONDS}


async def works(server: Server, seen: Seen, lot: random.Random, name: str, until: float) -> None:
    """Do one thing again and again, beside the talks."""
    while time.monotonic() < until:
        await asyncio.sleep(min(EVERY[name] * lot.uniform(0.5, 1.5), max(until - time.monotonic(), 0)))
        try:
            await asyncio.to_thread(WORKS[name], server, lot)
            seen.done[name] += 1
        except urllib.error.HTTPError as error:
            put_off = error.code == 503 and error.headers.get("Retry-After")
            (seen.put_off if put_off else seen.failed)[f"{name}: {error}"] += 1
        except (OSError, ValueError) as error:
            seen.failed[f"{name}: {error}"] += 1


async def weighed(process: Process, seen: Seen, until: float) -> None:
    """How large the server is, all the while. A night's planner is a process of its own, and not counted."""
    began = time.monotonic()
    while time.monotonic() < until:
        seen.resident.append(Sample(time.monotonic() - began, process.own_mib()))
        await asyncio.sleep(SAMPLE_SECONDS)


async def soaked(server: Server, process: Process, arguments: Namespace) -> Seen:
    """All of it at once."""
    seen, until = Seen(), time.monotonic() + arguments.minutes * 60
    await asyncio.gather(
        *(
            talks(server, seen, random.Random(f"{arguments.seed} {number}"), arguments, until, number)
            for number in range(arguments.clients)
        ),
        *(works(server, seen, random.Random(f"{arguments.seed} {name}"), name, until) for name in WORKS),
        weighed(process, seen, until),
    )
    return seen


def caught_up(server: Server) -> bool:
    """Wait until all is learnt and indexed, and no night is going on."""
    until = time.monotonic() + CATCH_UP_SECONDS
    while time.monotonic() < until:
        told = server.ask("GET", "api/status")
        if not (told["stored"]["behind"] or told["waiting"]) and not server.ask("GET", "api/consolidate")["running"]:
            return True
        time.sleep(0.5)
    return False


def run(arguments: Namespace) -> dict[str, Any]:
    """Soak a server of its own; what was seen."""
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-soak-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        provider = targets.provider(folder, spacing_ms=2.0)
        target = targets.palimpsest("soak", folder, folder / "home", provider.port)
        assert provider.process is not None and target.process is not None
        stack.callback(provider.process.kill)
        stack.callback(target.process.kill)
        server = Server(target.port, folder / "home")
        seen = asyncio.run(soaked(server, target.process, arguments))
        ready = caught_up(server)
        faults = [*faults_of(server.home / JOURNAL), *server.ask("GET", "api/backups/index")["faults"]]
        for each, _ in backups_in(own_place(server.home))[-2:]:
            scratch = Path(tempfile.mkdtemp(dir=folder))
            faults += faults_of_backup(each, scratch)
        why, stored = server.ask("GET", "health")["why"], server.ask("GET", "api/status")["stored"]
        log = target.process.written()
        stopped = target.process.stop()
    return {
        "load_average": round(os.getloadavg()[0], 1),
        "done": dict(seen.done),
        "failed": {name: count for name, count in seen.failed.items() if count},
        "put_off": dict(seen.put_off),
        "tracebacks": log.count("Traceback (most recent call last)"),
        "request_ms": times(sorted(seen.took)),
        "resident": flatness(seen.resident),
        "stored": stored,
        "caught_up": ready,
        "faults": faults,
        "health": why,
        "memory_failed": dict(Counter(re.findall(r"memory failed while (.*)", log))),
        "stopped_with": stopped,
    }


def main() -> None:
    """The command."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--pause", type=float, default=0.1, help="seconds between a client's requests")
    parser.add_argument("--things", type=int, default=300, help="what a client has to say; 0: always something new")
    parser.add_argument("--seed", type=int, default=1)
    result = run(parser.parse_args())
    print(json.dumps(result, indent=1))
    clean = not any(result[name] for name in ("failed", "put_off", "tracebacks", "faults", "stopped_with"))
    sys.exit(0 if clean and result["caught_up"] and result["resident"]["flat"] is not False else 1)


if __name__ == "__main__":
    main()
