"""Every other page, on a home that has something on it."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from html import unescape
from pathlib import Path

import orjson
import pytest
import pytest_asyncio

from memory.services.reindexing import Progress
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.web.browsing import ROOT, Browser, let_in
from tests.proxy.web.filled import SMALL, fill, projects
from tests.running import Running, running
from tests.sparse_files import copy_tree


@pytest_asyncio.fixture
async def full(
    provider: FakeProvider, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Running]:
    """A copy of a home that is filled once."""
    copy_tree(await _filled(tmp_path_factory), tmp_path)
    options = {"projects": projects(tmp_path / "checkout"), **SMALL}
    async with running(provider, tmp_path / "full", **options) as started:
        yield started


async def _filled(factory: pytest.TempPathFactory) -> Path:
    if not _FILLED:
        folder = factory.mktemp("filled")
        options = {"projects": projects(folder / "checkout"), **SMALL}
        async with fake_provider() as provider, running(provider, folder / "full", **options) as started:
            await fill(started, provider)
        _FILLED.append(folder)
    return _FILLED[0]


_FILLED: list[Path] = []


async def test_what_happened_is_told(full: Running) -> None:
    browser = await let_in(full)
    today = await browser.get("")
    assert "PostgreSQL 16 for the ledger" in today.text and "nstall packages with pnpm instead of npm" in today.text
    assert "tokens added" in today.text and "Review 1 candidate" in today.text
    why = await browser.get("why?project=loom")
    assert "Which database did we decide on" in why.text and "Added" in why.text
    followed = [link for link in today.links if link.startswith(f"{ROOT}requests/")]
    for link in followed[:3]:
        assert "Milliseconds" in (await browser.get(link.removeprefix(ROOT))).text
    await browser.get("requests/0000-nothing", 404)


async def test_sessions_are_drawn(full: Running) -> None:
    browser = await let_in(full)
    listed = await browser.get("sessions")
    assert "shed" in listed.text and "of the window" in listed.raw
    receipts = (await asking(full)("GET", "api/log?limit=50"))["receipts"]
    shed = next(each for each in receipts if each["shed"])
    page = await browser.get(f"sessions/{shed['session']}")
    its = [each for each in receipts if each["session"] == shed["session"]]
    for each in its:
        assert sum(each["sources"].values()) == each["tokens"], "all of a request came from somewhere"
    assert max(each["sources"]["results"] for each in its) > max(each["sources"]["system"] for each in its)
    for name in ("page", "recall"):
        given = [each for each in receipts if each["sources"] and each[f"{name}_tokens"]]
        assert given and all(each["sources"][name] > 0 for each in given), name
    for name, tokens in its[0]["sources"].items():
        assert f'class="swatch {name}"' in page.raw and f"{name} {tokens:,}" in page.raw
    assert "<desc>Of the last request: system" in page.raw and "What its stubs stand for" in page.text
    assert "shed 1 times" in page.raw and "tokens left out" in page.text
    await browser.get("sessions/nothing", 404)
    request = await browser.get(f"requests/{shed['id']}")
    assert shed["shed"]["warm"] and "anew that it had in its cache" in request.text
    with closing(sqlite3.connect(full.edge.settings.home / "journal.db")) as journal, journal:
        journal.execute("UPDATE receipts SET body = replace(body, '\"warm\":true', '\"warm\":false')")
    assert "in its cache" not in (await browser.get(f"requests/{shed['id']}")).text
    handle = next(each for each in request.links if "/content/" in each).removeprefix(ROOT)
    assert "the heron nests at the northern pier" in (await browser.get(handle)).text
    await browser.get("content/0123456789ab.0", 404)
    await browser.get("content/x", 422)


async def test_additions_do_not_count_as_the_clients_own(full: Running) -> None:
    browser, ask = await let_in(full), asking(full)
    standing = (await ask("GET", "api/sessions"))["sessions"]
    longer = next(each for each in standing if each["own"] < each["tokens"])
    page = await browser.get(f"sessions/{longer['id']}")
    assert f"the client's own history {longer['own']:,};" in unescape(page.raw)
    receipts = (await ask("GET", "api/log?limit=200"))["receipts"]
    newest = next(each for each in receipts if each["session"] == longer["id"])
    added = newest["sources"]["page"] + newest["sources"]["recall"]
    assert longer["own"] == newest["tokens"] - added > 0 and added > 0


async def test_research_is_shown_searched_and_forgotten(full: Running) -> None:
    browser = await let_in(full)
    for path in ("research", "research?q=retry+policy"):
        assert "Study the retry policy" in (await browser.get(path)).text
    link = next(each for each in (await browser.get("research")).links if f"{ROOT}research/r" in each)
    page = await browser.get(link.removeprefix(ROOT))
    assert "max_attempts" in page.text and "billing/retry.py" in page.text
    assert "max_attempts = 5" in (await browser.get(f"{link.removeprefix(ROOT)}?trail=1")).text
    assert "stale" in (await browser.get("research/stale")).text
    page = await browser.submit(page, "forget")
    assert "Forgotten, everywhere" in page.text and "No sub-agent has found anything" in page.text
    await browser.get(link.removeprefix(ROOT), 404)


async def test_a_night_is_shown_and_taken_back(full: Running) -> None:
    browser = await let_in(full)
    ask = asking(full)
    merged = next(each for each in (await ask("GET", "api/nights"))["nights"] if "merge" in each["changes"])
    page = await browser.get(f"nights/{merged['number']}")
    assert "Merge" in page.text and "archived" in page.text
    page = await browser.submit(page, "undo")
    assert f"Night {merged['number']} was taken back" in page.text
    assert "Take this night back" not in (await browser.get(f"nights/{merged['number']}")).text
    page = await browser.submit(await browser.get("nights"), "nights")
    assert "A night has begun" in page.text
    await full.learned()
    assert not (await ask("GET", "api/consolidate"))["running"]
    await browser.get("nights/99", 404)
    await browser.get("nights/x", 422)


async def test_sums_settings_and_health(full: Running) -> None:
    browser = await let_in(full)
    money = await browser.get("money")
    told = (await asking(full)("GET", "api/status?days=7"))["sums"]
    assert f"{told['shorter']:,}" in money.text and "no price known" in money.text and "gpt-4o-mini" in money.raw
    assert "estimate" in money.text
    settings = await browser.get("settings?q=recall.tokens")
    assert "memory.recall.tokens" in settings.text and "server.port" not in settings.text
    health = await browser.get("status")
    assert "All is well" in health.text and str(full.edge.settings.home) in health.text
    assert full.edge.memory is not None
    for progress, told in (
        (Progress("wordhash", 5, 53), "Index being filled5 of 53"),
        (Progress("wordhash", 7, 53, True, "no room"), "New index, given up7 of 53: no room"),
        (Progress("wordhash", 53, 53, True), ""),
    ):
        full.edge.memory.reindexer.progress = progress
        page = await browser.get("status")
        assert told in page.text and (told or " of 53" not in page.text), page.text
    page = await browser.submit(health, "status/pause")
    assert "Memory is paused" in page.text and full.edge.memory.pause.on
    await browser.submit(page, "status/resume")
    assert not full.edge.memory.pause.on


async def test_no_secret_of_the_settings_is_shown(provider: FakeProvider, tmp_path: Path) -> None:
    credentials = [{"key": "a-key-of-a-person", "user": "ada"}]
    async with running(provider, tmp_path / "home", credentials=credentials) as proxy:
        browser = await let_in(proxy)
        page = await browser.get("settings")
        assert "a-key-of-a-person" not in page.raw and proxy.edge.token not in page.raw
        assert "(set)" in page.text


async def test_the_page_is_edited_in_place(full: Running) -> None:
    browser = await let_in(full)
    page = await browser.get("page?project=loom")
    assert "PostgreSQL 16 for the ledger" in page.text
    form = page.form("page")
    changed = form.fields["projects"].replace("PostgreSQL 16", "PostgreSQL 17")
    after = await browser.submit(page, "page", own="Mind the tide.", projects=changed)
    assert "Written" in after.text and "Mind the tide." in after.text and "PostgreSQL 17" in after.text
    await full.learned()
    texts = [each["text"] for each in (await asking(full)("GET", "api/facts?project=loom"))["facts"]]
    assert any("PostgreSQL 17" in text for text in texts) and not any("PostgreSQL 16" in text for text in texts)
    assert "Nothing was changed" in (await browser.submit(after, "page")).text
    told = await browser.submit(page, "page", 409, own="Another word.")
    assert "has changed since you opened it" in told.text


async def test_thresholds_are_tried_before_they_are_changed(full: Running) -> None:
    browser = await let_in(full)
    now = (await asking(full)("GET", "api/config/trial"))["now"]
    assert now["requests"] > 20 and now["rotates"] > 0 and now["trim"] == 0.6
    told = await asking(full)("GET", "api/config/trial?trim=0.97&fold=0.98&rotate=0.99&tokens=10")
    assert told["now"] == now and told["then"]["recalls"] > now["recalls"]
    assert sum(told["then"][each] for each in ("trims", "folds", "rotates")) < sum(
        now[each] for each in ("trims", "folds", "rotates")
    )
    page = await browser.get("settings/try?trim=0.5")
    assert "Large enough" in page.text and "trim: 0.5" in page.text
    assert "must be below" in (await browser.get("settings/try?trim=0.9", 422)).text
    for odd in ("trim=x", "tokens=-1", "fold=1e999", "target=nan"):
        await asking(full)("GET", f"api/config/trial?{odd}", status=422)


async def test_the_page_is_shown_as_sessions_were_given_it(full: Running) -> None:
    browser = await let_in(full)
    page = await browser.get("page?project=loom")
    budget = (await asking(full)("GET", "api/page?project=loom"))["budget"]
    assert budget["whole"] == sum(budget["parts"].values()) > 0 and budget["most"] == 500
    assert f"about {budget['whole']} tokens of 500 that it may have" in page.text
    assert f"projects {budget['parts']['projects']}" in page.text
    states = (await asking(full)("GET", "api/page/history?project=loom"))["pages"]
    assert len(states) > 1 and "PostgreSQL 16" in states[0]["text"] and sum(each["sessions"] for each in states) > 2
    assert any(
        line.startswith("+") and "PostgreSQL 16" in line for each in states for line in each["diff"].splitlines()
    )
    history = await browser.get("page/history?project=loom")
    assert "PostgreSQL 16" in history.text and "All of it" in history.text
    assert "has been given a page" in (await browser.get("page/history?project=nothing")).text
    await browser.get("page/history", 422)


async def test_a_page_that_stays_open_is_brought_up_to_date(full: Running) -> None:
    browser = await let_in(full)
    page = await browser.get("")
    mark = next(told["data-mark"] for _, told in page.elements if told.get("id") == "live")
    assert page.raw.count('role="status"') == 1, "a line that tells is there before it tells"

    async def marked() -> str:
        return str(orjson.loads((await browser.get("news")).raw)["mark"])

    assert await marked() == mark
    await full.chat("I prefer tables over lists. Which cluster is for staging?", session="more")
    await full.learned()
    assert await marked() != mark
    part = await browser.get("today")
    assert "I prefer tables over lists" in part.text and "<html" not in part.raw
    form = part.form("unlearn")
    assert (await browser.post(form.action, form.fields)).text.count("Undone: ") == 2, "a notice, and the way back"


async def test_what_the_next_page_tells_once_is_left_to_it(full: Running) -> None:
    browser = await let_in(full)
    form = (await browser.get("memory")).form("memory")
    sent = {"Origin": browser.origin, "Cookie": browser.cookie}
    fields = {**form.fields, "text": "The mirror lives in Oslo."}
    async with full.client.post(full.url + form.action, data=fields, headers=sent, allow_redirects=False) as reply:
        followed = reply.headers["Location"].removeprefix(ROOT)
    assert "Remembered" not in (await browser.get("today")).text
    assert "Remembered" in (await browser.get(followed)).text


async def test_while_memory_is_not_open_that_is_told(provider: FakeProvider, tmp_path: Path) -> None:
    async with running(provider, tmp_path / "home", memory__mode="off") as proxy:
        browser = Browser(proxy)
        await browser.submit(await browser.get("", 401), "login", 503, token=proxy.edge.token)
        assert "switched off" in (await browser.get("memory", 503)).text
        assert "Memory is off" in (await browser.get("status")).text
        assert "memory.mode" in (await browser.get("settings")).text
