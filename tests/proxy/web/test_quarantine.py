"""What was imported and waits is seen on the page, released there, or discarded."""

from __future__ import annotations

from typing import Any

import pytest_asyncio

from tests.proxy.api.asking import Asking
from tests.proxy.web.browsing import ROOT, Browser
from tests.running import Running

SAID = "The staging cluster is called heron, and only Rosa may restart it."


@pytest_asyncio.fixture
async def session(proxy: Running, ask: Asking) -> str:
    """A session that was taken in and put away, as an import does it."""
    await proxy.chat(SAID, session="chat")
    await proxy.learned()
    [receipt] = (await ask("GET", "api/log"))["receipts"]
    assert (await ask("POST", "api/quarantine", {"sessions": [receipt["session"]]}))["memories"]
    return str(receipt["session"])


async def listed(ask: Asking) -> list[Any]:
    return [each["text"] for each in (await ask("GET", "api/facts"))["facts"]]


async def test_it_is_seen_and_released(ask: Asking, browser: Browser, session: str) -> None:
    assert await listed(ask) == []
    page = await browser.get("review")
    assert "In quarantine" in page.text and "heron" in page.text and f"{ROOT}quarantine?session={session}" in page.links
    page = await browser.submit(page, "quarantine/release")
    assert "Released: " in page.text and "In quarantine" not in page.text
    assert any("heron" in text for text in await listed(ask))


async def test_it_is_looked_at_and_discarded(ask: Asking, browser: Browser, session: str) -> None:
    assert "heron" not in (await browser.get("memory")).text
    found = await browser.get("memory?state=quarantine")
    assert "heron" in found.text and "in quarantine" in found.text
    assert "heron" in (await browser.get("memory?state=quarantine&q=heron")).text
    one = next(link for link in found.links if link.startswith(f"{ROOT}memory/")).removeprefix(ROOT)
    moved = await browser.get(one, 303)
    assert f"quarantine?session={session}#" in moved.headers["Location"]
    page = await browser.get(f"quarantine?session={session}")
    assert "heron" in page.text and "Release all of it" in page.text
    assert "heron" in (await browser.get(f"{one}/forget")).text
    page = await browser.submit(page, "quarantine/discard")
    assert "Forgotten, everywhere: " in page.text
    assert (await ask("GET", "api/quarantine"))["ids"] == [] == await listed(ask)
    await browser.get(f"quarantine?session={session}", 404)


async def test_nobody_elses_is_there(ask: Asking, browser: Browser, session: str) -> None:
    assert "heron" not in (await browser.get("review?user=bob")).text
    await browser.get(f"quarantine?session={session}&user=bob", 404)
    assert (await ask("GET", "api/quarantine?user=bob"))["ids"] == []
