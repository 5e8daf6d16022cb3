"""What waits for a person is counted whole: in the menu of every page, and by name on Today."""

from __future__ import annotations

import pytest

from proxy.web.waiting import Waiting
from tests.proxy.api.asking import Asking
from tests.proxy.drafts import TEXT, draft
from tests.proxy.web.browsing import Browser
from tests.proxy.web.contradicting import contradict
from tests.proxy.web.test_review import put_forward
from tests.running import Running


@pytest.mark.parametrize(
    ("waiting", "told"),
    [
        (Waiting(), ""),
        (Waiting(drafts=1), "1 draft"),
        (Waiting(2, 0, 1), "2 candidates and 1 contradiction"),
        (Waiting(1, 2, 3), "1 candidate, 2 drafts and 3 contradictions"),
    ],
)
def test_it_is_told_in_words(waiting: Waiting, told: str) -> None:
    assert waiting.told == told


async def test_drafts_and_contradictions_count(ask: Asking, browser: Browser, proxy: Running) -> None:
    assert "waiting" not in (await browser.get("money")).raw
    await put_forward(ask)
    held = await ask("POST", "api/remember?project=loom", {"text": "The roof of the shed is flat"}, status=201)
    record = draft(held["owner"])
    assert (await ask("POST", "api/import/records?project=loom", record))["facts"] == 1
    await contradict(ask, proxy)
    assert 'title="1 candidate, 1 draft and 1 contradiction waiting">3<' in (await browser.get("money")).raw
    today = await browser.get("")
    assert "Review 1 candidate, 1 draft and 1 contradiction" in today.text
    assert TEXT in today.text and "contradicts The deploy key lives in the" in today.text
    page = await browser.submit(await browser.get("review"), f"drafts/{record['id']}/defer")
    assert 'title="1 candidate and 1 contradiction waiting">2<' in page.raw
    assert TEXT not in (await browser.get("")).text
    await browser.submit(page, "again")
    assert 'waiting">3<' in (await browser.get("")).raw


async def test_nobody_elses_counts(ask: Asking, browser: Browser) -> None:
    held = await ask("POST", "api/remember?user=bob&project=loom", {"text": "The roof is flat"}, status=201)
    await ask("POST", "api/import/records?user=bob&project=loom", draft(held["owner"]))
    await ask("POST", f"api/facts/{held['id']}/promote?user=bob", {"to": "project"}, status=201)
    assert ' waiting">' not in (await browser.get("")).raw
