"""Whether a busy page slows streams: ``python -m tests.bench.beside_pages [--seconds 60] [--streams 4]``.

The server is the real command on a home with so many facts. Clients stream replies whose pieces come at even times; in
turns of some seconds nobody looks at the pages, and then somebody opens one after the other without a rest. Told: how
long a request took until its first byte and how late a piece came, both ways, and how many pages were opened. Fails
where a page did not come, or where in the median either takes ``--limit`` times as long while somebody looks.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from tests.bench import targets
from tests.bench.bulk import bulk_home
from tests.bench.odd import times
from tests.bench.seed import PROJECT, questions

SPACING_MS = 20.0
TURN = 5.0
PAGES = (
    "",
    "memory",
    "memory?q=retries+decision",
    "review",
    "page",
    "sessions",
    "research",
    "nights",
    "money",
    "status",
)
CHAT = "/v1/chat/completions"
LIMIT = 3.0
"""How many times as long the median may take while somebody looks. Both are of one run, whatever else the machine does;
its far ends tell more of that than of us."""
NOTHING_MS = 5.0
"""What is added to both: below it a ratio is of noise."""


@dataclass
class Seen:
    """Seconds to the first byte of each reply, seconds that each later piece was late, and pages that were opened."""

    first: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    opened: int = 0
    failed: int = 0


async def stream(client: aiohttp.ClientSession, url: str, number: int, seen: Seen, until: float) -> None:
    """Ask one thing after the other, each in a session of its own."""
    asked = questions(number)
    while time.monotonic() < until:
        body = {"model": "bench", "stream": True, "messages": [{"role": "user", "content": next(asked)}]}
        headers = {"x-palimpsest-project": PROJECT, "x-session-id": f"beside-{number}-{time.monotonic_ns()}"}
        began = time.perf_counter()
        async with client.post(f"{url}{CHAT}", json=body, headers=headers) as reply:
            before = 0.0
            async for _ in reply.content.iter_any():
                now = time.perf_counter()
                if before:
                    seen.late.append(max(now - before - SPACING_MS / 1000, 0.0))
                else:
                    seen.first.append(now - began)
                before = now


async def look(url: str, cookies: dict[str, str], seen: Seen, until: float) -> None:
    """Open one page after the other."""
    async with aiohttp.ClientSession(cookies=cookies, cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        while time.monotonic() < until:
            async with client.get(f"{url}/palimpsest/{PAGES[seen.opened % len(PAGES)]}") as page:
                await page.read()
                seen.opened += 1
                seen.failed += page.status != 200


async def logged_in(url: str, home: Path) -> dict[str, str]:
    """The cookies of a browser that was let in."""
    token = await asyncio.to_thread((home / "token").read_text)
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        async with client.post(
            f"{url}/palimpsest/api/tickets", json={}, headers={"Authorization": f"Bearer {token.strip()}"}
        ) as told:
            path = (await told.json())["path"]
        async with client.get(f"{url}{path}") as page:
            page.raise_for_status()
        return {cookie.key: cookie.value for cookie in client.cookie_jar}


async def in_turns(port: int, home: Path, streams: int, seconds: float) -> dict[bool, Seen]:
    """Streams without and with a visitor of the pages, in turns."""
    url, seen = f"http://127.0.0.1:{port}", {False: Seen(), True: Seen()}
    cookies = await logged_in(url, home)
    end, visited = time.monotonic() + seconds, False
    async with aiohttp.ClientSession() as client:
        await stream(client, url, 1000, Seen(), time.monotonic() + 1)
        await look(url, cookies, Seen(), time.monotonic() + 1)
        while time.monotonic() < end:
            until, turn = time.monotonic() + TURN, seen[visited]
            work = [stream(client, url, number, turn, until) for number in range(streams)]
            await asyncio.gather(*work, *([look(url, cookies, turn, until)] if visited else []))
            visited = not visited
    return seen


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """A server of its own, and what was seen."""
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-beside-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        home = folder / "home"
        home.mkdir(mode=0o700)
        asyncio.run(bulk_home(home, arguments.memories))
        provider = targets.provider(folder, spacing_ms=SPACING_MS)
        server = targets.palimpsest("beside", folder, home, provider.port)
        assert provider.process is not None and server.process is not None
        stack.callback(provider.process.kill)
        stack.callback(server.process.kill)
        seen = asyncio.run(in_turns(server.port, home, arguments.streams, arguments.seconds))
        stopped = server.process.stop()
    names = {False: "nobody_looks", True: "somebody_looks"}
    told = {
        name: {
            "first_byte_ms": times(sorted(seen[visited].first)),
            "piece_late_ms": times(sorted(seen[visited].late)),
            "pages": seen[visited].opened,
            "pages_failed": seen[visited].failed,
        }
        for visited, name in names.items()
    }
    return {**told, "stopped_with": stopped}


def slowed(told: dict[str, Any], limit: float) -> list[str]:
    """A sentence for each thing that is not as it should be; none where all is."""
    nobody, somebody = told["nobody_looks"], told["somebody_looks"]
    faults = (
        [f"{somebody['pages_failed']} of {somebody['pages']} pages did not come"] if somebody["pages_failed"] else []
    )
    faults += [] if somebody["pages"] else ["no page was opened"]
    faults += [f"the server ended with {told['stopped_with']}"] if told["stopped_with"] else []
    for name in ("first_byte_ms", "piece_late_ms"):
        if not nobody[name] or not somebody[name]:
            faults.append(f"{name}: nothing was measured")
            continue
        before, beside = nobody[name]["p50"], somebody[name]["p50"]
        if beside + NOTHING_MS > limit * (before + NOTHING_MS):
            faults.append(f"{name}: {beside} in the median while somebody looks, {before} while nobody does")
    return faults


def main() -> int:
    """Measure; the process's status: 0 where nothing is at fault."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--memories", type=int, default=2000)
    parser.add_argument("--limit", type=float, default=LIMIT)
    arguments = parser.parse_args()
    told = run(arguments)
    print(json.dumps(told, indent=1))
    faults = slowed(told, arguments.limit)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
