"""What was read with doubt waits on the page of reviews, and is found by nothing before somebody says that it holds."""

from __future__ import annotations

import pytest_asyncio

from tests.proxy.api.asking import Asking
from tests.proxy.drafts import TEXT, draft
from tests.proxy.web.browsing import Browser

SEARCH = "api/search?text=porch+sensor&project=loom"


@pytest_asyncio.fixture
async def waiting(ask: Asking) -> str:
    held = await ask("POST", "api/remember?project=loom", {"text": "The roof of the shed is flat"}, status=201)
    record = draft(held["owner"])
    assert (await ask("POST", "api/import/records?project=loom", record))["facts"] == 1
    return str(record["id"])


async def found(ask: Asking) -> list[str]:
    return [each["text"] for each in (await ask("GET", SEARCH))["results"] if each["text"] == TEXT]


async def listed(ask: Asking, state: str) -> list[str]:
    return [each["id"] for each in (await ask("GET", f"api/facts?project=loom&state={state}"))["facts"]]


async def test_it_waits_unseen_until_it_is_approved(ask: Asking, browser: Browser, waiting: str) -> None:
    assert await found(ask) == [] and waiting not in await listed(ask, "active")
    page = await browser.get("review?project=loom")
    assert TEXT in page.text
    after = await browser.submit(page, f"memory/{waiting}/confirm")
    assert "Confirmed" in after.text and "Review" in after.text
    assert await found(ask) == [TEXT] and waiting in await listed(ask, "active")


async def test_it_is_dismissed_as_of_the_moment(ask: Asking, browser: Browser, waiting: str) -> None:
    page = await browser.get("review?project=loom")
    after = await browser.submit(page, f"memory/{waiting}/dismiss")
    assert "Dismissed" in after.text and TEXT not in after.text
    assert await found(ask) == [] and await listed(ask, "draft") == []


async def test_only_a_draft_is_dismissed(ask: Asking) -> None:
    held = await ask("POST", "api/remember?project=loom", {"text": "The roof of the shed is flat"}, status=201)
    told = await ask("POST", f"api/facts/{held['id']}/dismiss", {}, status=409)
    assert "no draft" in told["error"]
