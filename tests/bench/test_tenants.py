"""Two tenants, a few requests each: nothing of either is seen where the other looks."""

from __future__ import annotations

import asyncio
import random
from itertools import islice
from pathlib import Path

import orjson
import pytest

from tests.bench.tenants import CHAT, TENANTS, Seen, issue, look_through, looked, other, owned, requests
from tests.fake_provider import fake_provider
from tests.running import running


async def test_nothing_that_a_tenant_says_is_seen_by_the_other(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen, home = Seen(), tmp_path / "home"
    credentials = [each.entry for each in TENANTS]
    async with fake_provider() as provider, running(provider, home, credentials=credentials) as proxy:
        sent = {each.name: requests(each, random.Random(each.name)) for each in TENANTS}
        for _ in range(3):
            for tenant in TENANTS:
                for headers, body in islice(sent[tenant.name], 12):
                    told = {name.replace("-", "_"): value for name, value in headers.items()}
                    _, reply, heads = await proxy.post(CHAT, body, **told)
                    seen.look("replies", f"{reply!r} {heads}", other(tenant))
            await proxy.learned()
        port = int(proxy.url.rpartition(":")[2])
        await asyncio.to_thread(looked, seen, port, issue(home), proxy.edge.token)
        look_through(seen, (each.body for each in provider.requests))
    seen.look("log", caplog.text, *TENANTS)
    owned(seen, home)
    assert seen.leaks == []
    assert seen.done["with memory"] > 5 and seen.done["endpoints with one's own"] > 5


def test_a_leak_would_be_seen() -> None:
    north, south = TENANTS
    said = north.taught(random.Random(1))
    seen = Seen()
    look_through(seen, [orjson.dumps({"model": south.name, "messages": [{"role": "user", "content": said}]})])
    assert len(seen.leaks) == 1 and seen.leaks[0].startswith(north.name)
