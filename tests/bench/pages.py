"""How long the server takes for each of its pages: ``python -m tests.bench.pages --memories 4000``.

A home is filled with so many facts and some hundred requests; then each page is asked for again and again: the time
until its last byte, and of that the processor's, which a busy machine does not change. That of this client is in it;
a browser's is not.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from tests.bench.bulk import bulk_home, let_wait
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.web.browsing import Browser, let_in
from tests.proxy.web.filled import SMALL, fill, projects
from tests.running import Running, running

LIMIT_MS = 200.0


async def measured(memories: int, drafts: int, waiting: int, requests: int, times: int, kept: Path | None) -> bool:
    """Print the times; whether the processor's medians are below :data:`LIMIT_MS`."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-pages-") as folder:
        home = Path(folder) / "home"
        await _filled(home, memories, drafts, kept)
        if waiting:
            await asyncio.to_thread(let_wait, home / "journal.db", waiting)
        options = {"projects": projects(Path(folder) / "checkout"), **SMALL}
        async with fake_provider() as provider, running(provider, home, **options) as proxy:
            await fill(proxy, provider)
            for number in range(requests):
                await proxy.chat(f"What about lamp {number} of the pier?", session=f"lamp {number}")
            await proxy.learned()
            browser = await let_in(proxy)
            paths = await _paths(proxy)
            filled = f"{memories:,} facts, {drafts:,} drafts, {waiting:,} of all else that waits"
            print(f"{filled}; milliseconds, {times} times each: median, slowest, the processor's median")
            found = [await _timed(browser, name, path, times) for name, path in paths.items()]
    return max(found) < LIMIT_MS


async def _filled(home: Path, memories: int, drafts: int, kept: Path | None) -> None:
    if kept is not None and await asyncio.to_thread(kept.exists):
        await asyncio.to_thread(shutil.copytree, kept, home)
        return
    await asyncio.to_thread(home.mkdir, mode=0o700)
    await bulk_home(home, memories, drafts)
    if kept is not None:
        await asyncio.to_thread(shutil.copytree, home, kept)


async def _paths(proxy: Running) -> dict[str, str]:
    ask = asking(proxy)
    [fact, *_] = (await ask("GET", "api/facts?limit=1"))["facts"]
    [candidate, *_] = (await ask("GET", "api/candidates"))["candidates"]
    [found, *_] = (await ask("GET", "api/research"))["research"]
    [night, *_] = (await ask("GET", "api/nights"))["nights"]
    shed = next(each for each in (await ask("GET", "api/log?limit=1000"))["receipts"] if each["shed"])
    return {
        "today": "",
        "why": "why",
        "one request": f"requests/{shed['id']}",
        "memory": "memory",
        "memory, one kind": "memory?kind=decision",
        "memory, page 40": "memory?from=1950",
        "search": "memory?q=postgres+database+decision",
        "one memory": f"memory/{fact['id']}",
        "forget": f"memory/{fact['id']}/forget",
        "names": "names",
        "one name": "names?name=postgresql",
        "review": "review",
        "approve": f"review/{candidate['id']}/approve",
        "page": "page?project=loom",
        "sessions": "sessions",
        "one session": f"sessions/{shed['session']}",
        "research": "research",
        "one research": f"research/{found['handle']}",
        "nights": "nights",
        "one night": f"nights/{night['number']}",
        "money": "money",
        "health": "status",
        "settings": "settings",
    }


async def _timed(browser: Browser, name: str, path: str, times: int) -> float:
    await browser.get(path)
    took, worked = [], []
    for _ in range(times):
        began, at_work = time.perf_counter(), time.process_time()
        await browser.fetch(path)
        took.append(1000 * (time.perf_counter() - began))
        worked.append(1000 * (time.process_time() - at_work))
    median, work = statistics.median(took), statistics.median(worked)
    print(f"{name:18} {median:7.1f} {max(took):7.1f} {work:7.1f}{'' if work < LIMIT_MS else '  TOO SLOW'}", flush=True)
    return work


def main() -> int:
    """Measure; the process's status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--memories", type=int, default=4000)
    parser.add_argument("--drafts", type=int, default=0)
    waits = "candidates, contradictions, facts in quarantine and decided candidates, of each so many"
    parser.add_argument("--waiting", type=int, default=0, help=waits)
    parser.add_argument("--requests", type=int, default=50)
    parser.add_argument("--times", type=int, default=15)
    parser.add_argument("--home", type=Path, help="a folder in which the facts are kept for the next time")
    given = parser.parse_args()
    counts = given.memories, given.drafts, given.waiting, given.requests, given.times
    return 0 if asyncio.run(measured(*counts, given.home)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
