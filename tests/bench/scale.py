"""A team's memory as it grows: recall while streams run, the streams' stalls, a night, memory and start.

python -m tests.bench.scale [--night all|new] [--homes FOLDER] [--kept] [FACTS...]
                                                               (1000 10000 100000 365000 where none are named)

Five users of one project share the facts. While 16 streams run, each user asks questions of several parts in new
sessions, one after the other. One part has an answer that was planted, and is remembered when that stands in the body
that reached the provider: where fewer than 95 % are, the times are no evidence. With --night the server then
consolidates while the streams run on: everything (which is much), or 1,000 new facts, as though all others had been
looked at. With --homes the written facts are kept in a folder, and taken from there when they are asked for again. With
--kept a server has been there before, so that the one that is measured finds the vectors in files.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import shutil
import sqlite3
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import orjson

from proxy.cli.server import RunningServer
from tests.bench import targets
from tests.bench.client import Connection, Timed
from tests.bench.planted import REMEMBERED, marked, planted, question, told_to
from tests.bench.report import EVIDENCE
from tests.bench.seed import NOW, PROJECT, questions, seed_home
from tests.bench.targets import Target

USERS = [f"user{number}" for number in range(5)]
STREAMS = 16
ASKED = 300
SPACING_MS = 40.0
NEW = 1000
RUN = uuid.uuid4().hex[:8]
"""Sessions of one run are none of another's on the same folder."""
SETTLING = 20.0
"""Seconds after which a server that is asked nothing has written what it keeps."""
_PARTED = (
    "Compare that with the export: {asked} And what changed in the scheduler since?",
    "{other} Before you answer: {asked} And does the ledger know of it?",
    "What did we say about invoices in March? {other} And {asked}",
    "{asked} I also want to know this: {other} Which of both is older?",
    "Who asked for the new report, and when? {asked} {other}",
)
"""Each is searched for in three parts."""


@dataclass
class Streams:
    """What was seen of the streams; ``stall`` is the longest wait for a chunk beyond its spacing, in seconds."""

    chunks: int = 0
    stall: float = 0.0
    broken: list[str] = field(default_factory=list)


@asynccontextmanager
async def streaming(target: Target) -> AsyncIterator[Streams]:
    """Keep so many streams running."""
    seen = Streams()
    tasks = [asyncio.create_task(_stream(target.port, number, seen)) for number in range(STREAMS)]
    try:
        yield seen
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _stream(port: int, number: int, seen: Streams) -> None:
    body = orjson.dumps({"model": "bench", "stream": True, "messages": [{"role": "user", "content": "Go on."}]})
    lines = ["POST /v1/chat/completions HTTP/1.1", f"Host: 127.0.0.1:{port}", "Content-Type: application/json"]
    lines += [f"x-session-id: stream-{number}", f"x-palimpsest-project: {PROJECT}"]
    lines += [f"x-palimpsest-user: {USERS[number % len(USERS)]}", f"Content-Length: {len(body)}"]
    head = "\r\n".join(lines).encode() + b"\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while True:
            writer.write(head + body)
            await reader.readuntil(b"\r\n\r\n")
            last, end = 0.0, b""
            while not end.endswith(b"0\r\n\r\n"):
                piece = await reader.read(2**16)
                now = time.perf_counter()
                if not piece:
                    seen.broken.append(f"stream {number} ended early")
                    return
                if last:
                    seen.stall = max(seen.stall, now - last - SPACING_MS / 1000)
                last, end, seen.chunks = now, (end + piece)[-5:], seen.chunks + 1
    finally:
        writer.close()


async def _ready(target: Target, began: float, first: int = 10) -> float:
    """Ask until no question is late any more; the seconds until then."""
    for number in range(first, first + 90):
        asked = await ask(target, number)
        last = time.perf_counter()
        if not any("late" in timed.header("x-palimpsest-status") for timed in asked):
            break
    return last - began


async def ask(target: Target, number: int) -> list[Timed]:
    """Questions of every user, each in a session of its own."""
    connection = Connection(target.port)
    others = questions(seed=number)
    taken = []
    for place in range(number * ASKED, (number + 1) * ASKED):
        text = _PARTED[place // len(USERS) % len(_PARTED)].format(asked=question(place), other=next(others))
        body = marked(orjson.dumps({"model": "bench", "messages": [{"role": "user", "content": text}]}), place)
        headers = {
            "x-session-id": f"{RUN}-{place}",
            "x-palimpsest-project": PROJECT,
            "x-palimpsest-user": told_to(place, USERS),
        }
        taken.append(await connection.post("/v1/chat/completions", body, headers))
    await connection.close()
    return taken


async def _written(folder: Path, size: int, homes: Path | None) -> tuple[Path, float]:
    """A data folder with so many facts below a folder, and the seconds in which they were written or copied."""
    home = folder / f"planted-{size}"
    kept = None if homes is None else homes / home.name
    began = time.perf_counter()
    if kept is None or not kept.exists():
        home.mkdir(mode=0o700)
        await seed_home(home, size, USERS, more=planted(USERS))
        if kept is not None:
            shutil.copytree(home, kept)
    else:
        shutil.copytree(kept, home)
    return home, time.perf_counter() - began


async def _looked_at(home: Path, size: int) -> None:
    """A night has been over everything; since then so many more facts were learnt."""
    with contextlib.closing(sqlite3.connect(home / "journal.db")) as connection, connection:
        connection.execute(
            "INSERT INTO night_cursors (owner, fact, passage, unread, at) "
            "SELECT owner, max(number), 0, 0, ? FROM facts GROUP BY owner",
            (NOW.isoformat(),),
        )
    await seed_home(home, NEW, USERS, seed=size)


async def _served(folder: Path, home: Path) -> None:
    """Let a server put the vectors of all users at hand, and keep them."""
    provider = targets.provider(folder, SPACING_MS)
    proxy = targets.palimpsest("palimpsest", folder, home, provider.port, MEMORY__NIGHT__ENABLED="false")
    assert proxy.process is not None and provider.process is not None
    try:
        await _ready(proxy, time.perf_counter(), first=1000)
        await asyncio.sleep(SETTLING)
    finally:
        proxy.process.stop()
        provider.process.stop()


async def measure(folder: Path, size: int, night: str, homes: Path | None, kept: bool) -> None:
    """One size."""
    home, seeded = await _written(folder, size, homes)
    if kept:
        await _served(folder, home)
    if night == "new":
        await _looked_at(home, size)
    provider = targets.provider(folder, SPACING_MS)
    proxy = targets.palimpsest("palimpsest", folder, home, provider.port, MEMORY__NIGHT__ENABLED="false")
    assert proxy.process is not None and provider.process is not None
    try:
        began, starting = time.perf_counter(), proxy.process.cpu_seconds()
        direct = sorted(timed.first for timed in await ask(provider, 1))
        ready = await _ready(proxy, began)
        spent = proxy.process.cpu_seconds()
        await ask(proxy, 2)
        spent = proxy.process.cpu_seconds() - spent
        async with streaming(proxy) as seen:
            asked = await ask(proxy, 3)
        first = sorted(timed.first for timed in asked)
        late = sum("late" in timed.header("x-palimpsest-status") for timed in asked)
        found = sum(REMEMBERED in timed.body for timed in asked)
        evidence = "" if found >= EVIDENCE * len(asked) else ": NO EVIDENCE"
        base = direct[len(direct) // 2]
        print(
            f"{size:7} facts (written in {seeded:.0f} s): start {proxy.process.start_seconds:.2f} s, "
            f"{starting:.1f} of CPU, no question late from {ready:.0f} s after it on, "
            f"RSS {proxy.process.resident_mib():.0f} MiB; "
            f"{_ms(spent / ASKED)} of CPU a question; "
            f"added to a question p50 {_ms(first[len(first) // 2] - base)}, "
            f"p99 {_ms(first[int(len(first) * 0.99)] - base)}, {late} of {len(asked)} late, "
            f"{found} remembered{evidence}; "
            f"{_told(seen)} in {seen.chunks} chunks",
            flush=True,
        )
        if night:
            server = RunningServer(f"http://127.0.0.1:{proxy.port}", (home / "token").read_text().strip())
            await _night(server, proxy, f"a night over {NEW} more" if night == "new" else "the first night")
    finally:
        proxy.process.stop()
        provider.process.stop()


async def _night(server: RunningServer, proxy: Target, what: str) -> None:
    assert proxy.process is not None
    async with streaming(proxy) as seen:
        began = time.perf_counter()
        await asyncio.to_thread(server.ask, "POST", "api/consolidate", {}, {})
        for _ in count():
            told = await asyncio.to_thread(server.ask, "GET", "api/consolidate", {})
            if not told["running"]:
                break
            await asyncio.sleep(0.5)
        taken = time.perf_counter() - began
    print(f"        {what}: {taken:.1f} s; {_told(seen)}; RSS {proxy.process.resident_mib():.0f} MiB", flush=True)


def _told(seen: Streams) -> str:
    broke = f", {len(seen.broken)} broke" if seen.broken else ""
    return f"longest stall of {STREAMS} streams {_ms(seen.stall)}{broke}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


async def main(sizes: Sequence[int], night: str, homes: Path | None, kept: bool) -> None:
    """Each size in a folder of its own."""
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="palimpsest-scale-") as folder:
            await measure(Path(folder), size, night, homes, kept)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.scale")
    parser.add_argument("--night", choices=("all", "new"), default="")
    parser.add_argument("--homes", type=Path)
    parser.add_argument("--kept", action="store_true")
    parser.add_argument("facts", type=int, nargs="*")
    named = parser.parse_args()
    asyncio.run(main(named.facts or [1000, 10_000, 100_000, 365_000], named.night, named.homes, named.kept))
