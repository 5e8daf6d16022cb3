"""Descriptors, memory and disk run out, one after the other: is it told, bounded, and over when there is room again?

    python -m tests.bench.exhaustion [--seconds 10] [--only descriptors|memory|journaling|disk]

Each has a server of its own, whose limits are the system's (Linux: RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_FSIZE). *Told*:
in the replies' status, their header, or health. *Bounded*: every client is answered or turned away within ten seconds,
and the log does not grow with the requests. *Over*: once the limit is lifted, and the server started again where it
died (as one does that is killed for want of memory), requests have memory again, and every exchange whose end a client
saw is in the journal, unless its reply said that it was let go.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import shutil
import socket
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench import targets
from tests.bench.client import Broken, Connection
from tests.bench.heavy_bodies import chat
from tests.bench.kill import CHAT, _catch_up, _missing, _with_token
from tests.bench.processes import Process
from tests.bench.seed import PROJECT

PATIENCE = 10.0
RECOVERS_WITHIN = 90.0
MOST_LINES = 200
"""Lines of the log that a time without room may take."""
DESCRIPTORS = 128
CROWD = 150
ROOM_MIB = 256
"""What a server may still take when memory runs out."""
BODY = 16 * 2**20
JOURNALED = 5 * 2**20
"""A body of which some can still be read when memory runs out, and then have to be journaled."""
FILE_BYTES = 4096
"""How large a file may grow when the disk is full."""


@dataclass
class Seen:
    """What clients saw."""

    statuses: Counter[str] = field(default_factory=Counter)
    receipts: dict[str, str] = field(default_factory=dict)
    late: int = 0

    async def ask(self, port: int, name: str, body: bytes) -> str:
        """One request on a connection of its own; what was said of memory, empty where nothing came."""
        connection = Connection(port)
        try:
            async with asyncio.timeout(PATIENCE):
                timed = await connection.post(CHAT, body, {"x-session-id": name, "x-palimpsest-project": PROJECT})
        except TimeoutError:
            self.late += 1
            return ""
        except (Broken, OSError):
            self.statuses["turned away"] += 1
            return ""
        finally:
            await connection.close()
        reason = timed.header("x-palimpsest-status")
        self.statuses[f"{timed.status} {reason.partition(';')[0]}"] += 1
        if timed.status == 200 and (receipt := timed.header("x-palimpsest-receipt")):
            self.receipts[receipt] = reason
        return reason


@contextmanager
def crowd(port: int) -> Iterator[None]:
    """Connections on which half a request stands."""
    with ExitStack() as stack:
        for _ in range(CROWD):
            with suppress(OSError):
                one = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
                one.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
        yield


@contextmanager
def little_memory(pid: int) -> Iterator[None]:
    """No more than a little beyond what it has."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    with limited(pid, resource.RLIMIT_AS, pages * os.sysconf("SC_PAGE_SIZE") + ROOM_MIB * 2**20):
        yield


@contextmanager
def limited(pid: int, what: int, most: int) -> Iterator[None]:
    """A limit of the system's, for a while."""
    before = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (most, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, what, before)


def full_disk(pid: int) -> Any:
    """No file grows, and new ones stay small."""
    return limited(pid, resource.RLIMIT_FSIZE, FILE_BYTES)


@dataclass(frozen=True)
class Scene:
    """How something runs out: before the server starts, or while it runs; and what is asked then."""

    without: Callable[[int, int], Any]
    body: Callable[[int], bytes]
    shell: str = ""


def _small(number: int) -> bytes:
    return chat(f"We decided that crate {number} goes to dock {number % 9}.")


def _large(number: int, size: int = BODY) -> bytes:
    return chat(f"Crate {number}. " + "The crates go to the dock. " * (size // 27))


SCENES = {
    "descriptors": Scene(lambda port, pid: crowd(port), _small, f"ulimit -n {DESCRIPTORS}"),
    "memory": Scene(lambda port, pid: little_memory(pid), _large),
    "journaling": Scene(lambda port, pid: little_memory(pid), lambda number: _large(number, JOURNALED)),
    "disk": Scene(lambda port, pid: full_disk(pid), _small),
}


async def asked(seen: Seen, port: int, scene: Scene, seconds: float, at_once: int = 4) -> None:
    """Ask for a while, some at a time."""
    until = time.monotonic() + seconds

    async def one(number: int) -> None:
        count = 0
        while time.monotonic() < until:
            count += 1
            await seen.ask(port, f"scarce-{number}-{count}", scene.body(count))

    await asyncio.gather(*(one(number) for number in range(at_once)))


async def recovered(seen: Seen, port: int) -> float | None:
    """Seconds until a request has memory again."""
    began = time.monotonic()
    while time.monotonic() - began < RECOVERS_WITHIN:
        told = await seen.ask(port, f"after-{time.monotonic()}", _small(1))
        if told and not told.startswith(("degraded", "refused", "without")):
            return round(time.monotonic() - began, 1)
        await asyncio.sleep(0.5)
    return None


def why(port: int, home: Path) -> list[str]:
    """What health complains of; nothing where it cannot be asked."""
    with (
        suppress(OSError, ValueError),
        urllib.request.urlopen(
            _with_token(f"http://127.0.0.1:{port}/palimpsest/health", home), timeout=PATIENCE
        ) as reply,
    ):
        return [str(each)[:160] for each in json.load(reply)["why"]]
    return []


def taken_back(port: int, home: Path) -> bool:
    """Wait until no exchange waits for the journal any more."""
    until = time.monotonic() + RECOVERS_WITHIN
    while any("exchanges" in each and ("wait" in each or "set aside" in each) for each in why(port, home)):
        if time.monotonic() > until:
            return False
        time.sleep(0.5)
    return True


def started(
    stack: ExitStack, folder: Path, home: Path, upstream: int, shell: str = ""
) -> tuple[targets.Target, Process]:
    """The server, which ends with the stack."""
    server = targets.palimpsest("scarce", folder, home, upstream, shell=shell)
    assert server.process is not None
    stack.callback(server.process.kill)
    return server, server.process


def run(scene: Scene, seconds: float) -> dict[str, Any]:
    """One of them."""
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-exhaustion-"))
    seen, home = Seen(), folder / "home"
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        provider = targets.provider(folder, spacing_ms=1.0)
        assert provider.process is not None
        stack.callback(provider.process.kill)
        server, process = started(stack, folder, home, provider.port, scene.shell)
        before = asyncio.run(recovered(seen, server.port))
        process.written()
        seen.statuses.clear()
        with scene.without(server.port, process.pid):
            asyncio.run(asked(seen, server.port, scene, seconds))
            health = why(server.port, home)
        during, lines = dict(seen.statuses.most_common()), process.written().splitlines()
        died = process.ended()
        if died is not None:
            server, process = started(stack, folder, home, provider.port)
        over = asyncio.run(recovered(seen, server.port))
        caught_up = over is not None and _catch_up(server, home) and taken_back(server.port, home)
        promised = {receipt for receipt, told in seen.receipts.items() if not told.startswith("degraded")}
        after = why(server.port, home)
        lost, database = _missing(home, promised)
        stopped = process.stop()
    fine = before is not None and caught_up and not (lost or seen.late or stopped) and len(lines) <= MOST_LINES
    return {
        "load_average": round(os.getloadavg()[0], 1),
        "answers_meanwhile": during,
        "nothing_within_ten_seconds": seen.late,
        "health_meanwhile": health,
        "lines_of_log": len(lines),
        "tracebacks": sum("Traceback" in line for line in lines),
        "last_lines": lines[-2:],
        "died_with": died,
        "health_after": after,
        "memory_again_after_seconds": over,
        "acknowledged": len(promised),
        "lost": len(lost),
        "database": database,
        "stopped_with": stopped,
        "fine": fine and database == "ok",
    }


def main() -> None:
    """The command: fails where one of them is not fine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long it lasts")
    parser.add_argument("--only", choices=tuple(SCENES))
    arguments = parser.parse_args()
    told = {name: run(scene, arguments.seconds) for name, scene in SCENES.items() if arguments.only in (None, name)}
    print(json.dumps(told, indent=1))
    sys.exit(0 if all(each["fine"] for each in told.values()) else 1)


if __name__ == "__main__":
    main()
