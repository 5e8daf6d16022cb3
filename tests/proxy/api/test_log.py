"""The log of requests, of one session too, and where a memory was used."""

from __future__ import annotations

from tests.proxy.api.asking import Asking
from tests.proxy.api.test_why import ASKED as WHY
from tests.proxy.api.test_why import RULE, TOLD
from tests.proxy.web.browsing import let_in
from tests.running import Running

SAID = "We decided to use PostgreSQL 16 for the ledger, because the reports need window functions."
ASKED = "Which database do we use for the ledger?"


async def test_the_requests_of_one_session(proxy: Running, ask: Asking) -> None:
    for session, text in (("s1", SAID), ("s1", ASKED), ("s2", ASKED)):
        await proxy.chat(text, session=session)
    every = (await ask("GET", "api/log"))["receipts"]
    [second, *first] = dict.fromkeys(each["session"] for each in every)
    assert first and len(every) == 3
    its = (await ask("GET", f"api/log?session={first[0]}"))["receipts"]
    assert its == [each for each in every if each["session"] == first[0]] and len(its) == 2
    assert len((await ask("GET", f"api/log?session={first[0]}&limit=1"))["receipts"]) == 1
    assert len((await ask("GET", f"api/log?session={second}"))["receipts"]) == 1
    await ask("GET", f"api/log?session={first[0]}&user=bob", status=404)
    await ask("GET", "api/log?session=nothing", status=404)


async def test_where_a_memory_was_used(proxy: Running, ask: Asking) -> None:
    await proxy.chat(TOLD, "Understood.", RULE, session="first")
    await proxy.learned()
    await proxy.chat(WHY, session="second")
    await proxy.learned()
    [receipt, _] = (await ask("GET", "api/log"))["receipts"]
    [shown] = (await ask("GET", f"api/log/{receipt['id']}"))["shown"]
    told = await ask("GET", f"api/facts/{shown['memory'][:8]}/uses")
    [use] = told["requests"]
    assert (told["id"], use["id"], told["pages"]) == (shown["memory"], receipt["id"], 0)
    assert (use["score"], use["why"]) == (shown["score"], shown["why"])
    await ask("GET", f"api/facts/{shown['memory']}/uses?user=bob", status=404)
    [rule] = [each for each in (await ask("GET", "api/facts"))["facts"] if each["text"] == RULE]
    assert await ask("GET", f"api/facts/{rule['id']}/uses") == {"id": rule["id"], "requests": [], "pages": 1}
    browser = await let_in(proxy)
    assert f"score {use['score']:.2f}" in (await browser.get(f"memory/{shown['memory']}")).text
    assert "the page that 1 session began with" in (await browser.get(f"memory/{rule['id']}")).text
