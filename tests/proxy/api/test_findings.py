"""What the doctor finds and the newest backups, looked for beside the page Health and the endpoint that tell it."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory.stores.backups.backup import take
from memory.stores.backups.places import BackupLook, own_place, read_state, write_state
from proxy import diagnosis
from proxy.api import findings
from proxy.api.findings import FRESH, NEWEST, LatestFindings
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.web.browsing import let_in
from tests.running import running

AT = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
PATIENCE = 200
"""Pages that are opened until what is looked for beside them is there."""


async def test_the_page_shows_the_doctors_findings_and_each_backup_with_its_last_look(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with fake_provider() as provider, running(provider, home) as proxy:
        first, second = [
            await asyncio.to_thread(take, home, own_place(home), AT + timedelta(days=day), "by hand") for day in (0, 1)
        ]
        write_state(home, read_state(home).with_look(first, BackupLook(AT, 0)).with_look(second, BackupLook(AT, 3)))
        browser = await let_in(proxy)
        for _ in range(PATIENCE):
            page = await browser.get("status")
            if "being looked" not in page.text:
                break
        assert "data folder" in page.text and f"{home}, closed to others" in page.text
        assert f"{provider.url} takes connections" in page.text
        assert page.text.index(str(second)) < page.text.index(str(first)), "the newest stands first"
        assert "whole, " in page.text and "3 faults, " in page.text
        checks = (await asking(proxy)("GET", "api/doctor"))["checks"]
        [home_found] = [each for each in checks if each["what"] == "data folder"]
        assert home_found["verdict"] == "well" and home_found["found"] in page.text
        told = {each["folder"]: each for each in (await asking(proxy)("GET", "api/backups"))["backups"]}
        assert told[str(first)]["faults"] == 0 and told[str(second)]["looked_at"].startswith("2026-03-04")


async def test_a_look_at_a_backup_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    state = read_state(tmp_path).with_look(tmp_path / "gone", BackupLook(AT, 0))
    assert set(state.with_look(tmp_path / "there", BackupLook(AT, 0)).looks) == {str(tmp_path / "there")}


async def test_what_hangs_holds_no_page_up_and_hides_nothing_else(tmp_path: Path) -> None:
    asked, hangs = 0, asyncio.Event()
    backups = [{"folder": str(number), "at": AT + timedelta(hours=number)} for number in range(NEWEST + 2)]

    async def ask() -> dict[str, Any]:
        nonlocal asked
        asked += 1
        await hangs.wait()
        return {"backups": backups}

    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        looking = LatestFindings(proxy.edge)
        for _ in range(PATIENCE):
            if (found := await looking.latest(ask)).checks is not None:
                break
        assert found.checks and found.backups is None and asked == 1
        hangs.set()
        while proxy.edge.beside:
            await asyncio.wait(proxy.edge.beside)
            await asyncio.sleep(0)
        found = await looking.latest(ask)
        assert asked == 1, "what is fresh is not looked for again"
        assert found.backups is not None and found.backups["many"] == NEWEST + 2
        assert [each["folder"] for each in found.backups["newest"]] == ["6", "5", "4", "3", "2"]


async def test_what_fails_is_looked_for_again(tmp_path: Path) -> None:
    now = 0.0

    async def broken() -> dict[str, Any]:
        return {"backups": [{"folder": "without a time"}]}

    async def whole() -> dict[str, Any]:
        return {"backups": []}

    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        looking = LatestFindings(proxy.edge, clock=lambda: now)
        await looking.latest(broken)
        while proxy.edge.beside:
            await asyncio.wait(proxy.edge.beside)
            await asyncio.sleep(0)
        now += FRESH
        for _ in range(PATIENCE):
            if (await looking.latest(whole)).backups is not None:
                break
        assert (await looking.latest(whole)).backups == {"backups": [], "newest": [], "many": 0}


async def test_a_disk_that_hangs_is_looked_at_once_and_by_no_thread_that_requests_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, looks, hangs = 0.0, list[str](), threading.Event()

    def hanging(*_: Any) -> Any:
        looks.append(threading.current_thread().name)
        hangs.wait()
        return ()

    monkeypatch.setattr(diagnosis, "found_here", hanging)
    monkeypatch.setattr("memory.features.backups.feature.backups_in", hanging)
    monkeypatch.setattr(findings, "LONGEST", 0.01)
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        ask = asking(proxy)
        looking = LatestFindings(proxy.edge, clock=lambda: now)
        try:
            for _ in range(3):
                found = await looking.latest(lambda: ask("GET", "api/backups"))
                now += 2 * FRESH
        finally:
            hangs.set()
        assert (found.checks, found.backups) == (None, None)
        assert sorted(looks) == ["backups", "doctor"]
