"""Names and what stands beside them: on the page, by the API, and each person's own."""

from __future__ import annotations

from tests.proxy.api.asking import Asking
from tests.proxy.web.browsing import Browser
from tests.running import Running

TOLD = (
    "Petra owns the Heron cluster in Basel.",
    "Petra and Viktor deploy the Heron cluster.",
    "Viktor likes <script>alert(1)</script> in Graz.",
)


async def told(proxy: Running, ask: Asking, project: str = "loom") -> None:
    for text in TOLD:
        await ask("POST", f"api/remember?project={project}", {"text": text}, status=201)
    assert proxy.edge.memory is not None
    await proxy.edge.memory.entity_graph.catch_up()


async def test_the_names_around_one_are_drawn_and_listed(proxy: Running, ask: Asking, browser: Browser) -> None:
    assert "No names stand" in (await browser.get("names")).text
    await told(proxy, ask)
    page = await browser.get("names")
    assert "In most memories" in page.text and "petra" in page.text
    page = await browser.get("names?name=Petra")
    assert "2 memories looked at" in page.text and 'aria-label="petra stands beside' in page.raw
    assert any("name=viktor" in each for each in page.links)
    assert "No name stands beside it" in (await browser.get("names?name=nobody")).text
    hostile = await browser.get("names?name=%3Cscript%3Ealert(1)%3C/script%3E")
    assert "<script>alert" not in hostile.raw


async def test_the_api_gives_the_same_and_of_each_project_its_own(proxy: Running, ask: Asking) -> None:
    await told(proxy, ask)
    around = await ask("GET", "api/names?project=loom&name=petra")
    assert around["memories"] == 2 and around["names"]["viktor"] == 1
    assert ["heron", "viktor", 1] in around["together"] or any("viktor" in each[:2] for each in around["together"])
    assert len((await ask("GET", "api/names?project=loom&name=petra&limit=2"))["names"]) == 1
    assert (await ask("GET", "api/names?project=loom"))["names"]["petra"] == 2
    assert (await ask("GET", "api/names?project=quay"))["names"] == {}
    assert (await ask("GET", "api/names?project=quay&name=petra"))["memories"] == 0
