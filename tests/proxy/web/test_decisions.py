"""What is decided of a fact on a page, and taken back. What was read with doubt waits on the page of reviews, and is
found by nothing before somebody says that it holds."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from memory.learning.lesson import learn
from memory.learning.lesson_result import Learned
from memory.ports import Lesson, MemoryUse
from memory.services.person.fact_revision import DEFERRED_FOR
from tests.fake_provider import FakeProvider
from tests.proxy.api.asking import Asking, asking
from tests.proxy.drafts import TEXT, draft
from tests.proxy.web.browsing import Browser, let_in
from tests.proxy.web.contradicting import contradict
from tests.running import Running, running

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
    after = await browser.submit(page, f"drafts/{waiting}/confirm")
    assert "Confirmed" in after.text and "Review" in after.text
    assert await found(ask) == [TEXT] and waiting in await listed(ask, "active")


async def test_it_is_dismissed_as_of_the_moment(ask: Asking, browser: Browser, waiting: str) -> None:
    page = await browser.get("review?project=loom")
    after = await browser.submit(page, f"drafts/{waiting}/dismiss")
    assert "Dismissed" in after.text and f"drafts/{waiting}/" not in after.raw
    assert await found(ask) == [] and await listed(ask, "draft") == []


@pytest.mark.parametrize(("act", "word"), [("confirm", "Confirmed"), ("dismiss", "Dismissed"), ("defer", "Put off")])
async def test_what_was_decided_last_is_taken_back(
    ask: Asking, browser: Browser, waiting: str, act: str, word: str
) -> None:
    before = await ask("GET", f"api/facts/{waiting}")
    page = await browser.submit(await browser.get("review?project=loom"), f"drafts/{waiting}/{act}")
    assert f"{word}: " in page.text and f"drafts/{waiting}/" not in page.raw and 'data-key="u"' in page.raw
    page = await browser.submit(page, "again")
    assert f"Waits again: {TEXT}" in page.text and page.form(f"drafts/{waiting}/{act}")
    assert waiting in await listed(ask, "draft") and await found(ask) == []
    after = await ask("GET", f"api/facts/{waiting}")
    assert after == before
    fields = {"form": page.form(f"drafts/{waiting}/{act}").fields["form"], "fact": waiting}
    assert "nothing to take back" in (await browser.post("/palimpsest/again", fields, 409)).text


@pytest.mark.parametrize("act", ["confirm", "dismiss"])
async def test_a_decision_is_taken_back_after_a_restart(provider: FakeProvider, tmp_path: Path, act: str) -> None:
    home = tmp_path / "restarted"
    async with running(provider, home) as proxy:
        ask = asking(proxy)
        old = await ask("POST", "api/remember?project=loom", {"text": "The loom listens on port 4400"}, status=201)
        record = draft(old["owner"], "The loom listens on port 5500")
        await ask("POST", "api/import/records?project=loom", record)
        ids = (old["id"], record["id"])
        before = [await ask("GET", f"api/facts/{id}") for id in ids]
        await (browser := await let_in(proxy)).submit(await browser.get("review"), f"drafts/{record['id']}/{act}")
        decided = [await ask("GET", f"api/facts/{id}") for id in ids]
    async with running(provider, home) as proxy:
        ask = asking(proxy)
        assert [await ask("GET", f"api/facts/{id}") for id in ids] == decided != before
        [told] = (await ask("GET", "api/decisions"))["decisions"]
        assert (told["memory"]["id"], told["decision"]) == (record["id"], f"{act}ed")
        page = await (browser := await let_in(proxy)).get("review?project=loom")
        assert "Decided" in page.text and record["text"] in page.text and page.raw.count('data-key="u"') == 1
        assert record["text"] not in (await browser.get("review?project=barn")).text
        page = await browser.submit(page, "again")
        assert f"Waits again: {record['text']}" in page.text and "Decided" not in page.text
        assert [await ask("GET", f"api/facts/{id}") for id in ids] == before
        assert (await ask("GET", "api/decisions"))["decisions"] == []


async def test_only_what_still_stands_is_among_what_was_decided(ask: Asking, browser: Browser, waiting: str) -> None:
    await browser.submit(await browser.get("review?project=loom"), f"drafts/{waiting}/confirm")
    assert len((await ask("GET", "api/decisions"))["decisions"]) == 1
    await ask("POST", f"api/facts/{waiting}/update", {"text": "The porch sensor sleeps at night"})
    assert (await ask("GET", "api/decisions"))["decisions"] == []


async def test_what_it_had_contradicted_is_as_it_was(ask: Asking, browser: Browser) -> None:
    old = await ask("POST", "api/remember?project=loom", {"text": "The loom listens on port 4400"}, status=201)
    record = draft(old["owner"], "The loom listens on port 5500")
    assert (await ask("POST", "api/import/records?project=loom", record))["facts"] == 1

    async def held() -> tuple[str, list[str]]:
        told = await ask("GET", f"api/facts/{old['id']}")
        return told["state"], told["contradicts"]

    before = await held()
    page = await browser.submit(await browser.get("review?project=loom"), f"drafts/{record['id']}/confirm")
    assert await held() != before == ("active", [])
    await browser.submit(page, "again")
    assert await held() == before and await listed(ask, "draft") == [record["id"]]


@pytest.mark.parametrize("act", ["confirm", "dismiss"])
async def test_what_is_taken_back_keeps_its_pin_and_its_uses(
    ask: Asking, browser: Browser, waiting: str, proxy: Running, act: str
) -> None:
    page = await browser.submit(await browser.get("review?project=loom"), f"drafts/{waiting}/{act}")
    await ask("PATCH", f"api/facts/{waiting}", {"pinned": True})
    memory = proxy.edge.memory
    assert memory is not None

    async def used() -> Lesson:
        return Lesson(0, uses=(MemoryUse(waiting, "s9", proxy.edge.now(), used=True),))

    await memory.learner.revise(used)
    before = await ask("GET", f"api/facts/{waiting}")
    await browser.submit(page, "again")
    after = await ask("GET", f"api/facts/{waiting}")
    assert (after["state"], after["stability"], after["pinned"]) == ("draft", "draft", True)
    assert (after["access"], after["sessions"]) == (before["access"], before["sessions"]) != (1, 1)


async def test_what_was_changed_since_is_not_taken_back(ask: Asking, browser: Browser, waiting: str) -> None:
    page = await browser.submit(await browser.get("review?project=loom"), f"drafts/{waiting}/confirm")
    await ask("POST", f"api/facts/{waiting}/update", {"text": "The porch sensor sleeps at night"})
    assert "changed meanwhile" in (await browser.submit(page, "again", 409)).text


@pytest.mark.parametrize("act", ["confirm", "dismiss", "defer"])
async def test_what_was_forgotten_since_stands_on_the_page_no_more(
    ask: Asking, browser: Browser, waiting: str, act: str
) -> None:
    page = await browser.submit(await browser.get("review?project=loom"), f"drafts/{waiting}/{act}")
    assert TEXT in page.text
    await ask("POST", "api/forget?project=loom", {"ids": [waiting]})
    assert TEXT not in (await browser.get("review?project=loom")).raw
    assert "nothing to take back" in (await browser.submit(page, "again", 409)).text


async def test_one_that_is_put_off_waits_unseen_for_a_day(
    ask: Asking, browser: Browser, waiting: str, proxy: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await browser.submit(await browser.get("review?project=loom"), f"drafts/{waiting}/defer")
    assert "1 draft put off" in page.text and waiting in await listed(ask, "draft")
    assert TEXT not in (await (await let_in(proxy)).get("review?project=loom")).raw
    memory = proxy.edge.memory
    assert memory is not None
    later = datetime.now().astimezone() + DEFERRED_FOR
    monkeypatch.setattr(memory.fact_reviser, "_now", lambda: later)
    assert TEXT in (await browser.get("review?project=loom")).text


@pytest.mark.parametrize("since", ["forgotten", "confirmed"])
async def test_only_drafts_of_the_scope_that_still_wait_count_as_put_off(
    ask: Asking, browser: Browser, waiting: str, since: str
) -> None:
    page = await browser.submit(await browser.get("review?project=loom"), f"drafts/{waiting}/defer")
    assert "1 draft put off" in page.text
    assert "draft put off" not in (await browser.get("review?project=barn")).text
    if since == "forgotten":
        await ask("POST", "api/forget?project=loom", {"ids": [waiting]})
    else:
        await ask("POST", f"api/facts/{waiting}/confirm", {})
    assert "draft put off" not in (await browser.get("review?project=loom")).text


async def test_what_was_learnt_today_is_undone_and_back(ask: Asking, browser: Browser) -> None:
    old = await ask("POST", "api/remember?project=loom", {"text": "The release manager is Priya."}, status=201)
    new = await ask("POST", f"api/facts/{old['id']}/update", {"text": "The release manager is Tomas."})
    page = await browser.submit(await browser.get(""), f"memory/{new['id']}/unlearn")
    assert "Undone: The release manager is Tomas." in page.text and page.form(f"memory/{old['id']}/unlearn")
    assert await listed(ask, "active") == [old["id"]]
    page = await browser.submit(page, "again")
    assert "As it was: The release manager is Tomas." in page.text
    assert await listed(ask, "active") == [new["id"]]


async def test_what_is_wrong_ends_and_holds_again(ask: Asking, browser: Browser) -> None:
    held = await ask("POST", "api/remember?project=loom", {"text": "The roof of the shed is flat"}, status=201)
    today = await browser.get("")
    wrong = f"memory/{held['id']}/wrong"
    assert f"/palimpsest/{wrong}" in today.links and f"/palimpsest/memory/{held['id']}#edit" in today.links
    page = await browser.submit(await browser.get(wrong), "refute")
    assert "Wrong: it holds no more." in page.text and await listed(ask, "active") == []
    assert held["text"] not in (await browser.get("")).text.partition("Learnt today")[2]
    page = await browser.submit(page, "again")
    assert f"As it was: {held['text']}" in page.text and await listed(ask, "active") == [held["id"]]


async def test_what_did_not_wait_does_not_wait_again_when_it_is_taken_back_on_review(
    ask: Asking, browser: Browser, proxy: Running
) -> None:
    held = await ask("POST", "api/remember?project=loom", {"text": "The roof of the shed is flat"}, status=201)
    await browser.submit(await browser.get(f"memory/{held['id']}/wrong"), "refute")
    other = await let_in(proxy)
    page = await other.submit(await other.get("review"), "again")
    assert f"As it was: {held['text']}" in page.text and "Waits again" not in page.text


async def test_a_settled_contradiction_is_open_again(ask: Asking, browser: Browser, proxy: Running) -> None:
    one, other = await contradict(ask, proxy)
    page = await browser.submit(await browser.get("review"), f"memory/{one}/confirm")
    assert "Contradictions" not in page.text and 'data-key="u"' in page.raw
    assert await listed(ask, "active") == [one]
    page = await browser.submit(page, "again")
    assert "Contradictions" in page.text and page.form(f"memory/{other}/confirm")
    assert sorted(await listed(ask, "active")) == sorted([one, other])


async def test_only_a_draft_is_dismissed(ask: Asking) -> None:
    held = await ask("POST", "api/remember?project=loom", {"text": "The roof of the shed is flat"}, status=201)
    told = await ask("POST", f"api/facts/{held['id']}/dismiss", {}, status=409)
    assert "no draft" in told["error"]


SAID = "The shop listens on 4400"


@pytest.fixture
def doubting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is learned is read with doubt."""

    def learned(journaled: Any, **more: Any) -> Learned:
        sure = learn(journaled, **more)
        facts = (replace(each, draft=replace(each.draft, unsure=True)) for each in sure.facts)
        return replace(sure, facts=tuple(facts))

    monkeypatch.setattr("memory.services.lessons.rules.learned", learned)


async def drafts(proxy: Running, ask: Asking) -> dict[str, str]:
    await proxy.learned()
    return {each["text"]: each["id"] for each in (await ask("GET", "api/facts?state=draft"))["facts"]}


async def made_anew(ask: Asking) -> None:
    """The index is made anew; what was put away is not in it."""
    await ask("POST", "api/reindex", {}, status=202)
    while not ((await ask("GET", "api/reindex"))["progress"] or {}).get("finished"):
        pass


@pytest.mark.usefixtures("doubting")
async def test_what_was_dismissed_does_not_come_back_in_the_same_words(proxy: Running, ask: Asking) -> None:
    await proxy.chat(SAID, session="s1")
    [(text, id)] = (await drafts(proxy, ask)).items()
    assert text == SAID
    await ask("POST", f"api/facts/{id}/dismiss", {})
    await made_anew(ask)
    await proxy.chat(f"{SAID}!", session="s2")
    assert await drafts(proxy, ask) == {}
    await ask("POST", "api/remember", {"text": text}, status=201)
    assert [each["text"] for each in (await ask("GET", "api/facts"))["facts"]] == [text], "said for sure, it is kept"


@pytest.mark.usefixtures("doubting")
async def test_what_was_dismissed_by_mistake_is_learned_again(proxy: Running, ask: Asking, browser: Browser) -> None:
    await proxy.chat(SAID, session="s1")
    [id] = (await drafts(proxy, ask)).values()
    page = await browser.submit(await browser.get("review"), f"drafts/{id}/dismiss")
    await browser.submit(page, "again")
    await ask("POST", f"api/facts/{id}/update", {"text": "The gate opens at nine"})
    await made_anew(ask)
    await proxy.chat(f"{SAID}!", session="s2")
    assert [*await drafts(proxy, ask)] == [f"{SAID}!"]


@pytest.mark.usefixtures("doubting")
@pytest.mark.parametrize("by_night", [False, True])
async def test_of_what_an_older_release_put_away_only_what_a_night_did_comes_back(
    proxy: Running, ask: Asking, tmp_path: Path, by_night: bool
) -> None:
    await proxy.chat(SAID, session="s1")
    [id] = (await drafts(proxy, ask)).values()
    await ask("POST", f"api/facts/{id}/dismiss", {})
    with closing(sqlite3.connect(tmp_path / "home" / "journal.db")) as journal, journal:
        assert journal.execute("DELETE FROM tombstones").rowcount == 1
        if by_night:
            journal.execute("INSERT INTO nights (owner, at, looked, passed_over, thrown) VALUES ('', '', 0, 0, '[]')")
            journal.execute(
                "INSERT INTO night_changes (night, place, action, why, memory, made, fields)"
                " VALUES (1, 0, 'archive', '', ?, 0, '{}')",
                [id],
            )
    await made_anew(ask)
    await proxy.chat(f"{SAID}!", session="s2")
    assert len(await drafts(proxy, ask)) == int(by_night)
