"""A feature that a stranger adds, as one folder and one name in a list, plugs into everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

import memory.features
from memory.features import commands, exported
from proxy.cli import app as command_line
from tests import rooms
from tests.fake_provider import fake_provider
from tests.memory.hooks.visits.commands import lines
from tests.proxy.api.asking import asking
from tests.proxy.cli.running import run
from tests.running import Running, running

OWNER = "up:/local/loom"
LESSON = "We decided to use PostgreSQL 16 for the billing service."


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.features, "__path__", [*memory.features.__path__, str(Path(__file__).parent)])
    monkeypatch.setattr(memory.features, "ORDER", (*memory.features.ORDER, "visits"))
    monkeypatch.setattr(command_line, "FEATURED", {each.name: each for each in commands()})
    monkeypatch.setitem(command_line.COMMANDS, "visits", "featured")


def visits(proxy: Running) -> Any:
    assert proxy.edge.memory is not None
    return next(each for each in proxy.edge.memory.features if each.name == "visits")


async def test_it_hears_of_exchanges_and_adds_to_requests_the_same_bytes_each_time(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:
        await proxy.chat(LESSON, session="one")
        await proxy.learned()
        await proxy.chat("And now?", session="two")
        told = orjson.loads(provider.last.body)["messages"][-1]["content"]
        assert told.endswith("<from-visits>\nThis project was visited 1 times before.\n</from-visits>")
        await proxy.learned()
        await proxy.chat("And now?", "OK.", "And then?", session="two")
        first, *_, last = orjson.loads(provider.last.body)["messages"]
        assert first["content"] == told
        assert "visited 2 times" in last["content"]


async def test_it_answers_over_http_and_is_counted_and_tells_how_it_is(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:
        ask = asking(proxy)
        await proxy.chat(LESSON)
        await proxy.learned()
        assert await ask("GET", "api/visits") == {"visits": {OWNER: 1}}
        assert await ask("GET", "api/visits?user=bob") == {"visits": {}}
        assert list(lines(await ask("GET", "api/visits"))) == ["loom: 1 visit"]
        assert await ask("POST", "api/visits/elsewhere", {"count": 200}) == {"count": 200}
        await ask("POST", "api/visits/elsewhere", {"number": 1}, status=422)
        assert "somebody comes too often" in (await ask("GET", "health"))["why"]
        async with proxy.client.get(
            f"{proxy.url}/palimpsest/metrics", headers={"Authorization": f"Bearer {ask.token}"}
        ) as reply:
            assert "\n# TYPE palimpsest_visits_total gauge\npalimpsest_visits_total 201\n" in await reply.text()


async def test_it_goes_through_nights_and_forgetting(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:
        await proxy.chat(LESSON)
        await proxy.learned()
        assert proxy.edge.memory is not None
        await rooms.nights(proxy.edge.memory).runner.run(dry=True)
        assert visits(proxy).nights == []
        await rooms.nights(proxy.edge.memory).runner.run()
        assert len(visits(proxy).nights) == 1
        [fact, *_] = await proxy.edge.memory.commands.facts([OWNER])
        await proxy.edge.memory.commands.forget([fact.id], [OWNER])
        assert visits(proxy).visits[OWNER] == 0


async def test_its_records_are_exported_and_imported(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path / "home") as proxy:
        ask = asking(proxy)
        await proxy.chat(LESSON)
        await proxy.learned()
        assert "visit" in exported()
        record = {"sort": "visit", "id": OWNER, "owner": OWNER, "count": 1}
        assert await ask("GET", f"api/export/visit?owner={OWNER}") == record
        assert (await ask("POST", "api/import/records", record))["known"] == 1
        other = record | {"owner": "up:/local/other"}
        assert (await ask("POST", "api/import/records?dry=true", other))["visits"] == 1
        assert (await ask("POST", "api/import/records", other))["visits"] == 1
        assert visits(proxy).visits["up:/local/other"] == 1


def test_its_command_is_one_like_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PALIMPSEST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PALIMPSEST__SERVER__PORT", "1")
    assert "how often each project was worked in" in run("--help").out
    done = run("visits", "--help")
    assert done.code == 0 and "--limit" in done.out and "--here" in done.out and "How many projects." in done.out
    run("remember", "The harbour opens at nine.")
    assert run("visits", "--json").json == {"visits": {}}
