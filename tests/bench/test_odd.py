"""The odd requests are the same by the same seed, and a small load of them does no harm."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from tests.bench.echo import make_app
from tests.bench.odd import Seen, client
from tests.bench.odd_requests import KINDS, odd
from tests.running import running


def test_the_same_seed_makes_the_same_requests() -> None:
    first, second = random.Random("1 0"), random.Random("1 0")
    made = [odd(first, "127.0.0.1:1") for _ in range(300)]
    assert made == [odd(second, "127.0.0.1:1") for _ in range(300)]
    assert {each.kind for each in made} == set(KINDS)


@asynccontextmanager
async def echoing() -> AsyncIterator[str]:
    """The bench's provider, in this process; its address."""
    runner = web.AppRunner(
        make_app(), auto_decompress=False, access_log=None, max_line_size=2**17, shutdown_timeout=0.1
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    yield f"http://{host}:{port}"
    await runner.cleanup()


async def test_a_few_hundred_of_them_are_answered_and_leave_the_server_well(tmp_path: Path) -> None:
    async with echoing() as provider, running(provider, tmp_path / "home") as proxy:
        seen = Seen()
        port = int(proxy.url.rpartition(":")[2])
        await client(port, seen, random.Random(7), 150, float("inf"))
        assert seen.asked == 150 and seen.failed == []
        assert seen.changed == [] and seen.same > 20
        await proxy.learned()
        assert not [name for name in proxy.edge.degradations.counts if "learn" in name]
