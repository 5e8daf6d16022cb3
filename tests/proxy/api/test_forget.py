"""What would go with a memory is told before it is forgotten."""

from __future__ import annotations

from tests.proxy.api.asking import Asking
from tests.proxy.web.browsing import let_in
from tests.running import Running

SAID = "We decided to use PostgreSQL 16 for the ledger, because the reports need window functions."


async def test_a_preview_by_id_takes_nothing(proxy: Running, ask: Asking) -> None:
    await proxy.chat(SAID, session="s1")
    await proxy.learned()
    [fact] = (await ask("GET", "api/facts"))["facts"]
    would = await ask("GET", f"api/facts/{fact['id'][:8]}/forget")
    ids = [each["id"] for each in would["would_forget"]]
    assert ids[0] == fact["id"] and len(ids) > 1 and would["messages"] > 0
    assert (would["would_stay"], would["behind"]) == ([], 0)
    page = await (await let_in(proxy)).get(f"memory/{fact['id']}/forget")
    assert all(id in page.raw for id in ids[1:])
    assert (await ask("GET", "api/facts"))["facts"] == [fact]
    gone = (await ask("DELETE", f"api/facts/{fact['id']}"))["forgotten"]
    assert sorted(gone["facts"] + gone["passages"]) == sorted(ids)
    await ask("GET", f"api/facts/{fact['id']}/forget", status=404)
