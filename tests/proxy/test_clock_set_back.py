"""The clock was ahead for a while and is right again: memory goes on, and what is said now counts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.fake_provider import fake_provider
from tests.memory.features.nights.test_routes import consolidated
from tests.proxy.api.asking import asking
from tests.running import running

NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)
AHEAD = NOW + timedelta(days=400)


async def test_what_was_recorded_in_a_year_to_come_is_recalled_changed_and_consolidated(tmp_path: Path) -> None:
    async with fake_provider() as provider:
        async with running(provider, tmp_path, now=lambda: AHEAD) as proxy:
            await proxy.chat("We decided to use PostgreSQL as the database.", session="then")
            await proxy.learned()
            await consolidated(asking(proxy), {})
        async with running(provider, tmp_path, now=lambda: NOW) as proxy:
            ask = asking(proxy)
            await proxy.chat("Which database do we use?", session="asked")
            assert b"PostgreSQL" in provider.last.body
            await proxy.chat("We moved from PostgreSQL to MySQL as the database.", session="changed")
            await proxy.learned()
            [old] = (await ask("GET", "api/facts?project=loom&state=superseded"))["facts"]
            [new] = (await ask("GET", "api/facts?project=loom&state=active"))["facts"]
            assert "MySQL" in new["text"] and new["supersedes"] == [old["id"]]
            for each in (old, new):
                assert min((await ask("GET", f"api/facts/{each['id']}/curve"))["strengths"]) >= 0
            await consolidated(ask, {})
            assert proxy.edge.degradations.counts == {}
