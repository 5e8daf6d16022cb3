"""Memory on the page: found, filtered, looked at whole, set right, confirmed, pinned, forgotten."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from memory.fact import Sensitivity
from tests.fake_provider import FakeProvider
from tests.proxy.api.asking import Asking
from tests.proxy.web.browsing import Browser
from tests.running import Running


async def remembered(ask: Asking, text: str, project: str = "loom") -> str:
    told = await ask("POST", f"api/remember?project={project}", {"text": text}, status=201)
    return str(told["id"])


async def test_an_empty_home_says_what_to_do(browser: Browser) -> None:
    for path in ("", "memory", "review", "page", "sessions", "research", "nights", "money", "status", "settings"):
        page = await browser.get(path)
        assert "Undefined" not in page.text
    assert "palimpsest connect" in (await browser.get("memory")).text
    assert "no request" in (await browser.get("why", 404)).text


async def test_memories_are_filtered(ask: Asking, browser: Browser) -> None:
    tabs = await remembered(ask, "I prefer tabs over spaces")
    await remembered(ask, "We decided on PostgreSQL 16", "boat")
    await ask("POST", f"api/facts/{tabs}/update", {"text": "I prefer four spaces"})
    page = await browser.get("memory")
    assert "four spaces" in page.text and "PostgreSQL" in page.text and "tabs" not in page.text
    assert "tabs over" in (await browser.get("memory?state=superseded")).text
    assert "tabs over" in (await browser.get("memory?state=all")).text
    page = await browser.get("memory?project=boat")
    assert "PostgreSQL" in page.text and "four spaces" not in page.text
    page = await browser.get("memory?kind=decision")
    assert "PostgreSQL" in page.text and "four spaces" not in page.text
    assert "Nothing is remembered that fits" in (await browser.get("memory?origin=web")).text
    assert "PostgreSQL" in (await browser.get("memory?origin=person")).text
    for wrong in ("kind=nothing", "state=nothing", "origin=nothing", "from=x", "q=%1b"):
        await browser.get(f"memory?{wrong}", 422)


async def test_a_search_tells_the_parts_of_the_score(ask: Asking, browser: Browser) -> None:
    await remembered(ask, "The staging cluster is called heron")
    await remembered(ask, "Rosa bakes bread on Sundays")
    page = await browser.get("memory?q=staging+cluster")
    assert page.text.index("heron") < page.text.find("Rosa") or "Rosa" not in page.text
    assert "words in common" in page.text and "score" in page.text
    assert "heron" in (await browser.get("memory?q=heron&state=all")).text
    assert "heron" not in (await browser.get("memory?q=heron&state=archived")).text.partition("first")[2]
    assert "heron" in (await browser.get("memory?q=heron&kind=fact")).text


async def test_all_that_was_said_of_a_memory_stands_on_its_page(proxy: Running, ask: Asking, browser: Browser) -> None:
    rule = "The staging cluster is called heron, and only Rosa may restart it."
    for number in range(22):
        behind = "<img src=x onerror=alert(1)>" if number == 21 else f"That is number {number}."
        await proxy.chat(f"{rule}\n\n{behind}", session=f"s{number}")
        await proxy.learned()
    [held] = [each for each in (await ask("GET", "api/facts"))["facts"] if each["text"] == rule]
    page = await browser.get(f"memory/{held['id']}")
    assert "In 22 sessions" in page.text and page.raw.count("<blockquote") == 20
    assert page.text.index("That is number 0.") < page.text.index("That is number 19.")
    rest = await browser.get(f"memory/{held['id']}?from=20")
    assert rest.raw.count("<blockquote") == 2 and "That is number 20." in rest.text
    assert "<img src=x" not in rest.raw and "<img src=x onerror=alert(1)>" in rest.text
    assert f"/palimpsest/memory/{held['id']}?from=20#said" in page.links
    await browser.get(f"memory/{held['id']}?from=x", 422)


async def test_all_are_reached_page_by_page(ask: Asking, browser: Browser) -> None:
    for number in range(52):
        await remembered(ask, f"The lamp {number} of the pier is green")
    first = await browser.get("memory?project=loom")
    older = next(link for link in first.links if "from=50" in link)
    second = await browser.get(older.removeprefix("/palimpsest/"))
    assert "The lamp 51 of" in first.text and "The lamp 0 of" not in first.text
    assert "The lamp 0 of" in second.text and not [link for link in second.links if "from=100" in link]


async def test_a_memory_is_written_on_the_page(browser: Browser, ask: Asking) -> None:
    page = await browser.submit(await browser.get("memory?project=loom"), "memory", text="The mirror lives in Oslo.")
    assert "Remembered" in page.text and "The mirror lives in Oslo." in page.text
    assert "Remembered." not in (await browser.get(page.url.removeprefix("/palimpsest/"))).text, "it is told once"
    [held] = (await ask("GET", "api/facts?project=loom"))["facts"]
    assert (held["layer"], held["origin"]) == ("user-project", "person")


async def test_a_memory_whole(proxy: Running, ask: Asking, browser: Browser) -> None:
    await proxy.chat("We decided to use PostgreSQL 16 for the ledger. Rosa agrees.", session="one")
    await proxy.learned()
    await proxy.chat("Which database did we decide on for the ledger?", session="two")
    [held] = [each for each in (await ask("GET", "api/facts?project=loom"))["facts"] if "PostgreSQL" in each["text"]]
    page = await browser.get(f"memory/{held['id']}")
    assert "Rosa agrees." in page.text, "what was said"
    assert "<svg" in page.raw and 'role="img"' in page.raw and "Strength" in page.text
    assert "stood on the page that 1 session began with" in page.text
    passage = next(link for link in (await browser.get("memory?q=PostgreSQL")).links if held["id"] not in link)
    assert "No request has had it yet" not in page.text or passage
    request = next(link for link in (await browser.get("")).links if "/requests/" in link)
    assert "Added" in (await browser.get(request.removeprefix("/palimpsest/"))).text


async def test_what_is_set_right_stands_in_the_next_request(
    proxy: Running, provider: FakeProvider, ask: Asking, browser: Browser
) -> None:
    id = await remembered(ask, "The release train leaves on Tuesday.")
    wrong = await browser.get(f"memory/{id}/wrong")
    page = await browser.submit(wrong, "edit", text="The release train leaves on Thursday.")
    assert "Set right" in page.text and "Thursday" in page.text and "two clocks" in page.text
    await proxy.learned()
    await proxy.chat("When does the release train leave?")
    said = str(orjson.loads(provider.last.body)["messages"])
    assert "leaves on Thursday" in said and "leaves on Tuesday" not in said
    gone = await browser.get(f"memory/{id}")
    assert "superseded" in gone.text and "What holds now" not in gone.text
    late = await browser.submit(wrong, "edit", 409, text="The release train leaves on Friday.")
    assert "set that one right" in late.text and "leaves on Thursday" in late.text
    assert "leaves on Friday" in late.form("edit").fields["text"], "what was typed on a page of before is not lost"
    assert "Set right" in (await browser.submit(late, "edit", text="The release train leaves on Friday.")).text
    last = await browser.submit(wrong, "edit", 409, text="The release train leaves on Sunday.")
    assert "leaves on Friday" in last.text, "the last one that holds, and not one between"
    assert "leaves on Sunday" in last.form("edit").fields["text"]


async def test_confirmed_and_pinned(ask: Asking, browser: Browser, proxy: Running) -> None:
    await proxy.chat("I always want the tests to stand beside the code.")
    await proxy.learned()
    [held] = (await ask("GET", "api/facts"))["facts"]
    page = await browser.submit(await browser.get(f"memory/{held['id']}"), "confirm")
    assert "Confirmed" in page.text
    page = await browser.submit(page, "pin")
    assert "Pinned" in page.text and (await ask("GET", f"api/facts/{held['id']}"))["pinned"]
    page = await browser.submit(page, "pin")
    assert not (await ask("GET", f"api/facts/{held['id']}"))["pinned"]
    assert (await ask("GET", f"api/facts/{held['id']}"))["origin"] == "person"


async def test_a_memory_rises(ask: Asking, browser: Browser) -> None:
    id = await remembered(ask, "I prefer short answers")
    page = await browser.get(f"memory/{id}")
    assert "For you, in loom." in page.text and "For the organisation" not in page.text
    user, project = (form for form in page.forms if form.action.endswith("/promote"))
    assert (user.fields["to"], project.fields["to"]) == ("user", "project")
    would = await browser.post(project.action, project.fields)
    assert "Approve this?" in would.text and "+- I prefer short answers" in would.text
    risen = await browser.post(user.action, user.fields)
    assert "It holds in all your projects now" in risen.text and "For you, in all your projects." in risen.text
    told = await browser.post(user.action, {**user.fields, "to": "everybody"}, 422)
    assert "is one of" in told.text


async def test_what_goes_is_shown_and_then_goes(proxy: Running, ask: Asking, browser: Browser) -> None:
    await proxy.chat("We decided to use PostgreSQL 16 for the ledger.")
    await proxy.learned()
    [held] = (await ask("GET", "api/facts"))["facts"]
    would = await browser.get(f"memory/{held['id']}/forget")
    assert "1 message that it came from" in would.text and "These go along" in would.text
    assert (await ask("GET", "api/facts"))["facts"] != [], "to look takes nothing"
    page = await browser.submit(would, "forget")
    assert "Forgotten, everywhere" in page.text
    assert (await ask("GET", "api/facts"))["facts"] == []
    assert "PostgreSQL" not in (await browser.get("memory?q=PostgreSQL")).text.partition("first")[2]
    await browser.get(f"memory/{held['id']}", 404)


async def test_it_is_told_what_is_not_learned_yet_when_something_is_forgotten(
    proxy: Running, ask: Asking, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert proxy.edge.memory is not None
    id = await remembered(ask, "The lighthouse keeper is called Ines")

    async def behind(seconds: float) -> int:
        return 7

    monkeypatch.setattr(proxy.edge.memory.learner, "catch_up_for", behind)
    would = await browser.get(f"memory/{id}/forget")
    assert "7 exchanges are still to be learned from" in would.text
    assert "7 exchanges still to be learned from" in (await browser.submit(would, "forget")).text


async def test_what_is_restricted_is_shown_by_its_id_only(proxy: Running, ask: Asking, browser: Browser) -> None:
    id = await remembered(ask, "The salary of Rosa is a round number")
    memory = proxy.edge.memory
    assert memory is not None
    [fact] = await memory.journal.facts([id])
    await memory.journal.update(replace(fact, sensitivity=Sensitivity.RESTRICTED))
    for path in ("", "memory", "memory?state=all"):
        page = await browser.get(path)
        assert "salary" not in page.text and "restricted: ask for it by its id" in page.text
    assert "salary" in (await browser.get(f"memory/{id}")).text


async def test_nobody_elses_memory_is_there(ask: Asking, browser: Browser) -> None:
    told = await ask("POST", "api/remember?user=bob", {"text": "Bob prefers quiet mornings"}, status=201)
    assert "Bob" not in (await browser.get("memory?q=Bob+mornings&state=all")).text.partition("first")[2]
    for path in ("", "/wrong", "/forget"):
        await browser.get(f"memory/{told['id']}{path}", 404)
    fields = (await browser.get("memory")).form("memory").fields
    for action in ("edit", "confirm", "pin", "forget"):
        given = {**fields, "text": "x", "pinned": "yes"}
        await browser.post(f"/palimpsest/memory/{told['id']}/{action}", given, 404)
