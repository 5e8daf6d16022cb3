"""What the page tells only in part is recalled for a question about the rest of it, and for no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from memory.context.pack import OPENING
from tests.fake_provider import FakeProvider, fake_provider
from tests.running import Running, running

SAID = "Never force-push to the release branch, Ottilie lost a day of translations to that in March."
CORE = "- Never force-push to the release branch\n"
TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}]


async def newest(proxy: Running, provider: FakeProvider, *texts: str, **more: Any) -> tuple[str, str]:
    """The first and the newest message of a request as the model is given them."""
    await proxy.chat(*texts, **more)
    messages = orjson.loads(provider.last.body)["messages"]
    return str(messages[0]["content"]), str(messages[-1]["content"])


@pytest.mark.parametrize("more", [{}, {"tools": TOOLS}], ids=["talk", "an agent at work"])
async def test_a_fact_that_the_page_tells_in_part_comes_to_who_asks_for_the_rest(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    async with fake_provider() as provider, running(provider, tmp_path) as proxy:
        await proxy.chat(SAID, session="said")
        await proxy.learned()
        first, reply = "Which branch must never be force-pushed?", "The release branch."
        begun, _ = await newest(proxy, provider, first, session="now", **more)
        assert CORE in begun and OPENING not in begun, "the page has the answer"
        asked = "Who lost translations in March?"
        page, shown = await newest(proxy, provider, first, reply, asked, session="now", **more)
        assert page == begun and shown.endswith(f"\nuser: {SAID}\n</recalled-memory>")
        again = "And how many translations did Ottilie lose?"
        page, last = await newest(proxy, provider, first, reply, asked, "Ottilie.", again, session="now", **more)
        assert page == begun and last == again, "it is given once"
