"""What a database on a network adds before a request is forwarded, against the journal in a file.

    python -m tests.bench.network [--turns 40] [--ms 1]

One session of so many tool results in turn, at a server with an embedded journal, with PostgreSQL on the same machine,
and with as many milliseconds each way to it. Told are the median time from a request's start to its arrival at the
provider, and the processor time of a turn: of server, client and provider together, which are one process here, and,
with milliseconds between, of what delays them.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from tests import postgresql
from tests.fake_provider import fake_provider
from tests.running import running
from tests.slow_link import SlowLink


async def measured(folder: Path, url: str | None, turns: int) -> tuple[float, float]:
    """Of a turn: milliseconds before it is forwarded, and milliseconds of the processor."""
    options: dict[str, Any] = {}
    if url is not None:
        options = {"memory.postgresql.url": url, "memory.postgresql.replicas": True}
    arrived, times = 0.0, []
    async with fake_provider() as provider, running(provider, folder, **options) as proxy:

        async def answer(request: web.Request) -> web.StreamResponse:
            nonlocal arrived
            arrived = time.perf_counter()
            return await provider._chat(request, orjson.loads(provider.last.body))

        provider.answer = answer
        said: list[dict[str, Any]] = [{"role": "user", "content": "Bring the build up to date."}]
        cpu = 0.0
        for turn in range(turns):
            await proxy.learned()
            began, spent = time.perf_counter(), time.process_time()
            body = {"model": "m", "messages": said, "stream": True}
            status, reply, _ = await proxy.post(
                "/v1/chat/completions", body, x_session_id="builds", x_palimpsest_project="loom"
            )
            assert status == 200, reply
            cpu += time.process_time() - spent
            times.append((arrived - began) * 1000)
            call = {"id": f"c{turn}", "type": "function", "function": {"name": "run", "arguments": "{}"}}
            said += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"c{turn}", "content": f"step {turn} passed"},
            ]
    return statistics.median(times[1:]), cpu * 1000 / turns


async def run(turns: int, ms: float, folder: Path) -> list[tuple[str, float, float]]:
    """All of it, a row each.

    Raises:
        RuntimeError: when there is no PostgreSQL.
    """
    server = postgresql.server()
    if server is None:
        raise RuntimeError("there is no PostgreSQL on this machine")
    rows = [("embedded", *await measured(folder / "embedded", None, turns))]
    rows.append(("PostgreSQL, same machine", *await measured(folder / "near", server.database("near"), turns)))
    link = SlowLink(server.database("far"), ms / 1000)
    try:
        rows.append((f"PostgreSQL, {ms:g} ms each way", *await measured(folder / "far", link.url, turns)))
    finally:
        link.close()
    server.give_back()
    return rows


def main() -> None:
    """Run it, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--ms", type=float, default=1.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="palimpsest-network-") as folder:
        for name, ms, cpu in asyncio.run(run(given.turns, given.ms, Path(folder))):
            print(f"{name:28} {ms:7.1f} ms before it is forwarded {cpu:7.1f} ms of the processor")


if __name__ == "__main__":
    main()
