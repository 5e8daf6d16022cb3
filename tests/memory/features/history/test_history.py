"""A fact's life over HTTP: of its own person, by an id or the beginning of one."""

from __future__ import annotations

from pathlib import Path

from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.running import running


async def test_a_fact_that_took_anothers_place_and_how_strong_it_is(tmp_path: Path) -> None:
    async with fake_provider() as upstream, running(upstream, tmp_path / "home") as proxy:
        ask = asking(proxy)
        old = await ask("POST", "api/remember?project=loom", {"text": "The gateway listens on port 7443."}, status=201)
        new = await ask("POST", f"api/facts/{old['id']}/update", {"text": "The gateway listens on port 8443."})
        told = await ask("GET", f"api/facts/{new['id'][:8]}/history")
        assert told["id"] == new["id"]
        assert [each["id"] for each in told["history"]] == [old["id"], new["id"]]
        assert [each["superseded_by"] for each in told["history"]] == [[new["id"]], []]
        line = await ask("GET", f"api/facts/{new['id']}/curve?limit=5")
        assert len(line["times"]) == len(line["strengths"]) == 5 and line["uses"] == []
        assert len((await ask("GET", f"api/facts/{new['id']}/curve"))["strengths"]) == 100
        assert "there is no memory" in (await ask("GET", "api/facts/ffff/history", status=404))["error"]
        await ask("GET", f"api/facts/{new['id']}/history?user=bob", status=404)
