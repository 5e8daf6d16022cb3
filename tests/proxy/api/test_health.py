"""Health says ok or degraded and why, and model calls go through either way."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from memory.ports import Counts
from memory.services.person.commands import MemoryStatus
from proxy.api.health import behind
from proxy.cli import checks
from proxy.fail_open import SET_ASIDE
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import Asking, asking
from tests.running import Running, running

WELL = MemoryStatus(Counts(1, 1, 1, 1, 1, 0), waiting=0, kept=0, lost=0, broken=0, learning=True, passed_over=0)


async def test_a_new_proxy_is_well(ask: Asking) -> None:
    told = await ask("GET", "health")
    assert told["status"] == "ok" and told["why"] == [] and told["memory"] == "on" and told["version"]


async def test_without_a_token_only_what_a_balancer_needs_is_told(proxy: Running, ask: Asking) -> None:
    assert "candidates" in await ask("GET", "health")
    proxy.edge.degradations.add("recalling", "StoreError: the disk is full")
    for token in ("", "wrong"):
        assert await Asking(proxy, token)("GET", "health") == {"status": "degraded", "memory": "on"}


async def test_stores_that_cannot_be_opened_are_told_and_the_model_call_goes_through(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "journal.db").write_bytes(b"this is no database, " * 500)
    async with fake_provider() as provider, running(provider, home) as proxy:
        assert b"OK." in await proxy.chat("Hello there, how are you?")
        assert await Asking(proxy, "")("GET", "health") == {"status": "degraded", "memory": "missing"}
        told = await asking(proxy)("GET", "health")
        assert any("no SQLite database" in why for why in told["why"])
        fault = await asking(proxy)("GET", "api/facts", status=503)
        assert "no SQLite database" in fault["error"]
        assert (await asking(proxy)("GET", "api/status"))["status"] == "degraded"


async def test_memory_that_is_switched_off_is_no_fault(tmp_path: Path) -> None:
    async with fake_provider() as provider, running(provider, tmp_path, memory__mode="off") as proxy:
        told = await Asking(proxy, "")("GET", "health")
        assert told == told | {"status": "ok", "memory": "off"}
        assert "switched off" in (await asking(proxy)("GET", "api/facts", status=503))["error"]


async def test_failures_of_the_last_minutes_are_told_without_secrets(proxy: Running, ask: Asking) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    proxy.edge.degradations.add("recalling", f"StoreError: token {secret} was refused")
    proxy.edge.degradations.add("recalling", f"StoreError: token {secret} was refused")
    told = await ask("GET", "health")
    assert told["status"] == "degraded"
    assert told["why"] == ["memory failed 2 times in the last five minutes while recalling (StoreError)"]


async def test_an_exchange_that_waits_in_a_file_is_no_failure_of_memory(proxy: Running, ask: Asking) -> None:
    proxy.edge.degradations.add("journaling", f"{SET_ASIDE}: in a file, not yet in the journal")
    told = await ask("GET", "api/status")
    assert told["status"] == "ok" and told["failures"] == {}
    assert [each["doing"] for each in told["latest"]] == ["journaling"]
    [found, *_] = checks.stores(_Server(told), Path(), True, True)  # type: ignore[arg-type]
    assert found.verdict == "well" and "failed" not in found.found


async def test_the_doctor_tells_of_earlier_failures_what_the_status_counts(proxy: Running, ask: Asking) -> None:
    proxy.edge.degradations.add("recalling", "late: more than 40 ms")
    proxy.edge.degradations.latest.clear()
    told = await ask("GET", "api/status")
    assert told["status"] == "ok" and told["failures"] == {"recalling": 1}
    [found, *_] = checks.stores(_Server(told), Path(), True, True)  # type: ignore[arg-type]
    assert found.verdict == "well"
    assert "memory failed 1 time since the start, while recalling, and not in the last" in found.found


async def test_the_doctor_names_the_setting_that_was_in_force_where_something_was_late(
    proxy: Running, ask: Asking
) -> None:
    proxy.edge.degradations.add("recalling", "late: more than 250 ms (memory.recall.longest_ms)")
    proxy.edge.degradations.add("journaling", "late: more than 2000 ms")
    found = list(checks.stores(_Server(await ask("GET", "api/status")), Path(), True, True))  # type: ignore[arg-type]
    recalling, journaling = (each for each in found if "memory failed once" in each.found)
    assert "while recalling (late: memory.recall.longest_ms)" in recalling.found
    assert recalling.mend == "if it goes on, raise memory.recall.longest_ms"
    assert "(late)" in journaling.found and "memory." not in journaling.mend


class _Server:
    """A server that says one thing."""

    url = "http://127.0.0.1:1"

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told

    def ask(self, *request: object) -> dict[str, Any]:
        return self._told


async def test_a_dead_worker_is_told(proxy: Running, ask: Asking) -> None:
    assert proxy.edge.memory is not None
    await proxy.edge.memory.learner.stop()
    assert "worker that learns is dead" in str((await ask("GET", "health"))["why"])


async def test_a_worker_that_hangs_is_told(proxy: Running, ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    assert proxy.edge.memory is not None
    await proxy.edge.memory.tier_worker.stop()
    monkeypatch.setattr(proxy.edge.memory.tier_worker, "_moved", time.monotonic() - 400)
    assert (await ask("GET", "health"))["why"] == [
        "making overviews has got nowhere for 7 minutes: if that lasts, restart the server"
    ]


def test_each_thing_that_lags_is_told() -> None:
    assert behind(WELL) == []
    counts = Counts(1, 1, 1, 1, 1, 9999)
    told = behind(MemoryStatus(counts, 99_999, kept=3, lost=2, broken=4, learning=False, passed_over=1))
    assert len(told) == 7


async def test_metrics_are_prometheus_text_and_name_nobody(proxy: Running, ask: Asking) -> None:
    await proxy.chat("My name is Wilhelmina", project="secretproject")
    headers = {"Authorization": f"Bearer {proxy.edge.token}"}
    async with proxy.client.get(f"{proxy.url}/palimpsest/metrics", headers=headers) as reply:
        assert reply.content_type == "text/plain"
        text = await reply.text()
    assert "palimpsest_requests_total{" in text
    assert "secretproject" not in text and "Wilhelmina" not in text
